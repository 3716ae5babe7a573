"""Both objectives over every Gram operator: values against formulas, gradients against slopes."""

from itertools import pairwise

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose
from single import inverse_free_objective, trace_objective

from covmin.core.kernels import Gaussian, Laplacian
from covmin.core.kernels.additive import WaveSum
from covmin.core.units import ALWAYS_ON, Units

EPSILON = 0.1
PENALTY = 3.0 / EPSILON  # n·λ₂


def make_objective(kind, gram, epsilon=EPSILON, n_steps=25, **units):
    if kind == "trace":
        return trace_objective(gram, epsilon, **units)
    return inverse_free_objective(gram, epsilon, 3.0 / epsilon, n_steps, **units)


def test_trace_value(case, w):
    """Weights count repeated samples, so the oracle is the unweighted formula on those."""
    value = trace_objective(case.gram, EPSILON).at(w).value
    expected = naive.criterion(case.repeated_K(w), case.samples.repeated().Y, EPSILON)
    assert isinstance(value, float)
    assert value == pytest.approx(expected, rel=1e-9)


def test_inverse_free_value(case, w):
    repeated = case.samples.repeated()
    value = make_objective("free", case.gram).at(w).value
    lambda2 = PENALTY / repeated.p.size
    expected = naive.inverse_free_minimum(case.repeated_K(w), repeated.Y, EPSILON, lambda2)
    assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", ["trace", "free"])
def test_gradient(case, kind, w):
    objective = make_objective(kind, case.gram)
    gradient = objective.at(w).gradient()
    expected = naive.differences(lambda w: objective.at(w).value, w)
    assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("n_steps", [1, 3])
def test_inverse_free_value_is_the_penalised_one_at_the_alpha_reached(case, n_steps, w):
    point = make_objective("free", case.gram, n_steps=n_steps).at(w)
    p, Y = case.samples.p[:, None], case.samples.Y
    f = case.values(point.state, w)
    R = case.C(w) @ f + EPSILON * f - Y
    expected = np.sum(p * Y * f) + PENALTY * np.sum(p * R * R)
    assert point.value == pytest.approx(expected, rel=1e-9)


def test_each_step_lowers_the_inverse_free_value(case, w):
    # ε small, so that the system is badly conditioned and a few steps are not enough
    values = [make_objective("free", case.gram, 1e-3, n).at(w).value for n in range(1, 6)]
    assert all(b < a for a, b in pairwise(values))


def test_a_warm_start_goes_on_where_the_last_point_stopped(case, w):
    objective = make_objective("free", case.gram, 1e-3, n_steps=2)
    first = objective.at(w)
    warm = objective.at(w, first.state).value
    assert warm < first.value
    best = make_objective("free", case.gram, 1e-3, n_steps=200).at(w)
    assert objective.at(w, best.state).value == pytest.approx(best.value, rel=1e-6)


@pytest.mark.parametrize("w", [np.zeros(4), np.full(4, 1e-5), np.ones(4)], ids=["0", "1e-5", "1"])
@pytest.mark.parametrize("n_components", [5, 100])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_more_steps_than_needed_do_no_harm(w, n_components, dtype, draw):
    """Conjugate gradients that have converged stay where they are, whatever the rounding."""
    s = draw(k=1).to(np, dtype)
    for gram in (s.exact(Gaussian(1.0)), s.drawn(Gaussian(1.0), n_components)):
        operator = gram.at(w)
        f = operator.solve(EPSILON)
        minimum = operator.dots(operator.Y, f) - operator.dots(f, f) / (4 * PENALTY)
        value = make_objective("free", gram, n_steps=60).at(w).value
        assert value == pytest.approx(float(minimum[0]), rel=1e-3)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kernel", [Gaussian(1.3), Laplacian(1.3)])
def test_going_on_from_the_minimum_stays_there(kernel, seed, samples, w):
    """Random components know lengths from rounded moments: noise must not be followed."""
    gram = samples.drawn(kernel, seed=seed)
    operator = gram.at(w)
    for epsilon in (0.1, 1e-3):
        objective = make_objective("free", gram, epsilon, n_steps=10)
        f = operator.solve(epsilon)
        minimum = operator.dots(operator.Y, f) - operator.dots(f, f) * epsilon / 12
        point = objective.at(w)
        for _ in range(40):
            point = objective.at(w, point.state)
        assert point.value == pytest.approx(float(minimum.sum()), rel=1e-6)


def test_the_inverse_free_value_falls_with_dependence_at_the_floor_of_lambda2(draw, w):
    """At λ₂ = 1/(2nε) each term y²(1/μ − 1/(4λ₂μ²)) still falls with the eigenvalue μ ≥ nε."""
    gram = draw(n=30).exact(Gaussian(1.0))
    floor = inverse_free_objective(gram, EPSILON, 1 / (2 * EPSILON), 200)
    assert floor.at(np.ones(4)).value < floor.at(1e-3 * np.ones(4)).value


def test_no_feature_leaves_all_of_the_response(samples):
    """At w = 0 the Gaussian criterion is ⟨Y, Y⟩/ε."""
    s = samples
    value = trace_objective(s.exact(Gaussian(1.0)), EPSILON).at(np.zeros(4)).value
    assert value == pytest.approx(np.sum(s.p[:, None] * s.Y**2) / EPSILON, rel=1e-9)


@pytest.mark.parametrize("kind", ["trace", "free"])
def test_restrict(case, kind, w):
    columns = np.array([0, 3])
    closed = np.where(np.isin(np.arange(4), columns), w, 0.0)
    objective = make_objective(kind, case.gram)
    few, all_ = objective.restrict(columns).at(w[columns]), objective.at(closed)
    assert few.value == pytest.approx(all_.value, rel=1e-8)
    assert_allclose(few.gradient(), all_.gradient()[columns], rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------------------- weights of units


@pytest.mark.parametrize("kind", ["trace", "free"])
def test_units_are_columns_that_are_spread_by_hand(case, kind, units):
    """Columns 1 and 2 share the weight of unit 0, column 0 is unit 1, and 3 is always on."""
    v = np.array([0.7, 0.3])
    spread = np.array([0.3, 0.6 * 0.7, 0.8 * 0.7, 0.9])
    point = make_objective(kind, case.gram, units=units).at(v)
    columns = make_objective(kind, case.gram).at(spread)
    assert point.value == pytest.approx(columns.value, rel=1e-12)
    slopes = columns.gradient()
    collected = [0.6 * slopes[1] + 0.8 * slopes[2], slopes[0]]
    assert_allclose(point.gradient(), collected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["trace", "free"])
def test_gradient_in_the_weights_of_units(case, kind, units):
    objective, v = make_objective(kind, case.gram, units=units), np.array([0.7, 0.3])
    expected = naive.differences(lambda v: objective.at(v).value, v)
    gradient = objective.at(v).gradient()
    assert gradient.shape == (2,)
    assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["trace", "free"])
def test_restrict_to_some_units_keeps_those_always_on(case, kind, units):
    objective = make_objective(kind, case.gram, units=units)
    for unit in (0, 1):
        few = objective.restrict(np.array([unit])).at(np.array([0.7]))
        all_ = objective.at(0.7 * np.eye(2)[unit])
        assert few.value == pytest.approx(all_.value, rel=1e-8)
        assert_allclose(few.gradient(), all_.gradient()[[unit]], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", ["trace", "free"])
def test_restrict_takes_units_in_any_order(case, kind):
    units = Units(np.array([1, 0, 2, ALWAYS_ON]), np.array([1.0, 0.6, 0.8, 0.9]))
    objective, v = make_objective(kind, case.gram, units=units), np.array([0.7, 0.3, 0.5])
    turned = objective.restrict(np.array([2, 0])).at(v[[2, 0]])
    straight = objective.at(v * [1.0, 0.0, 1.0])
    assert turned.value == pytest.approx(straight.value, rel=1e-8)
    assert_allclose(turned.gradient(), straight.gradient()[[2, 0]], rtol=1e-6, atol=1e-8)


# ------------------------------------------------------------------------- libraries and oracles


@pytest.mark.parametrize("gram", ["exact", "drawn"])
@pytest.mark.parametrize("kind", ["trace", "free"])
def test_array_libraries_agree(kind, gram, xp, samples, w):
    kernel = Gaussian(1.3)
    expected = make_objective(kind, getattr(samples, gram)(kernel)).at(w)
    point = make_objective(kind, getattr(samples.to(xp), gram)(kernel)).at(w)
    assert isinstance(point.value, float)
    assert point.value == pytest.approx(expected.value, rel=1e-9)
    gradient = point.gradient()
    assert isinstance(gradient, np.ndarray)
    # α of the inverse-free form is as good as the residual at which its steps end.
    assert_allclose(gradient, expected.gradient(), rtol=1e-9 if kind == "trace" else 1e-5)


def test_trace_gradient_against_autograd(samples, w):
    torch = pytest.importorskip("torch")
    X, Y, p = (torch.asarray(a) for a in (samples.X, samples.Y, samples.p))
    variable = torch.asarray(w.copy()).requires_grad_()
    K = torch.exp(-(torch.cdist(X * variable, X * variable) ** 2) / (2 * 1.3**2))
    H = torch.eye(p.shape[0], dtype=p.dtype) - p[None, :]
    M = H @ K @ H.T + torch.diag(EPSILON / p)
    value = torch.sum(Y * torch.linalg.solve(M, Y))
    (expected,) = torch.autograd.grad(value, variable)
    point = trace_objective(samples.exact(Gaussian(1.3)), EPSILON).at(w)
    assert point.value == pytest.approx(float(value.detach()), rel=1e-10)
    assert_allclose(point.gradient(), expected.numpy(), rtol=1e-8)


def test_the_additive_criterion_is_convex(draw):
    objective = trace_objective(draw(n=20, d=4).exact(WaveSum(1.0, 2.0)), 0.05)
    rng = np.random.default_rng(0)
    for _ in range(30):
        a, b, t = rng.uniform(0, 1, 4), rng.uniform(0, 1, 4), rng.uniform()
        chord = t * objective.at(a).value + (1 - t) * objective.at(b).value
        assert objective.at(t * a + (1 - t) * b).value <= chord + 1e-9
