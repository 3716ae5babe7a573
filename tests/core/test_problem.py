"""What a problem hands to a solve: bandwidths, kernels, operators, and itself on fewer rows."""

from dataclasses import replace
from functools import partial

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from single import objective_over, problem_on

from covmin.core.constraints import CappedSimplex
from covmin.core.grams import ExactGram, FourierGram
from covmin.core.kernels import (
    Additive,
    Gaussian,
    Laplacian,
    Linear,
    Mixed,
    Polynomial,
    RationalQuadratic,
)
from covmin.core.kernels.additive import WaveSum
from covmin.core.kernels.distances import MEDIAN_ROWS, median_bandwidth
from covmin.core.objectives import InverseFreeObjective, TraceObjective
from covmin.core.problem import Effort
from covmin.core.rows import Sample
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
    return problem_on(sample, **options)


def fourier(sample, frequencies, kernel=None, **options):
    options = {"kernel": kernel or Gaussian(), "epsilon": EPSILON, **options}
    return problem_on(sample, frequencies, **options)


# -------------------------------------------------------------------------------------- samples


def test_the_first_of_a_sample_have_weights_and_responses_for_themselves(sample, xp):
    few = Sample(*(xp.asarray(a) for a in (sample.X, sample.Y, sample.p))).first(3)
    p = sample.p[:3] / sample.p[:3].sum()
    assert_array_equal(np.asarray(few.X), sample.X[:3])
    assert_allclose(np.asarray(few.p), p, rtol=1e-12)
    assert_allclose(np.asarray(few.Y), sample.Y[:3] - p @ sample.Y[:3], rtol=1e-12)
    assert few.shape[0] == 3
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
    assert exact(sample, kernel, for_kept=True).bandwidth(EVERY, 2) == 2.5


def test_a_linear_kernel_has_no_scale(sample):
    assert exact(sample, Linear()).bandwidth(EVERY) == 1.0


@pytest.mark.parametrize(("kernel", "order"), [(Gaussian(), 2), (Laplacian(), 1)])
def test_the_rule_may_stand_for_the_features_kept(sample, kernel, order):
    """Squared distances add up over features, absolute ones too."""
    whole = exact(sample, kernel).bandwidth(EVERY, 2)
    kept = exact(sample, kernel, for_kept=True).bandwidth(EVERY, 2)
    assert whole == exact(sample, kernel).bandwidth(EVERY)
    assert kept == pytest.approx(whole * (2 / 6) ** (1 / order))


def test_columns_of_units_are_scaled_before_they_are_measured(sample):
    problem = exact(sample, units=GROUPS)
    columns = [0, 1, 4, 5]  # those of units 0 and 2, and that which is always on
    X = sample.X[:, columns] * GROUPS.scale[columns]
    expected = median_bandwidth(X, 2, sample.p)
    assert problem.bandwidth(np.array([0, 2])) == pytest.approx(expected, rel=1e-12)
    # Three features amount to their squared scales; the one always on stays among those kept.
    kept = replace(problem, for_kept=True).bandwidth(np.array([0, 2]), 1)
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
        (Additive(), WaveSum(1.5 / np.sqrt(6), 2.0)),
        (
            Mixed(0.4),
            WaveSum(1.5 / np.sqrt(6), 2.0, 8, 0.4, RationalQuadratic(bandwidth=1.5)),
        ),
    ],
)
def test_the_kernel_of_a_stage(sample, kernel, at_scale):
    """With its own parameters, at the bandwidth and for the budget of the stage."""
    assert exact(sample, kernel).gram(EVERY, 1.5, budget=2).kernel == at_scale


def test_the_share_stays_as_features_leave(sample):
    problem = exact(sample, Mixed(0.2))
    stages = [problem.gram(np.arange(size), 1.0, budget=1).kernel for size in (6, 4, 2)]
    assert [stage.share for stage in stages] == [0.2] * 3
    assert_allclose([stage.scale for stage in stages], [6**-0.5, 4**-0.5, 2**-0.5])


@pytest.mark.parametrize(
    ("kernel", "n_columns", "by_components", "by_matrix"),
    [(Mixed(0.5), 100, 8, 8), (Mixed(0.5), 600, 2, 4), (Additive(), 600, 4, 4)],
)
def test_many_columns_have_fewer_waves_each(kernel, n_columns, by_components, by_matrix):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, n_columns)), rng.standard_normal((20, 1))
    sample = Sample(X, Y - Y.mean(), np.full(20, 0.05))
    drawn = fourier(sample, kernel.draw_frequencies(n_columns, 4, rng), kernel)
    for problem, n_waves in ((exact(sample, kernel), by_matrix), (drawn, by_components)):
        gram = problem.gram(np.arange(n_columns), 1.0, 2)
        waves = gram.kernel if problem.frequencies is None else gram.components.fixed
        assert waves.n_waves == n_waves


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
    if kind == "exact":
        operator = problem.gram(features, 1.7).at(problem.units.restrict(features).spread(weights))
        error = naive.leave_one_out(K, s.Y, s.p, EPSILON)
        assert operator.leave_one_out(EPSILON) == pytest.approx(error, rel=1e-6)


def test_the_trace_is_the_criterion_whatever_the_objective(sample):
    free = exact(sample, objective=partial(InverseFreeObjective, penalty=3 / EPSILON))
    weights = np.full(6, 0.5)
    assert free.trace(EVERY, weights, 1.5) == exact(sample).trace(EVERY, weights, 1.5)
    assert isinstance(objective_over(free, EVERY, 1.5), InverseFreeObjective)


def test_objectives_are_over_the_units_of_a_stage(sample):
    problem = exact(sample, units=GROUPS)
    some = np.array([0, 2])
    objective = objective_over(problem, some, 1.5)
    assert isinstance(objective, TraceObjective)
    assert objective.epsilon == EPSILON
    assert objective.at(np.array([0.8, 0.3])).value == pytest.approx(
        problem.trace(some, np.array([0.8, 0.3]), 1.5), rel=1e-12
    )
    assert problem.units.size == 3


def test_units_are_single_columns_unless_given(sample, frequencies):
    for problem in (exact(sample), fourier(sample, frequencies)):
        assert problem.units.size == 6
        assert problem.constraints(3) == [CappedSimplex(3)]


def test_rows_may_be_others_than_the_sample(sample, frequencies, draw):
    s = draw(n=100, d=6, k=1, seed=3)
    problem = fourier(sample, frequencies, rows=Sample(s.X, s.Y, s.p))
    whole = fourier(Sample(s.X, s.Y, s.p), frequencies)
    assert problem.bandwidth(EVERY) == fourier(sample, frequencies).bandwidth(EVERY)
    weights = np.full(6, 0.5)
    assert problem.trace(EVERY, weights, 1.5) == whole.trace(EVERY, weights, 1.5)


# -------------------------------------------------------------------------- more and more rows


def effort(**changes):
    """The kernel matrix up to 15 rows; stages on two rows for each column."""
    defaults = {
        "work": 1e12,
        "rows_per_column": 2,
        "share": 0.5,
        "fewest_rows": 5,
        "reported_rows": 30,
    }
    return Effort(**{**defaults, "matrix_rows": 15, "looseness": 3.0, **changes})


def test_few_rows_are_the_first_in_memory_and_have_all_else(sample, frequencies):
    """By the matrix where rows are few, by the same components beyond."""
    options = {"kernel": Mixed(0.4), "for_kept": True, "units": GROUPS}
    for n_rows, kind, rule in ((15, ExactGram, False), (16, FourierGram, True)):
        whole = fourier(sample, frequencies, effort=effort(reported_rows=n_rows), **options)
        few = whole.for_stage(np.arange(3), whole=True)[-1]
        assert few.rows.shape[0] == few.sample.shape[0] == n_rows
        assert_array_equal(few.sample.p, sample.first(n_rows).p)
        assert isinstance(few.gram(np.arange(3), 1.5), kind)
        assert few.for_kept is rule
        assert (few.kernel, few.units, few.epsilon) == (whole.kernel, whole.units, whole.epsilon)
        assert few.effort is whole.effort
    weights, rows = np.full(3, 0.5), sample.first(16)
    alone = fourier(rows, frequencies, effort=effort(), **options)
    assert few.trace(np.arange(3), weights, 1.5) == alone.trace(np.arange(3), weights, 1.5)


@pytest.mark.parametrize(
    ("changes", "whole", "n_rows"),
    [
        ({}, False, [12]),  # two rows for each of six columns
        ({}, True, [12, 30]),  # then those that are reported
        ({"reported_rows": 16}, True, [12, 16]),
        ({"work": 1.0}, False, [5]),  # fewer rows than there should be for each column
        ({"work": 1.0}, True, [5, 30]),
        ({"rows_per_column": 4}, False, [40]),  # more than half of the rows: all of them
        ({"rows_per_column": 4}, True, [40]),
    ],
)
def test_the_levels_of_a_stage(sample, changes, whole, n_rows):
    problem = exact(sample, Mixed(0.4), effort=effort(**changes))
    levels = problem.for_stage(EVERY, whole=whole)
    assert [level.rows.shape[0] for level in levels] == n_rows
    assert_allclose([level.steps.tol / problem.steps.tol for level in levels], 3)


def test_a_stage_has_rows_for_each_column(sample):
    """Of a unit, those of all its columns, and those that are always on."""
    problem = exact(sample, Mixed(0.4), effort=effort(rows_per_column=3), units=GROUPS)
    for features, n_columns in (([0], 3), ([0, 2], 4), ([0, 1, 2], 6)):
        levels = problem.for_stage(np.array(features))
        assert [level.rows.shape[0] for level in levels] == [3 * n_columns]


@pytest.mark.parametrize(("share", "n_used"), [(0.1, 6), (0.4, 8), (1.0, 20)])
def test_a_stage_that_only_chooses_has_a_frequency_for_each_column(sample, share, n_used):
    """Or a share of them; the stage that is reported has all."""
    drawn = Mixed(0.4).draw_frequencies(6, 40, np.random.default_rng(0))
    limits = effort(rows_per_column=4, frequencies=share)
    problem = fourier(sample, drawn, kernel=Mixed(0.4), effort=limits)
    for whole, n_frequencies in ((False, n_used), (True, 20)):
        [level] = problem.for_stage(EVERY, whole=whole)
        assert_array_equal(level.frequencies, problem.frequencies[:, :n_frequencies])


def test_levels_have_one_rule_for_the_bandwidth(sample, frequencies):
    """That of the last, so that a weight means the same at each."""
    options = {"kernel": Mixed(0.4), "for_kept": True}
    by_both = fourier(sample, frequencies, effort=effort(), **options)
    by_both = by_both.for_stage(EVERY, whole=True)
    assert [level.frequencies is None for level in by_both] == [True, False]
    assert [level.for_kept for level in by_both] == [True] * 2
    by_matrix = fourier(sample, frequencies, effort=effort(), **options)
    assert [level.for_kept for level in by_matrix.for_stage(EVERY)] == [False]


def test_units_that_are_switched_on_stay_on_at_every_level(sample):
    problem = exact(sample, effort=effort())
    problem = replace(problem, units=problem.units.switched_on(np.array([1, 4])))
    levels = problem.for_stage(np.array([0, 2, 3, 5]), whole=True)
    assert len(levels) == 2
    for level in levels:
        assert_array_equal(level.units.of_column, [0, ALWAYS_ON, 2, 3, ALWAYS_ON, 5])
