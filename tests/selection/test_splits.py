"""Folds by groups of rows, by a splitter, and by lists of rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from covmin import CCMSelector
from covmin.data import TableOptions, read
from covmin.selection.splits import splits


def patients(n_patients=60, n_rows=8):
    """Labels at random, one for each patient, whose rows are nearly equal."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(n_patients), n_rows)
    X = rng.standard_normal((n_patients, 6))[who] + 0.05 * rng.standard_normal((who.size, 6))
    return X, rng.integers(0, 2, n_patients)[who], who


def accuracy(selector):
    results = selector.cv_results_
    return results.accuracy[0][list(results.n_features).index(selector.n_features_)]


def test_the_rows_of_a_patient_do_not_predict_each_other():
    X, y, who = patients()
    with pytest.warns(UserWarning, match="rows are not independent"):
        assert accuracy(CCMSelector().fit(X, y)) > 0.9
    assert accuracy(CCMSelector().fit(X, y, groups=who)) < 0.65
    assert accuracy(CCMSelector(cv=GroupKFold(4)).fit(X, y, groups=who)) < 0.65


@pytest.mark.parametrize("cv", [None, GroupKFold(4)])
def test_what_is_lost_without_a_feature_is_measured_on_other_patients(cv):
    """The rows of the same patient predict each other: half of y was said to be lost."""
    X, y, who = patients()
    found = CCMSelector((2, 3), cv=cv).fit(X, y, groups=who)
    lost = found.lost_without_[found.support_]
    assert (lost < 0.2).all()
    assert np.isnan(CCMSelector(2, cv=cv).fit(X, y, groups=who).lost_without_).all()


@pytest.mark.parametrize("given", [{}, {"cv": 3}])
def test_a_group_is_in_one_fold(given):
    X, y, who = patients(12, 5)
    folds = splits(read(X, y, TableOptions(), groups=who), given.get("cv"))
    assert len(folds) == given.get("cv", 5)
    for train, test in folds:
        assert not set(who[train]) & set(who[test])


def test_time_series_are_not_predicted_from_the_future():
    X = np.random.default_rng(0).standard_normal((50, 3))
    table = read(X, X[:, 0], TableOptions())
    for train, test in splits(table, TimeSeriesSplit(4)):
        assert table.row[train].max() < table.row[test].min()
    selector = CCMSelector(cv=TimeSeriesSplit(4)).fit(X, X[:, 0])
    assert selector.support_[0]


def test_lists_of_rows_count_the_rows_that_were_passed():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 3)))
    y = X[0].where(X.index != 7)  # a missing response drops a row
    cv = list(KFold(4).split(X))
    with pytest.warns(UserWarning, match="response"):
        table = read(X, y, TableOptions())
    for (train, test), (expected, left) in zip(splits(table, cv), cv, strict=True):
        assert set(table.row[train]) == set(expected) - {7}
        assert set(table.row[test]) == set(left) - {7}


def test_what_cannot_be_split():
    X, y, who = patients(3, 10)
    with pytest.raises(ValueError, match="single value"):
        CCMSelector().fit(X, y, groups=np.zeros(len(y)))
    with pytest.raises(ValueError, match="fewer than two training samples"):
        CCMSelector(cv=[([0], [1, 2])]).fit(X, y)
    with pytest.raises(ValueError, match="one label for each of the 30 rows"):
        CCMSelector().fit(X, y, groups=who[:5])


@pytest.mark.parametrize("unit", ["group", "fold"])
def test_standard_errors_of_dependent_rows_are_those_of_groups_or_folds(unit):
    """Six copies of a row, nearly equal, tell no more than one."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 6)
    X = rng.standard_normal((60, 4))[who] + 1e-3 * rng.standard_normal((360, 4))
    y = X[:, 0] + rng.standard_normal(60)[who]
    cv = list(GroupKFold(10).split(X, y, who))
    over_rows = CCMSelector(cv=cv).fit(X, y, groups=range(360)).cv_results_
    found = CCMSelector(cv=cv).fit(X, y, groups=who if unit == "group" else None).cv_results_
    assert_allclose(found.mean_error, over_rows.mean_error)
    ratio = found.standard_error.mean() / over_rows.standard_error.mean()
    assert 0.7 * 6**0.5 < ratio < 1.4 * 6**0.5
