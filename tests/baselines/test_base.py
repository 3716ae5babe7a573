"""What all baselines promise."""

import inspect

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from covmin import baselines
from covmin.baselines import BAHSICSelector, BaselineSelector, PearsonSelector, available_selectors
from covmin.runtime.docstrings import sections_of

from .samples import EQUIVARIANT, SELECTORS, clone_of, every_selector, every_task, make_data


def global_random_state():
    name, keys, *position = np.random.get_state()  # noqa: NPY002
    return name, keys.tolist(), position


@every_selector
@every_task
def test_full_ranking_and_exact_support(selector, task):
    X, y = make_data(task)
    for wanted, m in [(None, 6), (1, 1), (5, 5), (12, 12), (0.3, 3), (0.01, 1), (1.0, 12)]:
        fitted = clone_of(selector, n_features_to_select=wanted).fit(X, y)
        assert sorted(fitted.ranking_) == list(range(1, 13))
        assert fitted.support_.sum() == fitted.n_features_ == m
        assert (fitted.ranking_[fitted.support_] <= m).all()
        assert fitted.transform(X).shape == (40, m)


@every_selector
@every_task
def test_finds_the_signal(selector, task):
    X, y = make_data(task, n=150)
    fitted = clone_of(selector, n_features_to_select=2).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [3, 7]
    assert fitted.task_ == ("regression" if task == "regression" else "classification")


@pytest.mark.parametrize("selector", [s for s in SELECTORS if hasattr(s, "random_state")])
def test_no_seed_is_the_seed_zero(selector):
    X, y = make_data("regression")
    rankings = [clone_of(selector, random_state=seed).fit(X, y).ranking_ for seed in (None, 0)]
    np.testing.assert_array_equal(*rankings)


@pytest.mark.parametrize("selector", EQUIVARIANT, ids=lambda s: type(s).__name__)
@every_task
def test_permuting_columns_permutes_the_ranking(selector, task):
    X, y = make_data(task, n=150)
    permutation = np.random.default_rng(1).permutation(X.shape[1])
    ranking = clone_of(selector).fit(X, y).ranking_
    permuted = clone_of(selector).fit(X[:, permutation], y).ranking_
    np.testing.assert_array_equal(permuted, ranking[permutation])


@every_selector
@every_task
def test_rescaling_columns_changes_nothing(selector, task):
    X, y = make_data(task)
    scaled = X * 2.0 ** np.arange(-6, 6) + 3.0
    ranking = clone_of(selector).fit(X, y).ranking_
    top = np.argsort(ranking)[:2]
    np.testing.assert_array_equal(clone_of(selector).fit(scaled, y).ranking_[top], ranking[top])


@every_selector
@every_task
def test_constant_columns_come_last(selector, task):
    X, y = make_data(task)
    X[:, [0, 5]] = [0.1, -7.0]
    ranking = clone_of(selector, n_features_to_select=2).fit(X, y).ranking_
    assert ranking[0] == 11
    assert ranking[5] == 12
    with pytest.raises(ValueError, match="nothing to rank"):
        clone_of(selector).fit(np.full((40, 3), 0.1), y)


@every_selector
@pytest.mark.parametrize(
    "y", [[0.5, 1.0], [0.5, 3.0, 1.0], [1.5, 3.0, 1.0, 2.0], [0, 1, 1], [1, 0, 1, 1], [0, 1, 2, 2]]
)
def test_few_samples_and_one_feature(selector, y):
    X = make_data("binary", n=len(y), d=8)[0]
    assert sorted(clone_of(selector).fit(X, y).ranking_) == list(range(1, 9))
    assert clone_of(selector).fit(X[:, :1], y).ranking_.tolist() == [1]


@every_selector
def test_ties_are_broken_by_position(selector):
    X, y = make_data("binary")
    X = np.repeat(X[:, 3:4], 3, axis=1)
    assert sorted(clone_of(selector).fit(X, y).ranking_) == [1, 2, 3]
    if selector in EQUIVARIANT:
        assert clone_of(selector).fit(X, y).ranking_.tolist() == [1, 2, 3]


@every_selector
@every_task
def test_leaves_global_random_state_data_and_stdout_alone(selector, task, capsys):
    X, y = make_data(task)
    before_X, before = X.copy(), global_random_state()
    clone_of(selector).fit(X, y)
    assert global_random_state() == before
    np.testing.assert_array_equal(X, before_X)
    assert capsys.readouterr().out == ""


@parametrize_with_checks(SELECTORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_works_in_pipeline_and_search():
    X, y = make_data("binary", n=80)
    pipeline = make_pipeline(BAHSICSelector(), SVC())
    search = GridSearchCV(pipeline, {"bahsicselector__n_features_to_select": [2, 12]}, cv=3)
    assert search.fit(X, y).best_params_ == {"bahsicselector__n_features_to_select": 2}


def test_whole_numbers_are_classes_unless_many_or_told_otherwise():
    X, y = make_data("regression")
    y = np.round(3 * y)
    assert PearsonSelector().fit(X, y).task_ == "classification"
    assert PearsonSelector(task="regression").fit(X, y).task_ == "regression"
    with pytest.warns(UserWarning, match="distinct integers"):
        assert PearsonSelector().fit(X, np.arange(40)).task_ == "regression"


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({"n_features_to_select": 13}, [0, 1] * 20, "X has 12 feature"),
        ({}, [1] * 40, "only one class"),
        ({"task": "classification"}, list(range(40)), "its own class"),
        ({"task": "regression"}, [1.5] * 40, "y is constant"),
        ({"task": "regression"}, ["a", "b"] * 20, "requires numbers"),
        ({"task": "classification"}, [0.5, 1.5] * 20, "continuous numbers"),
    ],
)
def test_errors_teach(parameters, y, message):
    X, _ = make_data("binary")
    with pytest.raises(ValueError, match=message):
        PearsonSelector(**parameters).fit(X, y)


@every_selector
def test_docstrings_name_every_parameter_and_fitted_attribute(selector):
    sections = sections_of(inspect.getdoc(type(selector)))
    fitted = clone_of(selector).fit(*make_data("regression"))
    # Indented lines are what is said of an entry.
    entries = {
        title: [line.split(" : ")[0] for line in sections[title].splitlines() if line[0] != " "]
        for title in ("Parameters", "Attributes")
    }
    assert entries["Parameters"] == list(inspect.signature(type(selector)).parameters)
    attributes = {name for name in vars(fitted) if name.endswith("_")}
    assert attributes <= set(entries["Attributes"])


def test_registry_and_public_names_agree():
    selectors = available_selectors()
    names = {cls.__name__ for cls in selectors.values()}
    assert {"BaselineSelector", "available_selectors", *names} == set(baselines.__all__)
    with pytest.raises(TypeError):
        selectors["mi"] = PearsonSelector


def test_a_complete_docstring_is_left_alone():
    class Own(BaselineSelector):
        """Mine.

        Parameters
        ----------
        n_features_to_select : int
        """

    assert "task" not in Own.__doc__
