"""Selectors on a table: what they see, what is reported, what is refused."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.svm import SVC

from covmin.datasets import make_survival
from covmin.evaluation import compare_selectors

from .spies import SEEN, Broken, Spy


def test_nested_never_ranks_with_test_rows(table):
    X, y = table
    folds = list(StratifiedKFold(4).split(X, y))
    compare_selectors(X, y, {"spy": Spy()}, n_features=[2], cv=folds, random_state=0)
    assert [train.tolist() for train, _ in folds] == SEEN


def test_paper_ranks_once_on_all_rows(table):
    X, y = table
    result = compare_selectors(
        X, y, {"spy": Spy()}, protocol="paper", n_features=[2], n_repeats=2, random_state=0
    )
    assert [list(range(40))] == SEEN
    assert len(result.frame) == 2 * 5


def test_groups_stay_on_one_side(table):
    X, y = table
    groups = np.arange(40) // 4
    compare_selectors(X, y, {"spy": Spy()}, n_features=[2], groups=groups, random_state=0)
    for rows in SEEN:
        assert not set(groups[rows]) & set(np.delete(groups, rows))


def test_splitter_with_groups(table):
    X, y = table
    groups = np.arange(40) // 8
    result = compare_selectors(
        X, y, ["pearson"], cv=GroupKFold(5), groups=groups, n_features=[1], random_state=0
    )
    assert len(result.frame) == 5


def test_unknown_protocol(table):
    with pytest.raises(ValueError, match="'nested'"):
        compare_selectors(*table, protocol="honest")


def test_frame(table):
    X, y = table
    result = compare_selectors(
        X, y, ["anova", "pearson"], n_features=[1, 3], cv=3, n_repeats=2, random_state=0
    )
    assert list(result.frame.columns) == [
        "selector",
        "protocol",
        "repeat",
        "fold",
        "n_features",
        "score",
        "fit_seconds",
    ]
    assert len(result.frame) == 2 * 2 * 3 * 2
    assert not result.frame.duplicated(["selector", "repeat", "fold", "n_features"]).any()
    assert result.frame["score"].between(0, 1).all()


def test_reproducible_and_parallel_alike(table):
    X, y = table
    specs = ["mi", "lasso"]
    first, second = (
        compare_selectors(X, y, specs, n_features=[2], random_state=3, n_jobs=n).frame
        for n in (1, 2)
    )
    pd.testing.assert_frame_equal(
        first.drop(columns="fit_seconds"), second.drop(columns="fit_seconds")
    )


def test_global_generator_untouched(table):
    X, y = table
    before = np.random.get_state()  # noqa: NPY002
    compare_selectors(X, y, ["ccm", "mi", "extra-trees"], n_features=[2], cv=2, random_state=0)
    after = np.random.get_state()  # noqa: NPY002
    assert (before[1] == after[1]).all()
    assert before[2] == after[2]


def test_regression():
    X = np.random.default_rng(0).normal(size=(80, 6))
    y = 100 + np.sin(X[:, 2]) + X[:, 4] ** 2
    result = compare_selectors(X, y, ["ccm"], n_features=[1, 2], random_state=0)
    assert result.score_name == "R²"
    means = result.summary().set_index("n_features")["mean_score"]
    assert means[2] > means[1] + 0.05


def test_estimators_of_scikit_learn(table):
    X, y = table
    given = {"kbest": SelectKBest(k=2), "rfe": RFE(SVC(kernel="linear"))}
    result = compare_selectors(X, y, given, n_features=[1], random_state=0)
    assert set(result.frame["selector"]) == {"kbest", "rfe"}


def test_failures_are_counted_and_said(table):
    X, y = table
    folds = [(np.arange(10), np.arange(10, 20)), (np.arange(30), np.arange(30, 40))]
    with pytest.warns(FitFailedWarning, match=r"1 of 2 rankings.*RuntimeError: too few"):
        result = compare_selectors(X, y, {"b": Broken()}, cv=folds, n_features=[1, 2])
    assert result.frame["score"].isna().tolist() == [True, True, False, False]
    assert result.summary()["n_failed"].tolist() == [1, 1]


@pytest.mark.parametrize("n_features", [[0], [6], []])
def test_impossible_sizes(table, n_features):
    with pytest.raises(ValueError, match="from 1 to 5"):
        compare_selectors(*table, ["pearson"], n_features=n_features)


def test_what_cannot_be_compared_is_told_in_words(table):
    X, y = table
    frame = pd.DataFrame(X).rename(columns=str).assign(word="a")
    with pytest.raises(ValueError, match="'word'"):
        compare_selectors(frame, y, ["pearson"], column_types="strict", random_state=0)
    with pytest.raises(ValueError, match="one response at a time"):
        compare_selectors(X, np.column_stack([y, y]), ["pearson"], random_state=0)


class Slow(BaseEstimator):
    """Takes most of a second."""

    def fit(self, X, y):
        time.sleep(0.7)
        self.scores_ = np.ptp(X, axis=0)
        return self


@pytest.mark.parametrize(
    "scoring", ["balanced_accuracy", "neg_log_loss", "roc_auc", "f1", make_scorer(accuracy_score)]
)
def test_scores_of_classes_by_choice(table, scoring):
    X, y = table
    result = compare_selectors(X, y == y[0], ["pearson"], n_features=[2], cv=2, scoring=scoring)
    assert np.isfinite(result.frame["score"]).all()
    assert result.score_name == (scoring if isinstance(scoring, str) else str(scoring))


def test_scores_of_numbers_are_in_their_units():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = 1000.0 * X[:, 0]
    name = "neg_mean_absolute_error"
    scores = compare_selectors(X, y, ["pearson"], n_features=[1], scoring=name).frame["score"]
    assert (scores < -5.0).all()
    assert (scores > -500.0).all()
    # The default is the scorer of that name.
    default = compare_selectors(X, y, ["pearson"], n_features=[1]).frame["score"]
    same = compare_selectors(X, y, ["pearson"], n_features=[1], scoring="r2").frame["score"]
    np.testing.assert_allclose(same, default, atol=1e-6)


def test_what_is_no_score_or_no_time_is_refused(table):
    with pytest.raises(ValueError, match="speed"):
        compare_selectors(*table, scoring="speed")
    with pytest.raises(ValueError, match="seconds must be"):
        compare_selectors(*table, seconds=0)


@pytest.mark.slow
def test_a_time_limit_leaves_what_is_done_and_names_the_rest(table):
    X, y = table
    selectors = {"kbest": SelectKBest(k=2), "slow": Slow()}
    with pytest.warns(UserWarning, match=r"Stopped after 1 s.*slow \([12] of 5\)"):
        result = compare_selectors(X, y, selectors, n_features=[1], seconds=1)
    done, total = result.unfinished["slow"]
    assert done in (1, 2)  # folds in turn, and what has begun is finished
    assert total == 5
    table = result.summary().set_index("selector")
    assert np.isfinite(table.mean_score).all()
    assert table.n_folds["slow"] == done


def test_nothing_in_time_is_an_error(table):
    with pytest.raises(ValueError, match=r"within seconds=1e-09"):
        compare_selectors(*table, {"slow": Slow()}, n_features=[1], seconds=1e-9)


def test_enough_time_changes_nothing(table):
    options = {"n_features": [1, 2], "cv": 2}
    usual = compare_selectors(*table, ["pearson", "anova"], **options)
    limited = compare_selectors(*table, ["pearson", "anova"], seconds=600, **options)
    assert limited.unfinished == {}
    columns = ["selector", "fold", "n_features", "score"]
    pd.testing.assert_frame_equal(usual.frame[columns], limited.frame[columns])


def test_times_to_an_event_are_refused():
    X, y = make_survival(40, random_state=0, return_X_y=True)
    with pytest.raises(ValueError, match="only be compared on classes and numbers"):
        compare_selectors(X, y)
