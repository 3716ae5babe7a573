"""The solver by its optimality residual, its descent and problems with a known answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import LinearConstraint, linprog
from scipy.optimize import minimize as scipy_minimize
from single import inverse_free_objective, trace_objective

from covmin.core.constraints import CappedSimplex, SoftBudget
from covmin.core.grams import ExactGram
from covmin.core.kernels import Gaussian, Laplacian, Linear
from covmin.core.kernels.additive import WaveSum
from covmin.core.objectives import InverseFreeObjective
from covmin.core.solver import Steps, minimize
from covmin.core.units import ALWAYS_ON, Units

EPSILON = 0.05


@dataclass(frozen=True)
class Whole:
    """An objective that never leaves a feature out, whatever the solver asks.

    Features the solver has dropped are put back at zero for each evaluation, so that a
    solve with it shows what dropping changes. It counts what it is asked for.
    """

    inner: Any
    columns: np.ndarray
    size: int
    log: dict = field(default_factory=lambda: {"restrict": 0})

    @property
    def gram(self):
        return self.inner.gram

    @property
    def can_restrict(self):
        return self.inner.can_restrict

    def at(self, w, state=None):
        full = np.zeros(self.size)
        full[self.columns] = w
        point = self.inner.at(full, state)
        gradient = lambda: point.gradient()[self.columns]  # noqa: E731
        return SimpleNamespace(value=point.value, gradient=gradient, state=point.state)

    def restrict(self, columns):
        self.log["restrict"] += 1
        return Whole(self.inner, self.columns[columns], self.size, self.log)


def whole(objective, size=12):
    return Whole(objective, np.arange(size), size)


@dataclass(frozen=True)
class Smooth:
    """A function with its gradient, as an objective without samples."""

    value: Callable
    gradient: Callable
    gram = SimpleNamespace(zero_is_absorbing=False)
    can_restrict = True

    def at(self, w, state=None):
        value, gradient = float(self.value(w)), lambda: self.gradient(w)
        return SimpleNamespace(value=value, gradient=gradient, state=None)


def quadratic(A, c):
    """``5 + ½(w − c)ᵀA(w − c)``."""
    value = lambda w: 5.0 + 0.5 * (w - c) @ A @ (w - c)  # noqa: E731
    return whole(Smooth(value, lambda w: A @ (w - c)), c.size)


def slope(g):
    return whole(Smooth(lambda w: 1e6 + g @ w, lambda w: g), g.size)


def rounded(objective, seed):
    """The objective with a gradient that is off by its last bits."""
    rng = np.random.default_rng(seed)

    def gradient(w):
        exact = objective.at(w).gradient()
        return exact * (1.0 + 1e-15 * rng.standard_normal(exact.size))

    return whole(Smooth(lambda w: objective.at(w).value, gradient))


@pytest.fixture
def wide(draw):
    """Forty samples of twelve features, of which the response needs two."""
    return draw(n=40, d=12, k=1)


FORMULATIONS = [
    f"{objective}-{gram}-{constraint}"
    for objective in ("trace", "free")
    for gram in ("exact", "drawn")
    for constraint in ("hard", "soft")
]


@pytest.fixture(params=FORMULATIONS)
def problem(request, wide):
    """An objective of ``wide`` and a constraint, for each of the eight formulations."""
    objective, gram, constraint = request.param.split("-")
    gram = getattr(wide, gram)(Gaussian(3.0))
    if objective == "trace":
        objective = trace_objective(gram, EPSILON)
    else:
        objective = inverse_free_objective(gram, EPSILON, 3 / EPSILON)
    return objective, CappedSimplex(3) if constraint == "hard" else SoftBudget(3, 0.5)


class Notes:
    """Keeps every step it is told of, and ends a solve after as many as it is asked for."""

    def __init__(self, most=np.inf):
        self.steps = []
        self.most = most

    def iteration(self, iteration):
        self.steps.append(iteration)

    def stop(self):
        return len(self.steps) >= self.most


START = np.full(12, 0.25)
TOLERANCE = 1.05 + 1e-9  # how far over the cap a step may go


def lp_gap(w, gradient, constraint):
    hard = isinstance(constraint, CappedSimplex)
    limits = {"A_ub": np.ones((1, w.size)), "b_ub": [constraint.budget]} if hard else {}
    return gradient @ w - linprog(gradient, bounds=(0.0, 1.0), **limits).fun


def test_converged_solutions_are_stationary(problem):
    objective, constraint = problem
    solution = minimize(objective, constraint, START, Steps(max_iter=500))
    assert solution.converged
    # Many steps from zero: the gradient at w whatever α the solver has reached there.
    if isinstance(objective, InverseFreeObjective):
        objective = inverse_free_objective(objective.gram, EPSILON, objective.penalty, 200)
    point = objective.at(solution.w)
    assert solution.value == pytest.approx(point.value + constraint.price(solution.w)[0], rel=1e-3)
    gap = lp_gap(solution.w, point.gradient() + constraint.price(solution.w)[1], constraint)
    assert gap <= 3e-3 * abs(point.value)
    assert (solution.w >= 0).all()
    assert (solution.w <= 1).all()


@pytest.mark.parametrize("constraint", [CappedSimplex(4), SoftBudget(4, 0.3)])
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_is_the_one_at_the_solution(constraint, seed, draw):
    """Of all the features, those the solver has put aside included."""
    s = draw(n=50, d=30, k=1, seed=seed)
    for gram in (s.exact(Gaussian(5.0)), s.exact(Laplacian(15.0)), s.drawn(Gaussian(3.0), 20)):
        objective = trace_objective(gram, EPSILON)
        for max_iter in (0, *range(1, 20, 2), 100):
            solution = minimize(
                objective, constraint, np.full(30, 4 / 30), Steps(max_iter=max_iter)
            )
            point = objective.at(solution.w)
            gap = lp_gap(solution.w, point.gradient() + constraint.price(solution.w)[1], constraint)
            assert solution.gap == pytest.approx(gap / point.value, abs=1e-9)
            assert solution.converged == (solution.gap <= 1e-3)


def test_the_objective_never_rises(problem):
    objective, constraint = problem
    notes = Notes()
    start = minimize(objective, constraint, START, Steps(max_iter=0))
    solution = minimize(objective, constraint, START, report=notes.iteration, stop=notes.stop)
    values = [start.value, *(iteration.value for iteration in notes.steps)]
    assert (np.diff(values) < 0).all()
    assert solution.value == pytest.approx(values[-1], rel=1e-9)


def test_a_watch_is_told_of_each_accepted_step(wide):
    objective, notes = trace_objective(wide.exact(Gaussian(3.0)), EPSILON), Notes()
    solution = minimize(objective, CappedSimplex(3), START, report=notes.iteration, stop=notes.stop)
    history = notes.steps
    assert [iteration.n_iter for iteration in history] == list(range(1, solution.n_iter + 1))
    assert history[0].gap == minimize(objective, CappedSimplex(3), START, Steps(max_iter=0)).gap
    assert history[-1].n_active == np.count_nonzero(solution.w)
    one = minimize(objective, CappedSimplex(3), START, Steps(max_iter=1))
    assert history[0].step == pytest.approx(np.abs(one.w - START).max())


def test_no_weight_moves_further_than_the_cap():
    """Slopes over many orders of magnitude, of which the projection takes a part back."""
    for seed in range(400):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 40))
        constraint = CappedSimplex(int(rng.integers(1, d)))
        w0 = constraint.project(rng.uniform(0, 1, d) * rng.choice([0.3, 1, 2]))
        g = rng.standard_normal(d) * 10 ** rng.uniform(-3, 3, d) - rng.choice([0, 5, 100])
        notes = Notes()
        minimize(slope(g), constraint, w0, Steps(max_iter=3, max_step=0.2), notes.iteration)
        assert all(iteration.step <= TOLERANCE * 0.2 for iteration in notes.steps)


def test_steps_of_a_rough_answer_grow_where_the_objective_bends_downwards():
    """A straight line bends nowhere: each step may be twice as long as the last, up to a weight."""
    d = 60
    g = -np.linspace(1e4, 2e4, d)
    notes = Notes()
    minimize(slope(g), CappedSimplex(20), np.full(d, 1 / 3), Steps().looser(3.0), notes.iteration)
    taken = [iteration.step for iteration in notes.steps]
    assert taken[0] <= TOLERANCE * 0.2
    assert TOLERANCE * 0.2 < max(taken) <= 1.0


@pytest.mark.parametrize("constraint", [CappedSimplex(3), SoftBudget(3, 0.5)])
def test_rounding_does_not_choose_the_path(constraint, wide):
    """Last bits differ between BLAS libraries, threads and column orders; ends must not."""
    objective = trace_objective(wide.exact(Gaussian(3.0)), EPSILON)
    ends = [minimize(rounded(objective, seed), constraint, START).w for seed in range(8)]
    assert np.ptp(ends, axis=0).max() < 1e-6


@pytest.mark.parametrize("max_step", [0.01, 0.1])
def test_a_free_step_uses_the_cap(wide, max_step):
    notes = Notes()
    objective = trace_objective(wide.exact(Gaussian(3.0)), EPSILON)
    steps = Steps(max_iter=1, max_step=max_step)
    minimize(objective, CappedSimplex(3), START, steps, notes.iteration)
    assert 0.9 * max_step <= notes.steps[0].step <= TOLERANCE * max_step


@pytest.mark.parametrize("most", [0, 1, 3])
def test_a_watch_ends_a_solve_with_what_there_is(problem, most):
    """A solve that is ended after k steps is one of k steps."""
    notes = Notes(most)
    ended = minimize(*problem, START, report=notes.iteration, stop=notes.stop)
    short = minimize(*problem, START, Steps(max_iter=most))
    assert ended.n_iter == len(notes.steps) == most
    assert not ended.converged
    assert_array_equal(ended.w, short.w)
    assert (ended.value, ended.gap) == (short.value, short.gap)


def test_last_active_is_the_last_step_with_a_positive_weight(wide):
    """The solve with k steps is the beginning of the whole one."""
    objective = trace_objective(wide.exact(Gaussian(3.0)), EPSILON)
    solution = minimize(objective, CappedSimplex(2), START)
    assert np.unique(solution.last_active).size > 2
    for k in range(1, solution.n_iter + 1):
        w = minimize(objective, CappedSimplex(2), START, Steps(max_iter=k)).w
        assert_array_equal(w > 0.0, solution.last_active >= k)


def test_the_start_is_projected_and_not_modified(wide):
    objective = trace_objective(wide.exact(Gaussian(3.0)), EPSILON)
    w0 = np.full(12, 2.0)
    solution = minimize(objective, CappedSimplex(3), w0, Steps(max_iter=0))
    assert_array_equal(w0, 2.0)
    assert_allclose(solution.w, 0.25)
    solution = minimize(objective, CappedSimplex(3), START)
    assert_array_equal(START, 0.25)
    assert not np.shares_memory(solution.w, START)


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Linear()])
@pytest.mark.parametrize("gram", ["exact", "drawn"])
@pytest.mark.parametrize("constraint", [CappedSimplex(2), SoftBudget(2, 2.0)])
@pytest.mark.parametrize("inverse_free", [False, True])
def test_dropping_features_at_zero_changes_nothing(kernel, gram, constraint, inverse_free, wide):
    objective = trace_objective(getattr(wide, gram)(kernel), EPSILON)
    if inverse_free:
        objective = inverse_free_objective(objective.gram, EPSILON, 3 / EPSILON, 100)
    reference = whole(objective)
    steps = Steps(300, 1e-6)
    expected = minimize(reference, constraint, START, steps)
    solution = minimize(objective, constraint, START, steps)
    assert gram == "drawn" or reference.log["restrict"] > 0
    assert_allclose(solution.w, expected.w, atol=1e-4)
    assert solution.value == pytest.approx(expected.value, rel=1e-7)
    assert solution.w.shape == START.shape


def test_features_come_back_from_zero_where_the_kernel_lets_them(wide):
    w0 = np.zeros(12)
    objective = trace_objective(wide.exact(Laplacian(6.0)), EPSILON)
    assert minimize(objective, CappedSimplex(2), w0).w.sum() > 0.5
    stuck = minimize(trace_objective(wide.exact(Gaussian(3.0)), EPSILON), CappedSimplex(2), w0)
    assert_array_equal(stuck.w, 0.0)
    assert stuck.converged


def test_a_useless_feature_gives_its_weight_back_to_the_sum():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    kernel = WaveSum(1.0, 1.0)
    gram = ExactGram(kernel, kernel.prepare(X), X[:, :1] - X[:, :1].mean(), np.full(60, 1 / 60))
    start = np.zeros(12)
    start[5] = 1.0  # a useless feature holds the whole budget
    solution = minimize(trace_objective(gram, EPSILON), CappedSimplex(1), start)
    assert solution.converged
    assert solution.w[0] > 0.99


def test_weights_of_units(wide):
    """The columns of a unit share its weight, and one that is always on is not counted."""
    of_column = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, ALWAYS_ON])
    units = Units(of_column, np.where(of_column > 0, np.sqrt(0.5), 1.0))
    objective = trace_objective(wide.exact(Laplacian(6.0)), EPSILON, units=units)
    solution = minimize(objective, CappedSimplex(2), np.full(6, 1 / 3), Steps(tol=1e-5))
    assert solution.converged
    assert solution.w.shape == solution.gradient.shape == (6,)
    assert solution.w.sum() <= 2.0 + 1e-9
    point = objective.at(solution.w)
    assert solution.value == pytest.approx(point.value, rel=1e-9)
    assert lp_gap(solution.w, point.gradient(), CappedSimplex(2)) <= 2e-5 * point.value


# ------------------------------------------------------------------------------ known minima


@pytest.mark.parametrize("seed", range(3))
def test_convex_quadratic_under_both_constraints(seed):
    rng = np.random.default_rng(seed)
    B, c = rng.standard_normal((6, 6)), rng.uniform(-1.0, 2.0, 6)
    objective = quadratic(B @ B.T + 0.1 * np.eye(6), c)
    for constraint in (CappedSimplex(2), SoftBudget(2, 0.4)):
        solution = minimize(objective, constraint, np.zeros(6), Steps(20_000, 1e-7))

        def total(w, of=constraint):
            return objective.at(w).value + of.price(w)[0]

        hard = isinstance(constraint, CappedSimplex)
        reference = scipy_minimize(
            total,
            np.full(6, 0.2),
            jac=lambda w, of=constraint: objective.at(w).gradient() + of.price(w)[1],
            bounds=[(0.0, 1.0)] * 6,
            constraints=[LinearConstraint(np.ones((1, 6)), -np.inf, 2.0)] if hard else [],
            options={"ftol": 1e-14, "maxiter": 1000},
            method="SLSQP",
        )
        assert solution.converged
        assert solution.value == pytest.approx(reference.fun, rel=1e-6)
        # Of a convex function the gap bounds what is left to gain.
        assert (
            solution.value - reference.fun <= solution.gap * objective.at(solution.w).value + 1e-9
        )


def test_a_budget_that_does_not_bind_is_left_unspent():
    c = np.array([0.3, 0.2, 0.1])
    solution = minimize(quadratic(np.eye(3), c), CappedSimplex(2), np.ones(3), Steps(tol=1e-12))
    assert_allclose(solution.w, c, atol=1e-5)


def test_an_objective_that_is_not_finite_is_an_error_with_advice(wide):
    """No factorisation looks at the inverse-free form, so the solver has to."""
    Y = np.full_like(wide.Y, np.nan)
    objective = inverse_free_objective(
        type(wide)(wide.X, Y, wide.p, wide.counts).exact(Gaussian(3.0)), EPSILON, 3 / EPSILON
    )
    with pytest.raises(FloatingPointError, match="finite"):
        minimize(objective, CappedSimplex(3), START)


# ---------------------------------------------------------------------------- random problems


@pytest.mark.parametrize("seed", range(25))
def test_the_additive_kernel_ends_at_the_global_optimum(seed):
    """No start does better than another, and no random point better than either."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 40)), int(rng.integers(3, 9))
    X = rng.standard_normal((n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(n)
    if seed % 2:
        y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    Y = (y - y.mean())[:, None] / y.std()
    kernel = WaveSum(1.0, 2.0)
    gram = ExactGram(kernel, kernel.prepare(X), Y, np.full(n, 1 / n))
    objective, budget = trace_objective(gram, 0.01), CappedSimplex(2)
    ends = [
        minimize(objective, budget, start, Steps(3000, 1e-7)).value
        for start in (np.full(d, 2 / d), rng.uniform(0, 1, d))
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-5)
    points = [objective.at(budget.project(rng.uniform(0, 1, d))).value for _ in range(30)]
    assert ends[0] <= min(points)


def random_problem(rng):
    """From well to badly conditioned, tiny to moderate."""
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, d))
    if rng.random() < 0.3:
        X = np.round(X)  # equal rows: a singular kernel matrix
    Y = rng.standard_normal((n, int(rng.integers(1, 4))))
    p = rng.uniform(0.1, 1.0, n)
    p /= p.sum()
    kernel = Gaussian(10.0 ** rng.uniform(-1, 2))
    gram = ExactGram(kernel, kernel.prepare(X), Y - p @ Y, p)
    objective = trace_objective(gram, 10.0 ** rng.uniform(-12, 1))
    m = int(rng.integers(1, d + 1))
    constraint = CappedSimplex(m) if rng.random() < 0.5 else SoftBudget(m, rng.exponential())
    return objective, constraint, rng.uniform(0, 1, d)


def test_the_objective_never_rises_over_hundreds_of_random_problems():
    """Singular and ill-conditioned ones among them."""
    rng = np.random.default_rng(0)
    steps = 0
    for _ in range(400):
        objective, constraint, start = random_problem(rng)
        notes = Notes()
        solution = minimize(objective, constraint, start, Steps(max_iter=15), notes.iteration)
        values = [iteration.value for iteration in notes.steps]
        feasible = constraint.project(start)
        first = objective.at(feasible).value + constraint.price(feasible)[0]
        assert (np.diff([first, *values]) <= 1e-12 * abs(first)).all()
        assert np.isfinite(solution.w).all()
        assert_allclose(constraint.project(solution.w), solution.w, atol=1e-12)
        steps += len(values)
    assert steps > 800
