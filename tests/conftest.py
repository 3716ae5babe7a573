"""Samples, Gram operators with their oracles, and the array libraries to run on."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import settings

from covmin.core.grams import ExactGram, FourierGram, Gram
from covmin.core.kernels import KERNELS, Gaussian
from covmin.core.mixing import Additive, Sum
from covmin.core.rows import ArrayRows

settings.register_profile("covmin", deadline=None, derandomize=True)
settings.load_profile("covmin")


@dataclass(frozen=True)
class Samples:
    """X and Y, where sample i stands for ``counts[i]`` equal ones; Y is centred under p."""

    X: Any
    Y: Any
    p: Any
    counts: np.ndarray

    def repeated(self):
        """The same samples written out, each as often as it counts."""
        rows = np.repeat(np.arange(self.counts.size), self.counts)
        n = rows.size
        return Samples(self.X[rows], self.Y[rows], np.full(n, 1 / n), np.ones(n, dtype=int))

    def to(self, xp, dtype="float64"):
        """The same samples in another array library or precision."""
        arrays = {name: xp.asarray(getattr(self, name).astype(dtype)) for name in ("X", "Y", "p")}
        return replace(self, **arrays)

    def exact(self, kernel):
        return ExactGram(kernel, self.X, self.Y, self.p)

    def finite(self, features, block_size=5):
        return FourierGram(features, ArrayRows(self.X, self.Y, self.p, block_size))

    def fourier(self, kernel, n_components=20, block_size=5, seed=10):
        rng = np.random.default_rng(seed)
        frequencies = kernel.draw_frequencies(self.X.shape[1], n_components, rng)
        return self.finite(kernel.features(frequencies), block_size)


def make_samples(n=11, d=4, k=2, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, n) if weighted else np.ones(n, dtype=int)
    X, Y, p = rng.standard_normal((n, d)), rng.standard_normal((n, k)), counts / counts.sum()
    Y[:, 0] += X[:, 0] * X[:, 1]
    return Samples(X, Y - p @ Y, p, counts)


@pytest.fixture
def draw():
    """Make samples of a given size."""
    return make_samples


@pytest.fixture(params=["equal", "weighted"])
def samples(request):
    return make_samples(weighted=request.param == "weighted")


@pytest.fixture
def w():
    return np.array([1.0, 0.6, 0.3, 0.8])


@dataclass(frozen=True)
class Case:
    """A Gram operator and what it should be.

    ``kernel_of(A, B, w)`` is the kernel matrix, ``values(F, w)`` the (n, k) array that a
    vector F of the operator stands for.
    """

    gram: Gram
    samples: Samples
    kernel_of: Callable
    values: Callable

    def K(self, w):
        return self.kernel_of(self.samples.X, self.samples.X, w)

    def C(self, w):
        """``G_w diag(p)``."""
        return naive.centred(self.K(w), self.samples.p) * self.samples.p

    def repeated_K(self, w):
        X = self.samples.repeated().X
        return self.kernel_of(X, X, w)


CASES = [
    "exact-gaussian",
    "exact-laplacian",
    "exact-linear",
    "exact-polynomial",
    "fourier-gaussian",
    "fourier-laplacian",
    "fourier-linear",
    "fourier-additive",
    "fourier-mixed",
]
SIGMA, SHARE, SCALE, BUDGET, N_WAVES = 1.3, 0.4, 0.9, 2.0, 4


def kernel_named(name):
    additive = Additive(SCALE, BUDGET, N_WAVES)
    if name == "mixed":
        return Sum(((1.0 - SHARE, Gaussian(SIGMA)), (SHARE, additive)))
    return additive if name == "additive" else KERNELS[name](SIGMA)


@pytest.fixture(params=CASES)
def case(request, samples):
    kind, name = request.param.split("-")
    kernel = kernel_named(name)

    def kernel_of(A, B, w):
        return naive.kernel_matrix(name, A, B, w, SIGMA)

    if kind == "exact":
        return Case(samples.exact(kernel), samples, kernel_of, lambda F, w: F)

    gram = samples.fourier(kernel)

    def moving(X, w):
        return naive.fourier_features(X, w, gram.features.moving.frequencies, SIGMA)

    def U(X, w):
        """Features as they stand in the basis of vectors, whatever they count for."""
        parts = [] if name in ("linear", "additive") else [moving(X, w)]
        if name == "linear":
            parts.append(X)
        if name in ("additive", "mixed"):
            parts.append(naive.waves(X, SCALE, N_WAVES))
        return np.hstack(parts)

    def values(F, w):
        V = U(samples.X, w)
        k = samples.Y.shape[1]
        return samples.Y @ F[:k] + (V - samples.p @ V) @ F[k:]

    def fourier_kernel(A, B, w):
        if name == "additive":
            return naive.additive_by_waves(A, B, w, SCALE, BUDGET, N_WAVES)
        K = moving(A, w) @ moving(B, w).T
        if name == "mixed":
            K *= 1.0 - SHARE
            K += SHARE * naive.additive_by_waves(A, B, w, SCALE, BUDGET, N_WAVES)
        return K

    if name != "linear":
        kernel_of = fourier_kernel

    return Case(gram, samples, kernel_of, values)


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def xp(request):
    """The array library to run on."""
    return pytest.importorskip(request.param)
