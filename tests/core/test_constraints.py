"""The projection by its optimality conditions and by fractions; gaps, prices and slopes."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from covmin.core.constraints import CONSTRAINTS, CappedSimplex, SoftBudget

plain = st.floats(-5, 5, allow_subnormal=False)
tied = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0])
huge = st.one_of(plain, st.sampled_from([-1e300, -1e8, 1e8, 1e8 + 0.25, 1e300]))


@st.composite
def problems(draw, entries):
    """Weights to be projected and a budget, whole or not, in (0, d]."""
    d = draw(st.integers(1, 12))
    v = draw(arrays(np.float64, d, elements=draw(st.sampled_from(entries))))
    budget = draw(st.one_of(st.integers(1, d), st.floats(0.01, d)))
    return v, budget


any_problem = problems([plain, tied, huge])


@given(any_problem)
def test_projection_agrees_with_fractions(problem):
    v, budget = problem
    assert_allclose(CappedSimplex(budget).project(v), naive.project(v, budget)[0], atol=1e-12)


@given(problems([plain, tied]))
def test_projection_meets_the_optimality_conditions(problem):
    """``w = clip(v − θ, 0, 1)`` with θ ≥ 0, and θ > 0 only where the budget is spent."""
    v, budget = problem
    w = CappedSimplex(budget).project(v)
    spent = w.sum() > budget - 1e-9
    # The smallest θ ≥ 0 that the weights below one allow; it is free only where none is inside.
    theta = max(0.0, (v - w)[w < 1.0].max(initial=0.0))
    assert_allclose(w, np.clip(v - theta, 0.0, 1.0), atol=1e-8)
    assert theta <= 1e-12 or spent


@pytest.mark.parametrize(
    ("v", "budget", "expected"),
    [
        ([3.0], 1, [1.0]),
        ([3.0], 0.5, [0.5]),
        ([-3.0], 1, [0.0]),
        ([0.3, 2.0, -1.0], 3, [0.3, 1.0, 0.0]),
        ([0.7] * 5, 2, [0.4] * 5),
        ([9.0] * 4, 1.5, [0.375] * 4),
        ([1e300, 0.5, 0.25], 1, [1.0, 0.0, 0.0]),
        ([1e300, 1e300, 0.5], 1, [0.5, 0.5, 0.0]),
        ([1e300, 0.5, 0.25, -1e300], 1.5, [1.0, 0.375, 0.125, 0.0]),
        # Clipping first and projecting on the simplex then would give (0.7, 0.3).
        ([2.0, 0.6], 1, [1.0, 0.0]),
    ],
)
def test_projection_by_hand(v, budget, expected):
    assert_allclose(CappedSimplex(budget).project(np.array(v)), expected, atol=1e-14)


def test_projection_leaves_its_argument_alone():
    v = np.array([2.0, 0.6, -1.0])
    CappedSimplex(1).project(v)
    SoftBudget(1, 0.5).project(v)
    assert_array_equal(v, [2.0, 0.6, -1.0])


# ------------------------------------------------------------------------------------------ gap


def lp_gap(w, gradient, budget=None):
    """``max ⟨gradient, w − v⟩`` over the box, and within the budget if there is one."""
    limits = {} if budget is None else {"A_ub": np.ones((1, w.size)), "b_ub": [budget]}
    return gradient @ w - linprog(gradient, bounds=(0.0, 1.0), **limits).fun


def feasible(constraint, d, rng):
    return constraint.project(rng.uniform(-1.0, 2.0, d))


@pytest.mark.parametrize("budget", [0.5, 1, 2.5, 3, 6, 8])
@pytest.mark.parametrize("seed", range(3))
def test_hard_gap_is_the_linear_program(budget, seed):
    rng = np.random.default_rng(seed)
    constraint = CappedSimplex(budget)
    w, gradient = feasible(constraint, 6, rng), rng.standard_normal(6)
    assert constraint.gap(w, gradient) == pytest.approx(lp_gap(w, gradient, budget), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_soft_gap_is_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    constraint = SoftBudget(2, 0.3)
    w, gradient = feasible(constraint, 6, rng), rng.standard_normal(6)
    assert constraint.gap(w, gradient) == pytest.approx(lp_gap(w, gradient), abs=1e-9)


# ------------------------------------------------------------------------------ price and slope


def test_prices_by_hand():
    w = np.array([1.0, 0.5, 0.0])
    assert CappedSimplex(1).price(w)[0] == 0.0
    assert SoftBudget(1, 3.0).price(w)[0] == pytest.approx(1.5)
    assert SoftBudget(2, 3.0).price(w)[0] == pytest.approx(-1.5)


@pytest.fixture(params=list(CONSTRAINTS))
def constraint(request):
    """Each constraint of the registry, for a budget of two."""
    return CONSTRAINTS[request.param].candidates(2.0, prices=[0.7])[0]


def test_the_slope_is_the_derivative_of_the_price(constraint):
    w = np.random.default_rng(0).uniform(0.1, 0.9, 6)
    expected = naive.differences(lambda w: constraint.price(w)[0], w, h=1e-3)
    assert_allclose(np.broadcast_to(constraint.price(w)[1], 6), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_every_constraint_projects_to_the_closest_point_and_knows_its_gap(constraint, seed):
    """For the distance to v the gap is zero at the projection of v, and nowhere less."""
    rng = np.random.default_rng(seed)
    v = rng.uniform(-1.0, 2.0, 6)
    best = constraint.project(v)
    assert_allclose(constraint.project(best), best, atol=1e-12)
    assert constraint.gap(best, best - v) == pytest.approx(0.0, abs=1e-9)
    w = feasible(constraint, 6, rng)
    assert constraint.gap(w, w - v) >= np.sum((w - best) ** 2) - 1e-9
    assert ((w >= 0.0) & (w <= 1.0)).all()


def test_candidates():
    """A hard budget has no price; a soft one is tried at each in turn."""
    assert CappedSimplex.candidates(3, [0.5, 0.1]) == CappedSimplex.candidates(3)
    assert CappedSimplex.candidates(3) == [CappedSimplex(3)]
    assert SoftBudget.candidates(3, [0.5, 0.1]) == [SoftBudget(3, 0.5), SoftBudget(3, 0.1)]


def test_soft_projection_is_the_box():
    v = np.array([2.0, 0.6, 0.9, -1.0])
    assert_array_equal(SoftBudget(1, 3.0).project(v), [1.0, 0.6, 0.9, 0.0])
