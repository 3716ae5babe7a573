"""Budgets, nested sets and the ranking of a path."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from covmin.core.constraints import CappedSimplex, SoftBudget
from covmin.core.grams import ExactGram, FourierGram
from covmin.core.kernels import KERNELS, median_bandwidth
from covmin.core.objectives import InverseFreeObjective, TraceObjective
from covmin.core.path import CRACK, default_budgets, run_path
from covmin.core.problem import Formulation, Problem
from covmin.core.solver import minimize

BUDGETS = [5, 3, 2, 1]


@pytest.fixture
def easy():
    """Sixty samples of eight features; the response is a smooth function of 2 and 5."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    Y = (2 * X[:, 2] + np.tanh(X[:, 5]) * X[:, 2] + 2 * X[:, 5])[:, None]
    return X, Y - Y.mean(axis=0)


def make_problem(X, Y, n_components=None, seed=0, **formulation):
    formulation = Formulation(**{"epsilon": 0.05, **formulation})
    frequencies = None
    if n_components is not None:
        rng = np.random.default_rng(seed)
        frequencies = formulation.kernel_at(1.0).draw_frequencies(X.shape[1], n_components, rng)
    p = np.full(X.shape[0], 1 / X.shape[0], dtype=X.dtype)
    return Problem(X, Y, p, formulation, frequencies, seed)


# -------------------------------------------------------------------------------------- budgets


@st.composite
def sizes(draw):
    d = draw(st.integers(1, 20_000))
    return d, draw(st.none() | st.integers(1, d))


@given(sizes())
def test_default_budgets(size):
    d, m = size
    budgets = default_budgets(d, m)
    assert (np.diff(budgets) < 0).all()
    assert budgets[0] <= d
    assert budgets[-1] == 1
    assert m is None or m in budgets
    assert budgets[0] <= max(100, m or 0)
    assert len(budgets) < 25


# ------------------------------------------------------------------------------------- problems


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("inverse_free", [False, True])
@pytest.mark.parametrize("n_components", [None, 10])
def test_three_switches_choose_three_classes(easy, soft, inverse_free, n_components):
    problem = make_problem(*easy, n_components, soft=soft, inverse_free=inverse_free)
    gram = problem.gram(np.arange(8), 1.5)
    assert isinstance(gram, FourierGram if n_components else ExactGram)
    objective = problem.objective(gram)
    assert isinstance(objective, InverseFreeObjective if inverse_free else TraceObjective)
    kinds = {type(constraint) for constraint in problem.constraints(3)}
    assert kinds == {SoftBudget if soft else CappedSimplex}


def test_the_numbers_of_a_formulation_arrive(easy):
    given_ = make_problem(*easy, soft=True, lambda1=7.0, inverse_free=True, lambda2=2.0)
    gram = given_.gram(np.arange(8), 1.5)
    assert given_.constraints(3) == [SoftBudget(3, price=7.0)]
    assert given_.objective(gram).penalty == 60 * 2.0  # n·λ₂
    assert given_.objective(gram).epsilon == 0.05
    assert gram.kernel == KERNELS["gaussian"](1.5)


def test_defaults_follow_the_scale_of_the_problem(easy):
    X, Y = easy

    def default(epsilon=0.05, scale=1.0):
        problem = make_problem(X, scale * Y, soft=True, inverse_free=True, epsilon=epsilon)
        prices = [constraint.price for constraint in problem.constraints(3)]
        return prices, problem.objective(problem.gram(np.arange(8), 1.5)).penalty

    prices, penalty = default()
    # λ₁ is a share of the criterion of no feature, ⟨Y, Y⟩/ε; λ₂ is above 1/(2nε).
    assert 0.0 < prices[-1] < prices[0] < np.mean(Y**2) / 0.05
    assert (np.diff(prices) < 0).all()
    assert_allclose(default(scale=3.0)[0], 9 * np.array(prices))
    assert_allclose(default(epsilon=0.1)[0], np.array(prices) / 2)
    assert penalty >= 0.5 / 0.05
    assert default(epsilon=0.1)[1] == pytest.approx(penalty / 2)


def test_the_default_price_falls_until_enough_features_are_worth_it(easy):
    problem = make_problem(*easy, soft=True)
    (few,), (many,) = (run_path(problem, [budget]).stages for budget in (1, 5))
    assert 1 <= np.count_nonzero(few.weights) < np.count_nonzero(many.weights)
    assert np.count_nonzero(many.weights) >= 5


def test_kernel_parameters_arrive(easy):
    problem = make_problem(*easy, kernel="polynomial", kernel_params={"degree": 2, "coef0": 3.0})
    kernel = problem.gram(np.arange(8), 1.5).kernel
    assert kernel == KERNELS["polynomial"](1.5, degree=2, coef0=3.0)


def test_a_given_bandwidth_is_used_at_every_stage(easy):
    path = run_path(make_problem(*easy, bandwidth=2.5), BUDGETS)
    assert [stage.bandwidth for stage in path.stages] == [2.5] * len(BUDGETS)


def test_a_bandwidth_from_numpy_does_not_change_the_precision(easy):
    X, Y = (a.astype("float32") for a in easy)
    problem = make_problem(X, Y, bandwidth=np.float64(2.5))
    columns = np.arange(8)
    K, _ = problem.gram(columns, problem.bandwidth(columns)).kernel.matrix_and_pullback(
        X, np.ones(8, dtype="float32")
    )
    assert K.dtype == "float32"


@pytest.mark.parametrize(("kernel", "order"), [("gaussian", 2), ("laplacian", 1)])
def test_the_median_bandwidth_is_measured_anew_on_the_survivors(easy, kernel, order):
    for stage in run_path(make_problem(*easy, kernel=kernel), BUDGETS).stages:
        rng = np.random.default_rng(0)
        expected = median_bandwidth(easy[0][:, stage.columns], order, rng)
        assert stage.bandwidth == pytest.approx(expected, rel=1e-12)


# ----------------------------------------------------------------------------------------- path


def assert_well_formed(path, budgets, d):
    """Nested stages of exactly the budgets' sizes, ranked by the order of leaving."""
    assert_array_equal(np.sort(path.order), np.arange(d))
    columns = np.arange(d)
    for stage, budget in zip(path.stages, budgets, strict=True):
        assert_array_equal(stage.columns, columns)
        assert stage.budget == stage.features.size == budget
        assert_array_equal(stage.features, np.sort(path.order[:budget]))
        assert stage.weights.shape == columns.shape
        kept = np.isin(columns, stage.features)
        assert stage.weights[kept].min() >= stage.weights[~kept].max(initial=0.0)
        columns = stage.features


@pytest.mark.parametrize("budgets", [BUDGETS, [8, 1], [8], [2], [1]])
@pytest.mark.parametrize("soft", [False, True])
def test_path_is_nested_and_ranks_every_feature(easy, budgets, soft):
    assert_well_formed(run_path(make_problem(*easy, soft=soft), budgets), budgets, 8)


def test_one_feature(easy):
    X, Y = easy
    assert_well_formed(run_path(make_problem(X[:, :1], Y), [1]), [1], 1)


@pytest.mark.parametrize(
    ("kernel", "n_components"),
    [*((name, None) for name in KERNELS), ("gaussian", 200), ("linear", 200)],
)
@pytest.mark.parametrize("inverse_free", [False, True])
def test_true_features_come_first_with_every_kernel(easy, kernel, n_components, inverse_free):
    problem = make_problem(*easy, n_components, kernel=kernel, inverse_free=inverse_free, tol=1e-5)
    path = run_path(problem, BUDGETS)
    assert_well_formed(path, BUDGETS, 8)
    assert set(path.order[:2]) == {2, 5}


def test_polynomial_has_no_random_features(easy):
    with pytest.raises(ValueError, match=r"polynomial .*approximation=None"):
        make_problem(*easy, 200, kernel="polynomial")


def test_criterion_and_loo_error_are_those_of_the_weights(easy):
    X, Y = easy
    p = np.full(60, 1 / 60)
    for stage in run_path(make_problem(X, Y), [3, 1]).stages:
        Z = X[:, stage.columns]
        K = naive.kernel_matrix("gaussian", Z, Z, stage.weights, stage.bandwidth)
        assert stage.criterion == pytest.approx(naive.criterion(K, Y, 0.05), rel=1e-8)
        assert stage.loo_error == pytest.approx(naive.leave_one_out(K, Y, p, 0.05), rel=1e-6)


def test_a_draw_of_features_follows_its_columns(easy):
    X, Y = easy
    problem = make_problem(X, Y, 40)
    for stage in run_path(problem, [3, 1]).stages:
        frequencies = problem.frequencies[stage.columns]
        U = naive.fourier_features(X[:, stage.columns], stage.weights, frequencies, stage.bandwidth)
        assert stage.criterion == pytest.approx(naive.criterion(U @ U.T, Y, 0.05), rel=1e-8)


def test_criterion_leaves_the_price_out(easy):
    problem = make_problem(*easy, soft=True, lambda1=1.0)
    (stage,) = run_path(problem, [3]).stages
    objective = problem.objective(problem.gram(stage.columns, stage.bandwidth))
    assert stage.criterion == pytest.approx(objective.at(stage.weights).value, rel=1e-9)
    assert stage.solution.value == pytest.approx(stage.criterion + stage.weights.sum() - 3)


def test_ties_are_broken_by_the_step_of_closing_and_then_by_what_a_feature_adds(easy):
    problem = make_problem(*easy)
    path = run_path(problem, [4])
    (stage,) = path.stages
    objective = problem.objective(problem.gram(stage.columns, stage.bandwidth))
    slope = objective.at(np.maximum(stage.weights, 1e-4)).gradient()
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
    options = {"epsilon": 1e-3, "soft": True, "lambda1": 1e-3, "bandwidth": 2.0}
    problem = make_problem(X, Y, inverse_free=True, **options)
    path = run_path(problem, [3])
    objective = problem.objective(problem.gram(np.arange(10), 2.0))
    solution, weights = path.stages[0].solution, path.stages[0].weights
    tied = np.flatnonzero(weights == 1.0)
    assert tied.size > 6

    def steepest(state):
        slope = objective.at(np.maximum(weights, CRACK), state).gradient()
        return set(tied[np.argsort(slope[tied])[:3]])

    assert set(path.order[:3]) == steepest(solution.state)
    assert set(path.order[:3]) != steepest(None)


def test_the_callback_sees_every_step_of_every_stage(easy):
    seen = []
    path = run_path(make_problem(*easy), BUDGETS, seen.append)
    assert {progress.n_stages for progress in seen} == {len(BUDGETS)}
    for number, stage in enumerate(path.stages):
        steps = [progress for progress in seen if progress.stage == number]
        assert [step.iteration.n_iter for step in steps] == [*range(1, stage.solution.n_iter + 1)]
        assert all(step.budget == stage.budget for step in steps)
        assert not steps or steps[-1].iteration.value == stage.solution.value


def test_solver_options_arrive(easy):
    (stage,) = run_path(make_problem(*easy, max_iter=1, max_step=0.05), [3]).stages
    assert stage.solution.n_iter == 1
    assert not stage.solution.converged
    assert np.abs(stage.weights - 3 / 8).max() <= 1.05 * 0.05 + 1e-9
    loose = run_path(make_problem(*easy, tol=1e6), [3]).stages[0]
    assert loose.solution.n_iter == 0


def test_a_stage_starts_from_the_weights_of_the_last_scaled_into_its_budget(easy):
    problem = make_problem(*easy, max_iter=2)
    first, second = run_path(problem, [4, 2]).stages
    assert_array_equal(second.columns, first.features)
    start = first.weights[first.features]
    gram = problem.gram(second.columns, second.bandwidth, 2)
    expected = minimize(
        problem.objective(gram), CappedSimplex(2), start * 2 / start.sum(), max_iter=2
    )
    assert np.ptp(start) > 0.1
    assert_allclose(second.weights, expected.w, rtol=1e-9)
    untouched = run_path(make_problem(*easy, max_iter=0), [4]).stages[0]
    assert_allclose(untouched.weights, 4 / 8)


def test_same_data_same_path(easy):
    first, again = (run_path(make_problem(*easy, n_components=30), BUDGETS) for _ in range(2))
    assert_array_equal(first.order, again.order)
    assert_array_equal(first.stages[0].weights, again.stages[0].weights)


def test_permuted_columns_permute_the_ranking(easy):
    X, Y = easy
    columns = np.random.default_rng(3).permutation(8)
    straight = run_path(make_problem(X, Y), BUDGETS).order
    permuted = run_path(make_problem(X[:, columns], Y), BUDGETS).order
    assert_array_equal(columns[permuted], straight)


def test_the_data_are_not_modified(easy):
    X, Y = (a.copy() for a in easy)
    for inverse_free in (False, True):
        run_path(make_problem(X, Y, inverse_free=inverse_free), BUDGETS)
        run_path(make_problem(X, Y, 20, inverse_free=inverse_free), BUDGETS)
    assert_array_equal(X, easy[0])
    assert_array_equal(Y, easy[1])


@pytest.mark.parametrize("n_components", [None, 50])
def test_single_precision(easy, n_components):
    double = run_path(make_problem(*easy, n_components), BUDGETS)
    single = run_path(make_problem(*(a.astype("float32") for a in easy), n_components), BUDGETS)
    assert_array_equal(single.order[:2], double.order[:2])
    assert_allclose(single.stages[0].weights, double.stages[0].weights, atol=0.02)
    assert single.stages[0].loo_error == pytest.approx(double.stages[0].loo_error, rel=1e-2)


@pytest.mark.parametrize(
    ("kernel", "n_components"),
    [("gaussian", None), ("laplacian", None), ("gaussian", 50), ("linear", 50)],
)
@pytest.mark.parametrize("inverse_free", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_array_libraries_agree(easy, xp, kernel, n_components, inverse_free, soft):
    switches = {"inverse_free": inverse_free, "soft": soft}
    problem = make_problem(*easy, n_components, kernel=kernel, **switches)
    expected = run_path(problem, [4, 2])
    X, Y, p = (xp.asarray(a) for a in (problem.X, problem.Y, problem.p))
    path = run_path(Problem(X, Y, p, problem.formulation, problem.frequencies), [4, 2])
    assert_array_equal(path.order, expected.order)
    for stage, other in zip(path.stages, expected.stages, strict=True):
        assert_allclose(stage.weights, other.weights, atol=1e-4)
        assert stage.criterion == pytest.approx(other.criterion, rel=1e-5)
        assert stage.loo_error == pytest.approx(other.loo_error, rel=1e-4)
