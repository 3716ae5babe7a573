"""Gaps in X: how they are encoded, and rows without a response."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin.data import Layout
from covmin.data.blocks.array import ArrayBlocks, Blocks
from covmin.data.standardize import prepare_columns
from covmin.data.table import add_indicators, usable_samples

N = 400


def table(share=0.3, n=N, d=4, seed=0, dtype=np.float64):
    """Values with gaps, and their responses."""
    rng = np.random.default_rng(seed)
    X = 3.0 + 2.0 * rng.standard_normal((n, d))
    y = X[:, 0] + 0.1 * rng.standard_normal(n)
    X[:, 1:3] = np.where(rng.random((n, 2)) < share, np.nan, X[:, 1:3])
    return X.astype(dtype), y[:, None] - y.mean()


def prepared(X, standardize=True, **options):
    matrix, plan = add_indicators(X, Layout.plain(X.shape[1]), True, None)
    return plan, prepare_columns(matrix, standardize, layout=plan, **options)


def values_of(columns):
    """The prepared columns, in memory."""
    return columns.X.take(np.arange(columns.X.shape[0]))


def test_a_table_without_gaps_is_left_as_it_is():
    X, plan = table(share=0.0)[0], Layout.plain(4)
    matrix, same = add_indicators(X, plan, True, None)
    assert matrix is X
    assert same is plan


@pytest.mark.parametrize("of", [np.asarray, ArrayBlocks], ids=["array", "source"])
def test_one_column_more_for_each_add_indicators(of):
    X, _ = table()
    matrix, plan = add_indicators(of(X), Layout.plain(4), True, None)
    assert isinstance(matrix, Blocks)
    assert_array_equal(plan.source, [0, 1, 2, 3, 1, 2])
    assert_array_equal(plan.indicators, [4, 5])
    assert_array_equal(plan.source[plan.indicators], [1, 2])
    whole = matrix.take(np.arange(N))
    assert_array_equal(whole[:, :4], X)
    assert_array_equal(whole[:, 4:], np.isnan(X[:, [1, 2]]))
    some = matrix.keep(np.arange(N) % 2 == 0).take(np.arange(5))
    assert_array_equal(some, whole[:10:2])


def test_gaps_of_an_input_of_several_columns_are_marked_once():
    X, _ = table()
    X[:, 2] = np.where(np.isnan(X[:, 1]), np.nan, X[:, 3])
    plan = Layout(np.array([0, 1, 1, 1]), np.zeros(2, bool), np.arange(2), np.zeros(2, bool))
    matrix, plan = add_indicators(X, plan, True, None)
    assert_array_equal(plan.source, [0, 1, 1, 1, 1])
    columns = prepare_columns(matrix, layout=plan)
    assert_allclose(np.bincount(columns.units.of_column, columns.units.scale**2), 1.0)


def test_gaps_are_refused_by_name():
    X, _ = table()
    for names, said in ((None, "missing in 1, 2"), (list("abcd"), "missing in 'b', 'c'")):
        with pytest.raises(ValueError, match=said):
            add_indicators(X, Layout.plain(4), False, names)


@pytest.mark.parametrize("standardize", [True, "rank", False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_gap_stands_at_the_mean_and_a_unit_varies_by_one(standardize, dtype):
    X, Y = table(dtype=dtype)
    plan, columns = prepared(X, standardize, Y=Y)
    Z = values_of(columns)
    assert Z.dtype == dtype
    assert np.isfinite(Z).all()
    missing = np.isnan(X[:, 1])
    value, gap = (np.flatnonzero(columns.index == j)[0] for j in (1, 4))
    there = Z[~missing, value]
    assert_allclose(Z[missing, value], there.mean(), atol=1e-5)
    assert_allclose(np.bincount(columns.units.of_column, columns.units.scale**2), 1.0)
    if standardize:
        assert_allclose(Z.std(axis=0), 1.0, rtol=1e-5)
    # One deviation of the values is as long as the way from a value to a gap.
    lengths = columns.units.scale[[value, gap]] * [there.std(), np.ptp(Z[:, gap])]
    assert_allclose(*lengths, rtol=1e-5)
    again = columns.apply(plan_rows(X, plan)).take(np.arange(len(X)))
    assert_allclose(again, Z, rtol=1e-5, atol=1e-6)


def plan_rows(X, plan):
    """The rows of a table with the columns of a plan."""
    return np.column_stack([X, np.isnan(X[:, plan.source[plan.indicators]])])


def test_moments_are_those_of_what_is_there_whatever_the_blocks():
    X, Y = table(n=3000)
    X[:1500, 1] = np.nan  # more than a block without any
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 3000)
    _, columns = prepared(X, sample_weight=weight, Y=Y)
    there = ~np.isnan(X[:, 1])
    place = np.flatnonzero(columns.index == 1)[0]
    mean = np.average(X[there, 1], weights=weight[there])
    power = np.average((X[there, 1] - mean) ** 2, weights=weight[there])
    share = weight[there].sum() / weight.sum()
    assert_allclose(columns.X.change.mean[place], mean)
    # A column is turned to the side to which it is skewed.
    assert_allclose(np.abs(columns.X.change.scale[place]), np.sqrt(share * power))


def test_weights_are_as_good_as_copies():
    X, Y = table()
    twice = np.r_[np.arange(N), np.arange(100)]
    weight = np.where(np.arange(N) < 100, 2.0, 1.0)
    _, weighted = prepared(X, sample_weight=weight, Y=Y)
    _, copied = prepared(X[twice], Y=Y[twice])
    assert_array_equal(weighted.index, copied.index)
    assert_allclose(weighted.X.change.scale, copied.X.change.scale)
    assert_allclose(weighted.units.scale, copied.units.scale)
    assert copied.distinct(0).p.size == weighted.distinct(0).p.size == N


def test_a_gap_is_no_value_at_the_mean():
    X = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 0.0], [np.nan, 0.0], [np.nan, 0.0], [2.0, 1.0]])
    _, columns = prepared(X, Y=np.zeros((6, 1)))
    assert columns.distinct(0).p.size == 5


def test_shares_go_over_into_those_without_gaps():
    X, _ = table(share=0.0)
    for n_gaps in (1, 10, 100):
        X[:n_gaps, 1] = np.nan
        _, columns = prepared(X)
        m = n_gaps / N
        value, gap = (np.flatnonzero(columns.index == j)[0] for j in (1, 4))
        assert_allclose(columns.units.scale[[value, gap]] ** 2, [1 / (1 + m), m / (1 + m)])
        assert_allclose(columns.unit_sizes.max() - 1.0, m)


def test_what_is_constant_but_for_its_gaps():
    X, _ = table()
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, 7.0)
    X[:, 2] = np.nan
    _, columns = prepared(X)
    assert 1 not in columns.index
    assert_allclose(columns.units.scale[columns.index == 4], 1.0)
    assert_array_equal(columns.constant, [2])


def test_columns_with_the_same_gaps_may_change_places():
    X, Y = table()
    X[:, 2] = np.where(np.isnan(X[:, 1]), np.nan, X[:, 3] ** 2)
    there = [3, 2, 1, 0]
    _, one = prepared(X, Y=Y)
    _, other = prepared(X[:, there], Y=Y)
    assert_array_equal(values_of(one), values_of(other))
    assert_array_equal(one.signature, other.signature)


def test_infinity_is_no_gap():
    for standardize in (True, "rank"):
        X, _ = table()
        X[0, 1] = np.inf
        with pytest.raises(ValueError, match="infinity in 1 column"):
            prepared(X, standardize)


# --- responses ------------------------------------------------------------------------------------

ODD = [1.0, None, 2.0, 3.0]


@pytest.mark.parametrize(
    "y",
    [
        ODD,
        np.array(ODD, dtype=float),
        np.array(ODD, dtype=object),
        pd.Series(ODD),
        pd.Series(ODD, dtype="Int64"),
        pd.DataFrame({"u": range(4), "v": ODD}),
        pl.Series(ODD),
        pl.Series(np.array(ODD, dtype=float)),
        np.array(["2020", "NaT", "2021", "2022"], dtype="datetime64[D]"),
        ["a", float("nan"), "b", "c"],
    ],
    ids=str,
)
def test_which_responses_are_missing(y):
    X = np.zeros((4, 1))
    with pytest.warns(UserWarning, match="response of 1 of 4 samples is missing"):
        assert_array_equal(usable_samples(X, y, None)[3], [0, 2, 3])


def test_samples_without_a_response():
    X, y = table()
    y = y[:, 0].copy()
    y[[2, 5]] = np.nan
    weight = np.arange(N, dtype=float)
    there = np.delete(np.arange(N), [0, 2, 5])  # the first one has no weight
    for samples in (X, ArrayBlocks(X), X.tolist(), pd.DataFrame(X)):
        with pytest.warns(UserWarning, match="response of 2 of 400 samples is missing"):
            kept, responses, weights, rows = usable_samples(samples, y, weight)
        assert_array_equal(rows, there)
        assert_array_equal(responses, y[there])
        assert_array_equal(weights, weight[there])
        values = kept.take(np.arange(N - 3)) if isinstance(kept, Blocks) else np.asarray(kept)
        assert_array_equal(values, X[there])
    assert usable_samples(X, y[:-1], None)[0] is X, "to be refused for its length"
    with pytest.raises(ValueError, match="y contains NaN: the response of 399 of 400"):
        usable_samples(X, np.r_[1.0, np.full(N - 1, np.nan)], None)
