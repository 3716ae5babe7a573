"""Nested sets and the ranking of a path."""

from functools import partial

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from single import Notes, objective_over, problem_on

from covmin.core.constraints import CappedSimplex, SoftBudget
from covmin.core.kernels import KERNELS, Gaussian, Laplacian, Linear, Mixed
from covmin.core.kernels.distances import median_bandwidth
from covmin.core.objectives import InverseFreeObjective
from covmin.core.path import PROBE_WEIGHT, _protected, run_path
from covmin.core.problem import Effort
from covmin.core.rows import Sample
from covmin.core.screening import Found, Protected, Screening
from covmin.core.solver import Steps, minimize
from covmin.core.units import ALWAYS_ON, Units

BUDGETS = [5, 3, 2, 1]
EPSILON = 0.05


@pytest.fixture
def easy():
    """Sixty samples of eight features; the response is a smooth function of 2 and 5."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    Y = (2 * X[:, 2] + np.tanh(X[:, 5]) * X[:, 2] + 2 * X[:, 5])[:, None]
    return X, Y - Y.mean(axis=0)


def soft(*prices):
    return {"constraints": partial(SoftBudget.candidates, prices=prices)}


def free(epsilon=EPSILON):
    return {"objective": partial(InverseFreeObjective, penalty=3.0 / epsilon)}


def make_problem(X, Y, n_components=None, seed=0, xp=np, **options):
    options = {"kernel": Gaussian(), "epsilon": EPSILON, **options}
    p = np.full(X.shape[0], 1 / X.shape[0], dtype=X.dtype)
    sample = Sample(*(xp.asarray(a) for a in (X, Y, p)))
    if n_components is None:
        return problem_on(sample, **options)
    rng = np.random.default_rng(seed)
    frequencies = options["kernel"].draw_frequencies(X.shape[1], n_components, rng)
    return problem_on(sample, frequencies, **options)


# ----------------------------------------------------------------------------------------- path


def assert_well_formed(path, budgets, d):
    """Nested stages of exactly the budgets' sizes, ranked by the order of leaving."""
    assert_array_equal(np.sort(path.order), np.arange(d))
    among = np.arange(d)
    for stage, budget in zip(path.stages, budgets, strict=True):
        assert_array_equal(stage.among, among)
        assert stage.budget == stage.features.size == budget
        assert_array_equal(stage.features, np.sort(path.order[:budget]))
        assert stage.weights.shape == among.shape
        kept = np.isin(among, stage.features)
        assert stage.weights[kept].min() >= stage.weights[~kept].max(initial=0.0)
        among = stage.features


@pytest.mark.parametrize("budgets", [BUDGETS, [8, 1], [8], [2], [1]])
@pytest.mark.parametrize("options", [{}, soft(2.0, 0.5, 0.1)], ids=["hard", "soft"])
def test_path_is_nested_and_ranks_every_feature(easy, budgets, options):
    assert_well_formed(run_path(make_problem(*easy, **options), budgets), budgets, 8)


def test_one_feature(easy):
    X, Y = easy
    assert_well_formed(run_path(make_problem(X[:, :1], Y), [1]), [1], 1)


@pytest.mark.parametrize(
    ("name", "n_components"),
    [
        *((name, None) for name in KERNELS),
        *((name, 200) for name in ("gaussian", "linear", "mixed", "additive")),
    ],
)
@pytest.mark.parametrize("options", [{}, free()], ids=["exact", "inverse-free"])
def test_true_features_come_first_with_every_kernel(easy, name, n_components, options):
    kernel = Mixed(0.5) if name == "mixed" else KERNELS[name]()
    problem = make_problem(*easy, n_components, kernel=kernel, steps=Steps(tol=1e-5), **options)
    path = run_path(problem, BUDGETS)
    assert_well_formed(path, BUDGETS, 8)
    assert set(path.order[:2]) == {2, 5}


def test_budgets_are_of_units():
    X = np.random.default_rng(0).standard_normal((40, 6))
    units = Units(np.array([0, 0, 1, 1, 2, ALWAYS_ON]), np.ones(6) / np.sqrt([2, 2, 2, 2, 1, 1]))
    Y = X[:, 2:3] * X[:, 3:4]
    problem = make_problem(X, Y - Y.mean(), kernel=Mixed(0.2), epsilon=0.01, units=units)
    path = run_path(problem, [2, 1])
    assert_well_formed(path, [2, 1], 3)
    assert path.order[0] == 1


def test_the_criterion_is_that_of_the_weights(easy):
    X, Y = easy
    for stage in run_path(make_problem(X, Y), [3, 1]).stages:
        Z = X[:, stage.among]
        K = naive.kernel_matrix("gaussian", Z, Z, stage.weights, stage.bandwidth)
        assert stage.criterion == pytest.approx(naive.criterion(K, Y, EPSILON), rel=1e-8)


def test_a_draw_of_components_follows_its_columns(easy):
    X, Y = easy
    problem = make_problem(X, Y, 40)
    for stage in run_path(problem, [3, 1]).stages:
        frequencies = problem.frequencies[stage.among]
        U = naive.fourier_components(X[:, stage.among], stage.weights, frequencies, stage.bandwidth)
        assert stage.criterion == pytest.approx(naive.criterion(U @ U.T, Y, EPSILON), rel=1e-8)


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian()])
def test_the_median_bandwidth_is_measured_anew_on_the_survivors(easy, kernel):
    for stage in run_path(make_problem(*easy, kernel=kernel), BUDGETS).stages:
        expected = median_bandwidth(easy[0][:, stage.among], kernel.order)
        assert stage.bandwidth == pytest.approx(expected, rel=1e-12)


def test_a_given_bandwidth_is_used_at_every_stage(easy):
    path = run_path(make_problem(*easy, kernel=Gaussian(2.5)), BUDGETS)
    assert [stage.bandwidth for stage in path.stages] == [2.5] * len(BUDGETS)


def test_criterion_leaves_the_price_out(easy):
    problem = make_problem(*easy, **soft(1.0))
    (stage,) = run_path(problem, [3]).stages
    value = problem.trace(stage.among, stage.weights, stage.bandwidth)
    assert stage.criterion == pytest.approx(value, rel=1e-9)
    assert stage.solution.value == pytest.approx(stage.criterion + stage.weights.sum() - 3)


def test_prices_fall_until_enough_features_are_worth_it(easy):
    X, Y = easy
    prices = [0.05 * 0.25**k * np.mean(Y**2) / EPSILON for k in range(6)]
    problem = make_problem(X, Y, **soft(*prices))
    (few,), (many,) = (run_path(problem, [budget]).stages for budget in (1, 5))
    assert 1 <= np.count_nonzero(few.weights) < np.count_nonzero(many.weights)
    assert np.count_nonzero(many.weights) >= 5


# ------------------------------------------------------------------------------------------- ties


def test_ties_are_broken_by_the_step_of_closing_and_then_by_what_a_feature_adds(easy):
    problem = make_problem(*easy)
    path = run_path(problem, [4])
    (stage,) = path.stages
    objective = objective_over(problem, stage.among, stage.bandwidth, 4)
    slope = objective.at(np.maximum(stage.weights, PROBE_WEIGHT)).gradient()
    keys = np.stack([-stage.weights, -stage.solution.last_active, slope])[:, path.order]
    assert [*keys.T.tolist()] == sorted(keys.T.tolist())
    assert np.unique(keys[:2], axis=1).shape[1] < 8  # there are ties for the slope to break


@pytest.mark.parametrize("n_components", [None, 300])
@pytest.mark.parametrize("seed", range(3))
def test_closed_features_are_ranked_by_what_they_would_add(n_components, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 10))
    Y = X[:, :3] @ [[3.0], [2.0], [1.5]]
    problem = make_problem(X, Y - Y.mean(), n_components, seed, epsilon=0.1)
    path = run_path(problem, [1])
    assert path.order[0] == 0
    assert set(path.order[1:3]) == {1, 2}


def test_inverse_free_ties_are_broken_where_the_solver_stopped():
    """The slopes belong to the α of the solution, not to one that starts again from zero."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 10))
    Y = np.sign(X[:, :1] * X[:, 1:2] * X[:, 2:3])
    Y -= Y.mean()
    # So low a price that the weights end at one, and slopes decide.
    options = {"epsilon": 1e-3, "kernel": Gaussian(2.0), **soft(1e-3), **free(1e-3)}
    problem = make_problem(X, Y, **options)
    path = run_path(problem, [3])
    objective = objective_over(problem, np.arange(10), 2.0)
    solution, weights = path.stages[0].solution, path.stages[0].weights
    tied = np.flatnonzero(weights == 1.0)
    assert tied.size > 6

    def steepest(state):
        slope = objective.at(np.maximum(weights, PROBE_WEIGHT), state).gradient()
        return set(tied[np.argsort(slope[tied])[:3]])

    assert set(path.order[:3]) == steepest(solution.state)
    assert set(path.order[:3]) != steepest(None)


# ----------------------------------------------------------------------------- steps and starts


def test_the_steps_of_a_problem_arrive(easy):
    steps = Steps(max_iter=1, max_step=0.05)
    (stage,) = run_path(make_problem(*easy, steps=steps), [3]).stages
    assert stage.solution.n_iter == 1
    assert not stage.solution.converged
    assert np.abs(stage.weights - 3 / 8).max() <= 1.05 * 0.05 + 1e-9
    loose = run_path(make_problem(*easy, steps=Steps(tol=1e6)), [3]).stages[0]
    assert loose.solution.n_iter == 0


def test_a_stage_starts_from_the_weights_of_the_last_scaled_into_its_budget(easy):
    problem = make_problem(*easy, steps=Steps(max_iter=2))
    first, second = run_path(problem, [4, 2]).stages
    assert_array_equal(second.among, first.features)
    start = first.weights[first.features]
    objective = objective_over(problem, second.among, second.bandwidth, 2)
    weights, length = start * 2 / start.sum(), first.solution.length
    expected = minimize(objective, CappedSimplex(2), weights, problem.steps, length=length)
    assert np.ptp(start) > 0.1
    assert_allclose(second.weights, expected.w, rtol=1e-9)
    untouched = run_path(make_problem(*easy, steps=Steps(max_iter=0)), [4]).stages[0]
    assert_allclose(untouched.weights, 4 / 8)


def few_rows(**changes):
    """Stages on 20 rows of sixty, and all for the stage that is reported."""
    options = {
        "work": 1.0,
        "rows_per_column": 0,
        "share": 1.0,
        "fewest_rows": 20,
        "reported_rows": 60,
    }
    return Effort(**{**options, "matrix_rows": 2000, "looseness": 3.0, **changes})


def test_a_stage_starts_from_the_solution_on_fewer_rows(easy):
    X, Y = easy
    problem = make_problem(X, Y, kernel=Gaussian(3.0), steps=Steps(tol=1e-4), effort=few_rows())
    levels = problem.for_stage(np.arange(8), whole=True)
    assert [level.rows.shape[0] for level in levels] == [20, 60]
    start, length = np.full(8, 3 / 8), None
    for level in levels:
        objective = objective_over(level, np.arange(8), 3.0, 3)
        solution = minimize(objective, CappedSimplex(3), start, level.steps, length=length)
        start, length = solution.w, solution.length
    (stage,) = run_path(problem, [3], wanted=3).stages
    assert_allclose(stage.weights, start, rtol=1e-9)
    assert np.ptp(start) > 0.1


@pytest.mark.parametrize("wanted", [3, 2, 1])
def test_the_stage_that_is_reported_sees_more_rows(easy, wanted):
    problem = make_problem(*easy, kernel=Gaussian(3.0), effort=few_rows())
    path = run_path(problem, [3, 2, 1], wanted=wanted)
    for stage in path.stages:
        rows = problem if stage.budget == wanted else problem.for_stage(stage.among)[0]
        value = rows.trace(stage.among, stage.weights, 3.0)
        assert stage.criterion == pytest.approx(value, rel=1e-9)
        assert stage.n_rows == rows.rows.shape[0]


def test_what_all_rows_speak_for_is_held_where_some_of_them_decide():
    """Single effects too weak for a hundred rows, and clear to four thousand."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 60))
    Y = 0.12 * X[:, :6].sum(axis=1, keepdims=True) + rng.standard_normal((4000, 1))
    options = {"kernel": Mixed(0.3), "epsilon": 0.01, "effort": few_rows(fewest_rows=100)}
    problem = make_problem(X, Y - Y.mean(), 16, **options)
    singles = Screening.of(X, Y, np.full(4000, 1 / 4000), np.arange(60)).singles
    assert set(singles) == set(range(6))
    for size, n_found in ((20, 6), (6, 6), (4, 4)):  # they may fill it
        (stage,) = run_path(problem, [size], Protected(alone=singles)).stages
        assert np.isin(stage.features, range(6)).sum() == n_found
        first = singles[:n_found]
        assert_array_equal(stage.order[:n_found], first)  # the strongest first
    (stage,) = run_path(problem, [20]).stages
    assert np.isin(stage.features, range(6)).sum() < 6


@pytest.mark.parametrize("n_components", [None, 50])
def test_single_precision(easy, n_components):
    double = run_path(make_problem(*easy, n_components), BUDGETS)
    single = run_path(make_problem(*(a.astype("float32") for a in easy), n_components), BUDGETS)
    assert_array_equal(single.order[:2], double.order[:2])
    assert_allclose(single.stages[0].weights, double.stages[0].weights, atol=0.02)


@pytest.mark.parametrize(
    ("kernel", "n_components"),
    [(Gaussian(), None), (Laplacian(), None), (Gaussian(), 50), (Linear(), 50)],
)
@pytest.mark.parametrize("objective", [{}, free()], ids=["exact", "inverse-free"])
@pytest.mark.parametrize("constraint", [{}, soft(2.0, 0.5, 0.1)], ids=["hard", "soft"])
def test_array_libraries_agree(easy, xp, kernel, n_components, objective, constraint):
    options = {"kernel": kernel, **objective, **constraint}
    expected = run_path(make_problem(*easy, n_components, **options), [4, 2])
    path = run_path(make_problem(*easy, n_components, xp=xp, **options), [4, 2])
    assert_array_equal(path.order, expected.order)
    for stage, other in zip(path.stages, expected.stages, strict=True):
        assert_allclose(stage.weights, other.weights, atol=1e-4)
        assert stage.criterion == pytest.approx(other.criterion, rel=1e-5)


# ------------------------------------------------------------------------------------------ watch


def test_a_watch_is_told_of_every_step_of_every_stage(easy):
    notes = Notes()
    path = run_path(make_problem(*easy), BUDGETS, watch=notes)
    assert {progress.n_stages for progress in notes.seen} == {len(BUDGETS)}
    for number, stage in enumerate(path.stages):
        steps = [progress for progress in notes.seen if progress.stage == number]
        assert [step.iteration.n_iter for step in steps] == [*range(1, stage.solution.n_iter + 1)]
        assert all(step.budget == stage.budget for step in steps)
        assert not steps or steps[-1].iteration.value == stage.solution.value
    assert [number for number, _ in notes.done] == [0, 1, 2, 3]
    assert [stage for _, stage in notes.done] == path.stages


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_a_path_that_is_stopped_ranks_every_feature(easy, share):
    problem = make_problem(*easy)
    whole = run_path(problem, BUDGETS)
    notes = Notes(most=int(share * sum(stage.solution.n_iter for stage in whole.stages)))
    path = run_path(problem, BUDGETS, watch=notes)
    n_stages = len(path.stages)
    assert_well_formed(path, BUDGETS[:n_stages], 8)
    assert len(notes.seen) == notes.most
    # Stages that were done are those of the whole path; the one it was stopped in is not told.
    assert [number for number, _ in notes.done] == [*range(n_stages - 1)]
    for stage, expected in zip(path.stages[:-1], whole.stages, strict=False):
        assert_array_equal(stage.weights, expected.weights)
    assert n_stages == len(BUDGETS) or share < 1.0


def test_a_path_goes_on_from_finished_stages(easy):
    problem, notes = make_problem(*easy), Notes()
    whole = run_path(problem, BUDGETS, watch=notes)
    for n_done in range(len(BUDGETS) + 1):
        finished = [stage for _, stage in notes.done[:n_done]]
        again = Notes(finished=finished)
        path = run_path(problem, BUDGETS, watch=again)
        assert_array_equal(path.order, whole.order)
        assert_array_equal(path.stages[-1].weights, whole.stages[-1].weights)
        assert [number for number, _ in again.done] == [*range(n_done, len(BUDGETS))]


@pytest.mark.parametrize("wanted", range(1, 9))
def test_a_budget_that_is_wanted_is_solved_beside_the_path(easy, wanted):
    """It says which features come first; among these, and after them, the path goes on as it is."""
    problem = make_problem(*easy)
    plain, path = run_path(problem, BUDGETS), run_path(problem, BUDGETS, wanted=wanted)
    budgets = sorted({*BUDGETS, wanted}, reverse=True)
    assert [stage.budget for stage in path.stages] == budgets
    stages = {stage.budget: stage for stage in path.stages}
    for stage in plain.stages:
        assert_array_equal(stages[stage.budget].weights, stage.weights)
    kept = stages[wanted].features
    assert set(path.order[:wanted]) == set(kept)
    is_first = np.isin(plain.order, kept)
    assert_array_equal(path.order, [*plain.order[is_first], *plain.order[~is_first]])


def test_a_path_that_is_stopped_at_the_budget_beside_it(easy):
    problem = make_problem(*easy)
    for most in range(1, 40):
        path = run_path(problem, BUDGETS, watch=Notes(most=most), wanted=7)
        assert_array_equal(np.sort(path.order), np.arange(8))


def test_nothing_is_held_unless_asked_for(easy):
    assert run_path(make_problem(*easy), BUDGETS).protected.interactions.members_within().size == 0


def test_features_that_are_held_may_be_as_many_as_the_first_budget_has_room_for(easy):
    """One less than it, so that something is left to choose."""
    every = np.arange(8).reshape(4, 2)
    protected = Protected(Found(every, every, np.full(4, 0.5), np.full(4, 0.01), 60.0), above=0.0)
    path = run_path(make_problem(*easy), [5, 1], protected)
    assert [stage.budget for stage in path.stages] == [5, 1]
    assert {0, 1, 2, 3} <= set(path.stages[0].features)
    assert_array_equal(np.sort(path.order), np.arange(8))


def test_nothing_is_held_where_there_is_no_room_for_the_interactions(easy):
    """Neither their members, nor others that act by the spread."""
    pairs, alone = np.array([[0, 1], [3, 4]]), np.array([[6], [7]])
    interactions, spread = (
        Found(each, each, np.full(2, 0.5), np.full(2, 0.01), 60.0) for each in (pairs, alone)
    )
    protected = Protected(interactions, spread, above=0.0)
    problem, members = make_problem(*easy), pairs.ravel()
    held = (_protected(problem, protected, members, np.arange(8), m) for m in (6, 5, 4, 3))
    assert [sorted(each) for each in held] == [[0, 1, 3, 4, 6], [0, 1, 3, 4], [], []]
