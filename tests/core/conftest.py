"""Samples, kernels and Gram operators with their oracles, and the array libraries to run on."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import naive
import numpy as np
import pytest

from covmin.core.grams import ExactGram, FourierGram, Gram
from covmin.core.kernels import KERNELS
from covmin.core.kernels.base import Kernel, Scale, ScaledKernel
from covmin.core.rows import Sample
from covmin.core.units import ALWAYS_ON, Units

SIGMA, SHARE, BUDGET = 1.3, 0.4, 2.0
N_FEATURES, N_WAVES = 3.0, 4


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
        return ExactGram(kernel, kernel.prepare(self.X), self.Y, self.p)

    def finite(self, components, block_size=5):
        return FourierGram(components, Sample(self.X, self.Y, self.p, block_size))

    def fourier(self, kernel, frequencies=None, block_size=5):
        if frequencies is None:
            frequencies = np.empty((self.X.shape[1], 0))
        return self.finite(kernel.components(frequencies), block_size)

    def drawn(self, kernel, n_components=20, block_size=5, seed=10):
        """By random components of a kernel that draws them itself."""
        rng = np.random.default_rng(seed)
        frequencies = kernel.draw_frequencies(self.X.shape[1], n_components, rng)
        return self.fourier(kernel, frequencies, block_size)


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


@pytest.fixture
def samples():
    """Of unequal weights; those of ``draw`` are equal."""
    return make_samples(weighted=True)


@pytest.fixture
def w():
    return np.array([1.0, 0.6, 0.3, 0.8])


# ------------------------------------------------------------------ every kernel of the registry


@dataclass(frozen=True)
class Registered:
    """A kernel of the registry, the same at a scale, and its matrix the slow way."""

    kernel: Kernel
    scaled: ScaledKernel

    @property
    def name(self):
        return self.kernel.name

    def matrix(self, A, B, w):
        """Between the rows of A and B; where it has a sum, by waves of each feature."""
        if self.name not in ("mixed", "additive"):
            return naive.kernel_matrix(self.name, A, B, w, SIGMA)
        scale = SIGMA / np.sqrt(N_FEATURES)
        summed = naive.additive_by_waves(A, B, w, scale, BUDGET, N_WAVES)
        if self.name == "additive":
            return summed
        together = naive.kernel_matrix("rational-quadratic", A, B, w, SIGMA)
        return (1.0 - SHARE) * together + SHARE * summed


def registered_kernel(name):
    kernel = KERNELS[name]()
    if name == "mixed":
        kernel.set_params(mixing=SHARE)
    return Registered(kernel, kernel.at(Scale(SIGMA, N_FEATURES, BUDGET, N_WAVES)))


@pytest.fixture(params=list(KERNELS))
def registered(request):
    """Each kernel of the registry."""
    return registered_kernel(request.param)


# -------------------------------------------------------- every kernel by every Gram operator


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
    *(f"exact-{name}" for name in KERNELS),
    *(f"fourier-{name}" for name, kernel in KERNELS.items() if kernel.has_components),
]


@pytest.fixture(params=CASES)
def case(request, samples):
    kind, name = request.param.split("-", 1)
    known = registered_kernel(name)
    if kind == "exact":
        return Case(samples.exact(known.scaled), samples, known.matrix, lambda F, w: F)

    frequencies = known.kernel.draw_frequencies(4, 20, np.random.default_rng(10))
    gram = samples.fourier(known.scaled, frequencies)
    has_moving = frequencies.shape[1] > 0

    def moving(X, w):
        return naive.fourier_components(X, w, frequencies, SIGMA)

    def U(X, w):
        """Components as they stand in the basis of vectors, whatever they count for."""
        parts = [moving(X, w)] if has_moving else []
        if name == "linear":
            parts.append(X)
        if known.kernel.sums_features:
            parts.append(naive.waves(X, SIGMA / np.sqrt(N_FEATURES), N_WAVES))
        return np.hstack(parts)

    def values(F, w):
        V = U(samples.X, w)
        k = samples.Y.shape[1]
        return samples.Y @ F[:k] + (V - samples.p @ V) @ F[k:]

    def kernel_of(A, B, w):
        if not has_moving:
            return known.matrix(A, B, w)
        K = moving(A, w) @ moving(B, w).T
        if not known.kernel.sums_features:
            return K
        scale = SIGMA / np.sqrt(N_FEATURES)
        summed = naive.additive_by_waves(A, B, w, scale, BUDGET, N_WAVES)
        return (1.0 - SHARE) * K + SHARE * summed

    return Case(gram, samples, kernel_of, values)


@pytest.fixture
def units():
    """Two units of four columns: a pair that shares a weight, a single one, and one always on."""
    return Units(np.array([1, 0, 0, ALWAYS_ON]), np.array([1.0, 0.6, 0.8, 0.9]))


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def xp(request):
    """The array library to run on."""
    return pytest.importorskip(request.param)
