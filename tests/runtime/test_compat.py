"""scikit-learn's callbacks hear of a fit, pickles know their version, private parts may be gone."""

from __future__ import annotations

import importlib.util
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from covmin import CCMSelector, KnockoffSelector, StabilitySelector

needs_callbacks = pytest.mark.skipif(
    importlib.util.find_spec("sklearn.callback") is None, reason="needs scikit-learn 1.9"
)


class Log:
    """A callback that writes down what it hears."""

    max_propagation_depth = None

    def __init__(self):
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def on_fit_task_begin(self, estimator, context, *, X):
        self.heard.append(("begin", context.estimator_name, X.shape))

    def on_fit_task_end(self, estimator, context, *, X):
        self.heard.append(("end", context.estimator_name, X.shape))

    def teardown(self, estimator, context):
        self.heard.append("teardown")


@pytest.fixture
def table():
    X = np.random.default_rng(0).standard_normal((40, 4))
    return X, X[:, 0]


@needs_callbacks
def test_callbacks_of_a_selector(table):
    log = Log()
    selector = CCMSelector(1).set_callbacks(log).fit(*table)
    task = ("CCMSelector", (40, 4))
    assert log.heard == ["setup", ("begin", *task), ("end", *task), "teardown"]
    pickle.loads(pickle.dumps(selector))
    assert clone(CCMSelector(1)).fit(*table).support_.sum() == 1


@needs_callbacks
def test_callbacks_of_a_pipeline_without_a_warning(table):
    log = Log()
    make_pipeline(StandardScaler(), CCMSelector(1)).set_callbacks(log).fit(*table)
    assert ("end", "CCMSelector", (40, 4)) in log.heard


@needs_callbacks
def test_callbacks_are_told_to_go_when_a_fit_fails(table):
    class Fails(Log):
        def on_fit_task_begin(self, estimator, context):
            raise KeyError("no")

    log = Fails()
    selector = CCMSelector(1).set_callbacks(log)
    with pytest.raises(KeyError):
        selector.fit(*table)
    assert log.heard == ["setup", "teardown"]
    assert not hasattr(selector, "support_")


@pytest.mark.parametrize(
    "selector",
    [CCMSelector(2), KnockoffSelector(), StabilitySelector()],
    ids=lambda selector: type(selector).__name__,
)
def test_a_pickle_of_another_version_says_so(selector, monkeypatch):
    kept = pickle.dumps(selector)
    assert pickle.loads(kept).get_params().keys() == selector.get_params().keys()
    monkeypatch.setattr("covmin.selection.transform.__version__", "9.9")
    with pytest.warns(UserWarning, match=r"pickled by covmin .* loaded by 9\.9.*Refit it"):
        again = pickle.loads(kept)
    assert not hasattr(again, "_covmin_version")


def test_a_pickle_without_a_version_says_so():
    state = CCMSelector(2).__getstate__()
    del state["_covmin_version"]
    with pytest.warns(UserWarning, match="an unknown version"):
        CCMSelector().__setstate__(state)


def test_without_private_parts_nothing_is_validated(monkeypatch):
    monkeypatch.delattr("sklearn.base._fit_context")
    spec = importlib.util.find_spec("covmin.runtime.compat")
    compat = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compat)
    assert compat.fit_context(prefer_skip_nested_validation=True)(clone) is clone
    assert compat.validate_params({}, prefer_skip_nested_validation=True)(clone) is clone
    assert len(compat.N_JOBS) == 3
