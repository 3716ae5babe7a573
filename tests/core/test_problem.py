"""What a problem hands to a solve: bandwidths, kernels, operators, and its sketch and screen."""

from functools import partial

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin.core.constraints import CappedSimplex, SoftBudget
from covmin.core.grams import ExactGram, FourierGram
from covmin.core.kernels import (
    Additive,
    Gaussian,
    Laplacian,
    Linear,
    Mixed,
    Polynomial,
    RationalQuadratic,
    Sum,
    WaveSum,
)
from covmin.core.kernels.bandwidth import MEDIAN_ROWS, median_bandwidth, of_the_kept
from covmin.core.objectives import InverseFreeObjective, TraceObjective
from covmin.core.problem import Problem, Sample, Screen
from covmin.core.rows import ArrayRows
from covmin.core.solver import Steps
from covmin.core.units import ALWAYS_ON, Units

EPSILON = 0.05
EVERY = np.arange(6)
GROUPS = Units(np.array([0, 0, 1, 1, 2, ALWAYS_ON]), np.sqrt([0.5, 0.5, 0.5, 0.5, 1.0, 1.0]))


@pytest.fixture
def sample(draw):
    s = draw(n=40, d=6, k=1, weighted=True)
    return Sample(s.X, s.Y, s.p)


@pytest.fixture
def frequencies():
    return Gaussian().draw_frequencies(6, 30, np.random.default_rng(0))


def exact(sample, kernel=None, **options):
    options = {"kernel": kernel or Gaussian(), "epsilon": EPSILON, **options}
    return Problem.exact(sample, **options)


def fourier(sample, frequencies, kernel=None, **options):
    options = {"kernel": kernel or Gaussian(), "epsilon": EPSILON, **options}
    return Problem.fourier(sample, frequencies, **options)


# -------------------------------------------------------------------------------------- samples


def test_the_first_of_a_sample_have_weights_and_responses_for_themselves(sample, xp):
    few = Sample(*(xp.asarray(a) for a in (sample.X, sample.Y, sample.p))).first(3)
    p = sample.p[:3] / sample.p[:3].sum()
    assert_array_equal(np.asarray(few.X), sample.X[:3])
    assert_allclose(np.asarray(few.p), p, rtol=1e-12)
    assert_allclose(np.asarray(few.Y), sample.Y[:3] - p @ sample.Y[:3], rtol=1e-12)
    assert few.n_rows == 3
    assert few.first(4) is few


def test_the_first_rows_set_the_bandwidth(draw):
    s = draw(n=MEDIAN_ROWS + 500, d=2, k=1)
    sigma = exact(Sample(s.X, s.Y, s.p)).bandwidth(np.arange(2))
    assert sigma == median_bandwidth(s.X[:MEDIAN_ROWS], 2)


# ----------------------------------------------------------------------------------- bandwidths


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(), Polynomial(), Mixed(), Additive()])
def test_the_median_rule_on_the_columns_of_a_stage(sample, kernel):
    features = np.array([4, 1])
    expected = median_bandwidth(sample.X[:, [1, 4]], kernel.order, sample.p)
    assert exact(sample, kernel).bandwidth(features) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(2.5), Laplacian(2.5), Mixed(0.5, bandwidth=2.5)])
def test_a_given_bandwidth_is_used_as_it_is(sample, kernel):
    assert exact(sample, kernel).bandwidth(EVERY) == 2.5
    assert exact(sample, kernel, summed=of_the_kept).bandwidth(EVERY, 2) == 2.5


def test_a_linear_kernel_has_no_scale(sample):
    assert exact(sample, Linear()).bandwidth(EVERY) == 1.0


@pytest.mark.parametrize(("kernel", "order"), [(Gaussian(), 2), (Laplacian(), 1)])
def test_the_rule_may_stand_for_the_features_kept(sample, kernel, order):
    """Squared distances add up over features, absolute ones too."""
    whole = exact(sample, kernel).bandwidth(EVERY, 2)
    kept = exact(sample, kernel, summed=of_the_kept).bandwidth(EVERY, 2)
    assert whole == exact(sample, kernel).bandwidth(EVERY)
    assert kept == pytest.approx(whole * (2 / 6) ** (1 / order))


def test_columns_of_units_are_scaled_before_they_are_measured(sample):
    problem = exact(sample, units=GROUPS)
    columns = [0, 1, 4, 5]  # those of units 0 and 2, and that which is always on
    X = sample.X[:, columns] * GROUPS.scale[columns]
    expected = median_bandwidth(X, 2, sample.p)
    assert problem.bandwidth(np.array([0, 2])) == pytest.approx(expected, rel=1e-12)
    # Three features amount to their squared scales; the one always on stays among those kept.
    kept = problem.replaced(summed=of_the_kept).bandwidth(np.array([0, 2]), 1)
    assert kept == pytest.approx(expected * np.sqrt(2 / 3))


def test_a_bandwidth_from_numpy_does_not_change_the_precision(sample):
    single = Sample(*(a.astype("float32") for a in (sample.X, sample.Y, sample.p)))
    problem = exact(single, Gaussian(np.float64(2.5)))
    gram = problem.gram(EVERY, problem.bandwidth(EVERY))
    K, _ = gram.kernel.matrix_and_pullback(gram.prepared, np.ones(6, dtype="float32"))
    assert K.dtype == "float32"


# -------------------------------------------------------------------------------- kernel and gram


def test_both_ways_to_a_gram(sample, frequencies):
    assert isinstance(exact(sample).gram(EVERY, 1.5), ExactGram)
    assert isinstance(fourier(sample, frequencies).gram(EVERY, 1.5), FourierGram)


@pytest.mark.parametrize(
    ("kernel", "at_scale"),
    [
        (Gaussian(), Gaussian(1.5)),
        (Laplacian(), Laplacian(1.5)),
        (Linear(), Linear()),
        (
            Polynomial(degree=2, coef0=3.0),
            Polynomial(degree=2, coef0=3.0, bandwidth=1.5),
        ),
        (Additive(), Sum(((1.0, WaveSum(1.5 / np.sqrt(6), 2.0)),))),
        (
            Mixed(0.4),
            Sum(((0.6, RationalQuadratic(bandwidth=1.5)), (0.4, WaveSum(1.5 / np.sqrt(6), 2.0)))),
        ),
    ],
)
def test_the_kernel_of_a_stage(sample, kernel, at_scale):
    """With its own parameters, at the bandwidth and for the budget of the stage."""
    assert exact(sample, kernel).gram(EVERY, 1.5, budget=2).kernel == at_scale


def test_the_kernel_is_that_of_the_stage_and_not_of_the_columns_asked_for(sample):
    """The criterion of some features is measured with the kernel that chose them."""
    problem = exact(sample, Mixed(0.4))
    whole = problem.gram(EVERY, 1.5, 2).kernel
    assert problem.gram(np.array([0, 3]), 1.5, 2, among=EVERY).kernel == whole
    assert problem.gram(np.array([0, 3]), 1.5, 2).kernel != whole


def test_the_share_stays_as_features_leave(sample):
    problem = exact(sample, Mixed(0.2))
    stages = [problem.gram(np.arange(size), 1.0, budget=1).kernel for size in (6, 4, 2)]
    assert [stage.terms[1][0] for stage in stages] == [0.2] * 3
    assert_allclose([stage.terms[1][1].scale for stage in stages], [6**-0.5, 4**-0.5, 2**-0.5])


@pytest.mark.parametrize(
    ("kernel", "n_columns", "n_waves"),
    [(Mixed(0.5), 100, 8), (Mixed(0.5), 600, 2), (Additive(), 600, 4)],
)
def test_many_columns_have_fewer_waves_each(kernel, n_columns, n_waves):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, n_columns)), rng.standard_normal((20, 1))
    problem = exact(Sample(X, Y - Y.mean(), np.full(20, 0.05)), kernel)
    features = np.arange(n_columns)
    for some in (features, features[:3]):
        stage = problem.gram(some, 1.0, 2, among=features).kernel
        assert stage.terms[-1][1].n_waves == n_waves


@pytest.mark.parametrize("kind", ["exact", "fourier"])
def test_operator_and_trace_by_the_naive_formulas(draw, frequencies, kind):
    """Of units, with the weights of some of them."""
    s = draw(n=30, d=6, k=2)
    sample = Sample(s.X, s.Y, s.p)
    problem = exact(sample, units=GROUPS) if kind == "exact" else None
    if problem is None:
        problem = fourier(sample, frequencies, units=GROUPS)
    features, columns = np.array([0, 2]), [0, 1, 4, 5]
    w = np.array([0.8, 0.8, 0.3, 1.0]) * GROUPS.scale[columns]
    X = s.X[:, columns]
    if kind == "exact":
        K = naive.kernel_matrix("gaussian", X, X, w, 1.7)
    else:
        U = naive.fourier_components(X, w, frequencies[columns], 1.7)
        K = U @ U.T
    weights = np.array([0.8, 0.3])
    trace = problem.trace(features, weights, 1.7)
    assert trace == pytest.approx(naive.criterion(K, s.Y, EPSILON), rel=1e-8)
    operator = problem.operator(features, weights, 1.7)
    error = naive.leave_one_out(K, s.Y, s.p, EPSILON)
    assert operator.leave_one_out(EPSILON) == pytest.approx(error, rel=1e-6)
    by_rule = problem.operator(features, weights)
    same = problem.operator(features, weights, problem.bandwidth(features))
    assert by_rule.leave_one_out(EPSILON) == same.leave_one_out(EPSILON)


def test_the_trace_is_the_criterion_whatever_the_objective(sample):
    free = exact(sample, objective=partial(InverseFreeObjective, penalty=3 / EPSILON))
    weights = np.full(6, 0.5)
    assert free.trace(EVERY, weights, 1.5) == exact(sample).trace(EVERY, weights, 1.5)
    assert isinstance(free.objective_over(EVERY, free.gram(EVERY, 1.5)), InverseFreeObjective)


def test_objectives_are_over_the_units_of_a_stage(sample):
    problem = exact(sample, units=GROUPS)
    some = np.array([0, 2])
    objective = problem.objective_over(some, problem.gram(some, 1.5))
    assert isinstance(objective, TraceObjective)
    assert objective.epsilon == EPSILON
    assert objective.at(np.array([0.8, 0.3])).value == pytest.approx(
        problem.trace(some, np.array([0.8, 0.3]), 1.5), rel=1e-12
    )
    assert problem.n_features == 3


def test_units_are_single_columns_unless_given(sample, frequencies):
    for problem in (exact(sample), fourier(sample, frequencies)):
        assert problem.n_features == 6
        assert problem.constraints(3) == [CappedSimplex(3)]


def test_rows_may_be_others_than_the_sample(sample, frequencies, draw):
    s = draw(n=100, d=6, k=1, seed=3)
    problem = fourier(sample, frequencies, rows=ArrayRows(s.X, s.Y, s.p))
    whole = fourier(Sample(s.X, s.Y, s.p), frequencies)
    assert problem.bandwidth(EVERY) == fourier(sample, frequencies).bandwidth(EVERY)
    weights = np.full(6, 0.5)
    assert problem.trace(EVERY, weights, 1.5) == whole.trace(EVERY, weights, 1.5)


# ------------------------------------------------------------------------------ sketch and screen


@pytest.fixture
def whole(sample, frequencies):
    """A problem with a sketch and a screen, both on some of the rows."""
    few = sample.first(20)
    screen = Screen(exact(few, Mixed(0.4)), most_columns=3, single_share=0.5)
    sketch = fourier(few, frequencies, Mixed(0.4), screen=screen)
    return fourier(sample, frequencies, Mixed(0.4), sketch=sketch, screen=screen)


def parts(problem):
    return [problem, problem.sketch, problem.screen.problem, problem.sketch.screen.problem]


def test_replaced_reaches_the_sketch_and_the_screen(whole):
    constraints = partial(SoftBudget.candidates, prices=[0.5])
    changes = {
        "kernel": Gaussian(2.0),
        "epsilon": 0.5,
        "units": GROUPS,
        "objective": partial(InverseFreeObjective, penalty=1.0),
        "constraints": constraints,
        "steps": Steps(max_iter=3),
        "summed": of_the_kept,
    }
    other = whole.replaced(**changes)
    for part, before in zip(parts(other), parts(whole), strict=True):
        for name, value in changes.items():
            assert getattr(part, name) is value
        assert part.sample is before.sample
        assert part.grams is before.grams
        assert before.kernel == Mixed(0.4)  # the problem itself is as it was
    assert other.screen.most_columns == 3


def test_units_are_switched_on_everywhere(whole):
    other = whole.switched_on(np.array([1, 4]))
    for part in parts(other):
        assert_array_equal(part.units.of_column, [0, ALWAYS_ON, 2, 3, ALWAYS_ON, 5])


def test_the_screen_decides_among_many_columns_and_the_problem_among_few(whole):
    screen = whole.screen.problem
    for size, who in ((6, screen), (4, screen), (3, whole)):
        features = np.arange(size)
        assert isinstance(whole.gram(features, 1.5), ExactGram if who is screen else FourierGram)
        assert whole.bandwidth(features) == who.bandwidth(features)
        weights = np.full(size, 0.5)
        value = who.replaced(kernel=whole.kernel).trace(features, weights, 1.5)
        alone = Problem(who.sample, who.grams, whole.kernel, EPSILON, whole.units)
        assert whole.trace(features, weights, 1.5) == pytest.approx(value, rel=1e-12)
        assert value == pytest.approx(alone.trace(features, weights, 1.5), rel=1e-12)


def test_columns_that_are_always_on_count_for_the_screen(whole):
    on = whole.switched_on(np.array([0, 1]))
    assert isinstance(on.gram(np.array([2]), 1.5), FourierGram)
    assert isinstance(on.gram(np.array([2, 3]), 1.5), ExactGram)
