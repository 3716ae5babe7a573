"""scikit-learn's callbacks hear of a fit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from covmin import CCMSelector

pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")


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


def test_of_a_selector(table):
    log = Log()
    selector = CCMSelector(1).set_callbacks(log).fit(*table)
    task = ("CCMSelector", (40, 4))
    assert log.heard == ["setup", ("begin", *task), ("end", *task), "teardown"]
    pickle.loads(pickle.dumps(selector))
    assert clone(CCMSelector(1)).fit(*table).support_.sum() == 1


def test_of_a_pipeline_without_a_warning(table):
    log = Log()
    make_pipeline(StandardScaler(), CCMSelector(1)).set_callbacks(log).fit(*table)
    assert ("end", "CCMSelector", (40, 4)) in log.heard


def test_are_told_to_go_when_a_fit_fails(table):
    class Fails(Log):
        def on_fit_task_begin(self, estimator, context):
            raise KeyError("no")

    log = Fails()
    selector = CCMSelector(1).set_callbacks(log)
    with pytest.raises(KeyError):
        selector.fit(*table)
    assert log.heard == ["setup", "teardown"]
    assert not hasattr(selector, "support_")
