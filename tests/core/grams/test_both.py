"""What both Gram operators agree on, and what does not change their answer."""

import numpy as np
import pytest
from numpy.linalg import norm
from numpy.testing import assert_allclose

from covmin.core.kernels import Gaussian, Laplacian, Linear

RIDGE = 0.07


def verbs(gram, w):
    """A number or vector from each verb, with nothing that depends on a basis."""
    operator = gram.at(w)
    f = operator.solve(RIDGE)
    R = operator.matmul(f)
    return [
        np.asarray(operator.dots(operator.Y, f)),
        np.asarray(operator.dots(R, f)),
        operator.grad(f, f),
        operator.grad(R, f),
    ]


def assert_same(got, expected, rtol):
    for a, b in zip(got, expected, strict=True):
        assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


@pytest.fixture(params=["exact", "drawn"])
def gram_of(request):
    """A Gram operator of samples and a kernel."""
    return lambda samples, kernel: getattr(samples, request.param)(kernel)


def test_single_precision_is_close_to_double(gram_of, samples, w):
    kernel = Gaussian(1.3)
    double = verbs(gram_of(samples, kernel), w)
    single = verbs(gram_of(samples.to(np, "float32"), kernel), w)
    assert_same(single, double, 1e-3)


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Laplacian(1.3), Linear()])
def test_array_libraries_agree(gram_of, kernel, xp, samples, w):
    expected = verbs(gram_of(samples, kernel), w)
    assert_same(verbs(gram_of(samples.to(xp), kernel), w), expected, 1e-8)


def test_weights_count_repeated_samples(gram_of, draw, w):
    s = draw(weighted=True)
    weighted, repeated = (gram_of(x, Gaussian(1.3)) for x in (s, s.repeated()))
    f, g = weighted.at(w).solve(RIDGE), repeated.at(w).solve(RIDGE)
    assert_allclose(weighted.at(w).grad(f, f), repeated.at(w).grad(g, g), rtol=1e-8)


def test_linear_kernel_is_ridge_regression(gram_of, draw, w):
    s = draw(n=30)
    Z = (s.X - s.p @ s.X) * w
    S = Z.T @ (s.p[:, None] * Z) + RIDGE * np.eye(4)
    residual = s.Y - Z @ (np.linalg.inv(S) @ (Z.T @ (s.p[:, None] * s.Y)))
    operator = gram_of(s, Linear()).at(w)
    unexplained = RIDGE * operator.dots(operator.Y, operator.solve(RIDGE))
    assert_allclose(unexplained, s.p @ (s.Y * residual), rtol=1e-8)


def test_linear_components_are_the_linear_kernel(samples, w):
    exact, finite = samples.exact(Linear()), samples.drawn(Linear())
    assert_same(verbs(finite, w), verbs(exact, w), 1e-9)


@pytest.mark.parametrize("block_size", [1, 4, 11, 100])
def test_block_size(block_size, samples, w):
    whole = verbs(samples.drawn(Gaussian(1.3), block_size=11), w)
    assert_same(verbs(samples.drawn(Gaussian(1.3), block_size=block_size), w), whole, 1e-10)


def component_errors(kernel, n_components, s, w):
    """Relative error of each verb under random components, averaged over draws."""
    exact = verbs(s.exact(kernel), w)
    draws = [verbs(s.drawn(kernel, n_components, 100, seed), w) for seed in range(5)]
    return np.mean(
        [[norm(a - b) / norm(b) for a, b in zip(got, exact, strict=True)] for got in draws], axis=0
    )


@pytest.mark.parametrize("kernel", [Gaussian(2.5), Laplacian(4.0)])
def test_random_components_tend_to_the_kernel(kernel, draw, w):
    few, many = (component_errors(kernel, D, draw(n=60, k=1), w) for D in (20, 500))
    values = [0]  # the criterion
    assert (many < few)[values].all()
    assert many[values].max() < 0.25


def test_gradients_of_random_components_tend_to_that_of_the_kernel(draw, w):
    """The Gaussian's alone: a Cauchy frequency, the Laplacian's, has no mean."""
    few, many = (component_errors(Gaussian(2.5), D, draw(n=60, k=1), w)[2] for D in (20, 500))
    assert many < min(few, 0.3)
