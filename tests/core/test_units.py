"""Columns that share a weight, and columns that are always on."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from covmin.core.units import ALWAYS_ON, Units

GROUPED = Units(np.array([1, 0, 0, ALWAYS_ON, 2, 2]), np.array([1, 0.7, 0.7, 1, 0.5, 0.8]))


@st.composite
def any_units(draw):
    """Up to five units, each of a column at least, and some columns always on."""
    size = draw(st.integers(1, 5))
    extra = draw(st.lists(st.integers(ALWAYS_ON, size - 1), max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    of_column = rng.permutation([*range(size), *extra])
    return Units(of_column, rng.uniform(0.1, 1.0, of_column.size)), rng


def test_by_hand():
    assert GROUPED.size == 3
    assert_array_equal(GROUPED.sizes, [2, 1, 2])
    assert_allclose(GROUPED.spread(np.array([0.5, 0.2, 1.0])), [0.2, 0.35, 0.35, 1.0, 0.5, 0.8])
    assert_allclose(GROUPED.collect(np.arange(6.0)), [0.7 * 3, 0.0, 0.5 * 4 + 0.8 * 5])
    assert_array_equal(GROUPED.columns(np.array([2])), [3, 4, 5])
    assert GROUPED.n_features == pytest.approx(2 + 2 * 0.49 + 0.25 + 0.64)


@given(any_units())
def test_collect_is_the_transpose_of_the_slope_of_spread(drawn):
    units, rng = drawn
    w, gradient = rng.uniform(0, 1, units.size), rng.standard_normal(units.of_column.size)
    expected = naive.differences(lambda w: float(gradient @ units.spread(w)), w, h=1e-3)
    assert_allclose(units.collect(gradient), expected, atol=1e-9)


@given(any_units())
def test_restrict_is_the_same_for_some_units_in_the_order_given(drawn):
    units, rng = drawn
    some = rng.permutation(units.size)[: rng.integers(1, units.size + 1)]
    few, columns = units.restrict(some), units.columns(some)
    w = rng.uniform(0, 1, some.size)
    full = np.zeros(units.size)
    full[some] = w
    assert few.size == some.size
    assert_allclose(few.spread(w), units.spread(full)[columns])
    gradient = rng.standard_normal(units.of_column.size)
    assert_allclose(few.collect(gradient[columns]), units.collect(gradient)[some])
    assert_array_equal(few.sizes, units.sizes[some])


@given(any_units())
def test_units_that_are_switched_on_have_full_weight(drawn):
    units, rng = drawn
    on = np.flatnonzero(rng.random(units.size) < 0.5)
    switched, w = units.switched_on(on), rng.uniform(0, 1, units.size)
    w[on] = 1.0
    off = np.setdiff1d(np.arange(units.size), on)
    # Those that are left keep their numbers.
    assert_array_equal(switched.columns(off), units.columns(np.arange(units.size)))
    assert_allclose(switched.restrict(off).spread(w[off]), units.spread(w))
    assert switched.n_features == units.n_features


def test_single_columns_are_themselves():
    single, w = Units.single(4), np.array([0.1, 0.2, 0.3, 0.4])
    some = np.array([3, 1])
    assert_array_equal(single.spread(w), w)
    assert_array_equal(single.collect(w), w)
    assert_array_equal(single.columns(some), [1, 3])
    assert_array_equal(single.restrict(np.array([1, 3])).spread(w[:2]), w[:2])
    assert single.size == single.n_features == 4
    assert_array_equal(single.sizes, 1)
