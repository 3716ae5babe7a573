"""Fits on tables with gaps."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.utils import get_tags

from covmin import (
    CCMSelector,
    Formulation,
    KnockoffSelector,
    StabilitySelector,
    open_parquet,
    unexplained_variance,
)

from .common import same_fit

N, D = 300, 8
EVERY_WAY = [
    {},
    {"approximation": "fourier"},
    {"approximation": "exact"},
    {"formulation": "paper"},
    {"formulation": Formulation(inverse="free")},
    {"standardize": "rank"},
    {"standardize": False},
    {"kernel": "laplacian"},
    {"kernel": "additive"},
    {"kernel": "linear"},
]


def values(n=N, d=D, seed=0):
    """Numbers, and a response by the product of two of them and a third."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.standard_normal(n)


def with_share_missing(X, share, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def informative(n=N, seed=0):
    """The response goes with a value, and with whether another one is there."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    missing = rng.random(n) < 0.4
    X[missing, 3] = np.nan
    return X, X[:, 0] + 2.0 * missing + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("parameters", EVERY_WAY, ids=str)
def test_gaps_that_say_something_are_found(parameters):
    X, y = informative()
    selector = CCMSelector(2, **parameters).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 3]
    assert selector.n_features_in_ == D == selector.weights_.size


@pytest.mark.parametrize("parameters", [{}, {"approximation": "fourier"}], ids=str)
def test_gaps_that_say_nothing_cost_nothing(parameters):
    """Neither is a column chosen for its gaps, nor do the true ones go unseen."""
    X, y = values()
    X[:, 3:] = with_share_missing(X[:, 3:], 0.3)
    selector = CCMSelector(**parameters).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]
    X, y = values()
    selector = CCMSelector(3, **parameters).fit(with_share_missing(X, 0.1), y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]


@pytest.mark.parametrize("parameters", [{}, {"approximation": "fourier"}], ids=str)
def test_a_fit_goes_over_into_that_without_gaps(parameters):
    """Gaps at the mean, fewer and fewer: nothing jumps."""
    X, y = values(1000)
    given = {"epsilon": 0.01, **parameters}
    whole = CCMSelector(3, **given).fit(X, y)
    away = []
    for n_gaps in (100, 10, 1):
        gaps = X.copy()
        gaps[np.argsort(np.abs(X[:, 4]))[:n_gaps], 4] = np.nan
        selector = CCMSelector(3, **given).fit(gaps, y)
        assert_array_equal(selector.get_support(), whole.get_support())
        away.append(abs(selector.objective_ / whole.objective_ - 1.0))
    assert away[-1] < 0.03
    ridges = [CCMSelector(3).fit(each, y).epsilon_ for each in (X, gaps)]
    assert_allclose(*ridges, rtol=0.05)


def test_the_kernel_of_a_few_gaps_is_next_to_that_of_none():
    X, y = values()
    gaps = X.copy()
    gaps[np.argsort(np.abs(X[:, 0] - X[:, 0].mean()))[:3], 0] = np.nan
    shares = [unexplained_variance(each, y) for each in (X[:, :3], gaps[:, :3])]
    assert_allclose(*shares, atol=0.02)


def test_nothing_but_gaps_varies():
    X, y = informative()
    X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, 7.0)
    X[:, 5] = np.nan
    with pytest.warns(UserWarning, match="1 feature without values is"):
        selector = CCMSelector(2).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 3]
    assert selector.ranking_[5] == D


def test_the_plan_names_the_columns():
    X, y = informative()
    said = str(CCMSelector(2).fit(pd.DataFrame(X, columns=list("abcdefgh")), y).plan_)
    assert "missing values  1 column: 'd' (set to the mean" in said
    assert "missing values" not in str(CCMSelector(2).fit(*values()).plan_)
    assert "1 column: 3 (" in str(CCMSelector(2).fit(X, y).plan_)


# --- tables of every kind -------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"approximation": "fourier"}], ids=str)
def test_the_same_from_wherever_it_is_read(tmp_path, parameters):
    import dask.array as da
    import dask.dataframe as dd

    X, y = informative(300)
    X = with_share_missing(X, 0.05)
    expected = CCMSelector(2, **parameters).fit(X, y)
    np.save(tmp_path / "X.npy", X)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)])
    frame.assign(y=y).to_parquet(tmp_path / "x.parquet")
    stored, response = open_parquet(tmp_path / "x.parquet", "y")
    for table in (
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        frame,
        frame.convert_dtypes(),
        pl.from_pandas(frame),
        stored,
        da.from_array(X, chunks=(80, 3)),
        dd.from_pandas(frame, npartitions=3),
        X.tolist(),
    ):
        same_fit(CCMSelector(2, **parameters).fit(table, y), expected, rtol=1e-6)
    assert_array_equal(response, y)


def test_rows_without_a_response_of_tables_read_in_blocks(tmp_path):
    import dask.array as da

    X, y = informative()
    y[:20] = np.nan
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(y=y)
    frame.to_parquet(tmp_path / "x.parquet")
    np.save(tmp_path / "X.npy", X)
    expected = CCMSelector(2).fit(X[20:], y[20:])
    for table in (
        open_parquet(tmp_path / "x.parquet", "y")[0],
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        da.from_array(X, chunks=(100, 3)),
        frame.drop(columns="y"),
    ):
        with pytest.warns(UserWarning, match="response of 20 of 300 samples is missing"):
            same_fit(CCMSelector(2).fit(table, y), expected, rtol=1e-8)


def test_categories_beside_gaps():
    X, y = informative()
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    kinds = np.random.default_rng(0).choice(list("uvw"), N)
    frame["kind"] = pd.Categorical(kinds)
    selector = CCMSelector(3).fit(frame, y + 2.0 * (kinds == "u"))
    assert set(selector.get_feature_names_out()) == {"a", "d", "kind"}
    assert selector.transform(frame).shape == (N, 3)


# --- weights, groups, given, estimators -----------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"approximation": "fourier"}], ids=str)
def test_a_weight_of_two_is_the_sample_twice(parameters):
    X, y = informative(120)
    weight = np.where(np.arange(120) < 40, 2.0, 1.0)
    weight[100:] = 0.0
    twice = np.r_[np.arange(100), np.arange(40)]
    one = CCMSelector(2, **parameters).fit(X, y, sample_weight=weight)
    same_fit(one, CCMSelector(2, **parameters).fit(X[twice], y[twice]), rtol=1e-5)


def test_weights_go_with_the_samples_that_have_a_response():
    X, y = informative(120)
    weight = np.linspace(0.0, 2.0, 120)
    gone = y.copy()
    gone[::7] = np.nan
    there = ~np.isnan(gone)
    with pytest.warns(UserWarning, match="is missing"):
        fitted = CCMSelector(2).fit(X, gone, sample_weight=weight)
    same_fit(fitted, CCMSelector(2).fit(X[there], y[there], sample_weight=weight[there]))


def test_groups_and_given_columns_with_missing():
    X, y = informative()
    X[:, 1] = with_share_missing(X[:, [1]], 0.2)[:, 0]
    grouped = CCMSelector(1, feature_groups={"pair": [0, 3]}).fit(X, y)
    assert grouped.get_support(indices=True).tolist() == [0, 3]
    for given in (0, 3, [1, 3]):
        selector = CCMSelector(1, given=given).fit(X, y)
        assert {0, 3} <= set(selector.get_support(indices=True).tolist())


def test_an_estimator_sees_the_gaps():
    X, y = informative()
    selector = CCMSelector(estimator=HistGradientBoostingRegressor(max_iter=20)).fit(X, y)
    assert {0, 3} <= set(selector.get_support(indices=True).tolist())
    with pytest.raises(ValueError, match=r"Ridge.* could not be trained.*NaN"):
        CCMSelector(estimator=Ridge()).fit(X, y)


def test_pairs_of_columns_with_missing_are_named_by_the_input():
    X, y = values(600)
    selector = CCMSelector(3).fit(with_share_missing(X, 0.05), y)
    assert selector.interactions_.features.tolist()[0] == [0, 1]
    assert selector.interactions_.features.max(initial=0) < D


# --- scikit-learn ---------------------------------------------------------------------------------


def test_transform_keeps_the_gaps():
    X, y = informative()
    selector = CCMSelector(2).fit(X, y)
    assert_array_equal(selector.transform(X), X[:, [0, 3]])
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    frame["b"] = pd.array([1, None, 3] * 100, dtype="Int64")
    for library in ("pandas", "polars"):
        kept = CCMSelector(2, given="b").set_output(transform=library).fit(frame, y)
        narrow = kept.transform(frame)
        assert list(narrow.columns) == ["a", "b", "d"]
        assert_array_equal(np.asarray(narrow["d"], dtype=float), X[:, 3])
    pd.testing.assert_frame_equal(
        kept.set_output(transform="pandas").transform(frame), frame[["a", "b", "d"]]
    )


def test_transform_refuses_infinity():
    X, y = informative()
    selector = CCMSelector(2).fit(X, y)
    X[0, 0] = np.inf
    for table in (X, pd.DataFrame(X)):
        with pytest.raises(ValueError, match="infinity"):
            selector.fit(table, y)
    with pytest.raises(ValueError, match="infinity"):
        selector.transform(X)


def test_gaps_can_be_refused():
    X, y = informative()
    selector = CCMSelector(2, column_types="strict")
    assert get_tags(CCMSelector()).input_tags.allow_nan
    assert not get_tags(selector).input_tags.allow_nan
    for table in (X, pd.DataFrame(X, columns=list("abcdefgh"))):
        with pytest.raises(ValueError, match="contains NaN: values are missing in"):
            selector.fit(table, y)
    selector.fit(*values())
    with pytest.raises(ValueError, match="NaN"):
        selector.transform(X)


def test_other_selectors():
    X, y = informative()
    for table in (X, pd.DataFrame(X)):
        stable = StabilitySelector(CCMSelector(2), n_pairs=2).fit(table, y)
        assert sorted(stable.ranking_[[0, 3]]) == [1, 2]
        with pytest.raises(ValueError, match="contains NaN"):
            StabilitySelector(CCMSelector(2, column_types="strict"), n_pairs=2).fit(table, y)
        with pytest.raises(ValueError, match="contains NaN"):
            KnockoffSelector(CCMSelector(column_types="strict")).fit(table, y)


def test_a_share_left_unexplained_counts_gaps():
    X, y = informative()
    assert unexplained_variance(X[:, [0, 3]], y) < 0.05
    assert unexplained_variance(X[:, [0]], y) > 0.3


def test_numbers_and_booleans_as_objects_are_a_response():
    """As they are where one of them was missing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = pd.Series(X[:, 1] > 0, dtype=object)
    y[3] = None
    with pytest.warns(UserWarning, match="1 of 80 samples is missing"):
        selector = CCMSelector(1).fit(X, y)
    assert selector.task_ == "classification"
    assert selector.ranking_[1] == 1
    assert CCMSelector(1).fit(X, pd.Series(X[:, 1], dtype=object)).task_ == "regression"


def test_shares_of_what_is_missing():
    X = pd.DataFrame({"a": np.arange(40) * 7.0 % 3, "b": list("xy") * 20}).astype({"b": object})
    X.loc[:9, "a"], X.loc[:3, "b"] = np.nan, None
    y = np.arange(40) % 2
    selector = CCMSelector(1).fit(X, y)
    np.testing.assert_allclose(selector.missing_share_, [0.25, 0.1])
    back = selector.inverse_transform(selector.transform(X))
    assert back.shape == X.shape
