"""What could stand in for a chosen feature, against the criterion itself."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from covmin.core.constraints import SoftBudget
from covmin.core.kernels import Additive, Gaussian, Laplacian, Linear, Mixed
from covmin.core.objectives import InverseFreeObjective
from covmin.core.path import PROBE_WEIGHT, run_path
from covmin.core.problem import Problem, Sample
from covmin.core.substitutes import substitutes
from covmin.core.units import ALWAYS_ON, Units

EPSILON = 0.01
SOFT = {"constraints": partial(SoftBudget.candidates, prices=[0.05])}
FREE = {"objective": partial(InverseFreeObjective, penalty=3.0 / EPSILON)}


@pytest.fixture
def sample():
    """The response needs 0 and 1; column 5 is all but a copy of 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    X[:, 5] = X[:, 0] + 0.1 * rng.standard_normal(80)
    Y = (np.sin(2 * X[:, 0]) + X[:, 1] ** 2)[:, None]
    return Sample(X, Y - Y.mean(), np.full(80, 1 / 80))


def make_problem(sample, kernel, n_components=None, **options):
    options = {"kernel": kernel, "epsilon": EPSILON, **options}
    if n_components is None:
        return Problem.exact(sample, **options)
    frequencies = kernel.draw_frequencies(6, n_components, np.random.default_rng(0))
    return Problem.fourier(sample, frequencies, **options)


def solved(problem, budgets=(3, 2, 1)):
    return next(stage for stage in run_path(problem, budgets).stages if stage.budget == 2)


CASES = [
    (Mixed(0.3), None, {}),
    (Gaussian(), None, {}),
    (Laplacian(), None, {}),
    (Linear(), None, {}),
    (Gaussian(), None, SOFT),
    (Mixed(0.3), None, FREE),
    (Gaussian(), 60, {}),
    (Mixed(0.3), 60, {}),
    (Additive(), 60, {}),
]


@pytest.mark.parametrize("budgets", [(3, 2, 1), (2,)], ids=["path", "single"])
@pytest.mark.parametrize(("kernel", "n_components", "options"), CASES)
def test_every_figure_is_the_criterion_of_the_weights_it_stands_for(
    sample, kernel, n_components, options, budgets
):
    problem = make_problem(sample, kernel, n_components, **options)
    stage = solved(problem, budgets)
    found = substitutes(problem, stage, 3)
    every = np.arange(6)
    w = np.zeros(6)
    w[stage.features] = np.maximum(stage.survivors.weights, PROBE_WEIGHT)

    def value(weights):
        """With the kernel of the stage, whatever features it is measured on."""
        return problem.trace(every, weights, stage.bandwidth, 2, stage.among)

    assert_array_equal(found.feature, stage.features)
    assert found.criterion == pytest.approx(value(w), rel=1e-6)
    for row, feature in enumerate(found.feature):
        alone = np.where(every == feature, 0.0, w)
        assert found.without[row] == pytest.approx(value(alone), rel=1e-6)
        assert not set(found.candidate[row]) & set(stage.features)
        for candidate, replaced in zip(found.candidate[row], found.replaced[row], strict=True):
            put = np.where(every == candidate, w[feature], alone)
            assert replaced == pytest.approx(value(put), rel=1e-6)
        assert (np.diff(found.replaced[row]) >= 0).all()


@pytest.mark.parametrize("kernel", [Mixed(0.3), Gaussian(), Laplacian()])
def test_a_copy_is_the_best_substitute(sample, kernel):
    problem = make_problem(sample, kernel)
    stage = solved(problem)
    found = substitutes(problem, stage, 2)
    chosen, copy = (0, 5) if 0 in stage.features else (5, 0)
    row = found.feature.tolist().index(chosen)
    assert found.candidate[row, 0] == copy
    # Nearly as good as the feature itself, and far better than nothing in its place.
    assert found.replaced[row, 0] < 0.5 * (found.criterion + found.without[row])


def test_the_only_feature_may_go(sample):
    """What is left is the criterion of no feature, ⟨Y, Y⟩/ε."""
    problem = make_problem(sample, Gaussian())
    stage = run_path(problem, [1]).stages[0]
    found = substitutes(problem, stage, 1)
    assert found.without[0] == pytest.approx(np.mean(sample.Y**2) / EPSILON, rel=1e-6)


def test_units_stand_in_for_units_and_those_always_on_stay(sample):
    units = Units(np.array([0, 1, 2, 2, ALWAYS_ON, 3]), np.sqrt([1.0, 1.0, 0.5, 0.5, 1.0, 1.0]))
    problem = make_problem(sample, Gaussian(), units=units)
    stage = run_path(problem, [2]).stages[0]
    found = substitutes(problem, stage, 9)
    assert found.candidate.shape == (2, 2)  # no more than there are left out
    for row in range(2):
        assert set(found.candidate[row]) | set(stage.features) == {0, 1, 2, 3}


def test_nothing_is_left_to_stand_in(sample):
    problem = make_problem(sample, Gaussian())
    found = substitutes(problem, run_path(problem, [6]).stages[0], 3)
    assert found.candidate.shape == found.replaced.shape == (6, 0)
    assert np.isfinite(found.without).all()


@pytest.mark.parametrize("kernel", [Mixed(0.3), Gaussian()])
def test_a_copy_stands_in_for_a_feature_that_acts_only_with_another(kernel):
    """Near weight zero a product is flat: the slope alone does not name the copy."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 30))
    X[:, 29] = X[:, 1] + 0.5 * rng.standard_normal(150)
    Y = np.sign(X[:, :1] * X[:, 1:2])
    problem = make_problem(Sample(X, Y - Y.mean(), np.full(150, 1 / 150)), kernel)
    among = np.arange(4)
    stage = replace(
        run_path(problem, [2]).stages[0],
        features=among[:2],
        among=among,
        weights=np.array([1.0, 1.0, 0.0, 0.0]),
        bandwidth=problem.bandwidth(among, 2),
    )
    found = substitutes(problem, stage, 1)
    assert found.candidate[1] == [29]
    assert found.replaced[1] < 0.9 * found.without[1]
