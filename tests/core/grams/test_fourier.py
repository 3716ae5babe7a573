"""What a Gram operator by components passes over, holds and keeps."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from single import trace_objective

from covmin.core.constraints import CappedSimplex
from covmin.core.grams import FourierGram
from covmin.core.kernels import Gaussian
from covmin.core.kernels.additive import WaveSum
from covmin.core.rows import Sample
from covmin.core.solver import Steps, minimize

ADDITIVE = WaveSum(0.9, 2.0)
MIXED = WaveSum(0.9, 2.0, 8, 0.4, Gaussian(1.5))


@pytest.fixture
def w():
    return np.array([0.9, 0.3, 0.0, 0.6])


@pytest.fixture
def frequencies():
    return Gaussian().draw_frequencies(4, 20, np.random.default_rng(10))


class CountedRows(Sample):
    """Rows that count the passes over them."""

    passes = 0

    def sum(self, function, *kept):
        CountedRows.passes += 1
        return super().sum(function, *kept)


def test_the_additive_criterion_needs_one_pass_over_the_rows(draw, w):
    s = draw(n=300, d=4)
    CountedRows.passes = 0
    gram = FourierGram(ADDITIVE.components(np.empty((4, 0))), CountedRows(s.X, s.Y, s.p))
    solution = minimize(trace_objective(gram, 0.1), CappedSimplex(2), w, Steps(tol=1e-6))
    assert solution.n_iter > 3
    assert CountedRows.passes == 1
    exact = trace_objective(s.exact(ADDITIVE), 0.1)
    assert solution.value == pytest.approx(exact.at(solution.w).value, rel=1e-9)


def test_a_gradient_needs_two_passes_over_the_rows(draw, w, frequencies):
    s = draw(n=30, d=4)
    CountedRows.passes = 0
    gram = FourierGram(Gaussian(1.5).components(frequencies), CountedRows(s.X, s.Y, s.p))
    point = trace_objective(gram, 0.1).at(w)
    assert CountedRows.passes == 1
    point.gradient()
    assert CountedRows.passes == 2


@pytest.mark.parametrize("kernel", [ADDITIVE, MIXED], ids=["additive", "mixed"])
def test_fewer_columns_keep_their_sums(draw, kernel, w, frequencies):
    gram = draw(n=40, d=4, weighted=True).fourier(kernel, frequencies)
    keep = np.array([0, 1, 3])
    narrowed = gram.restrict(keep).at(w[keep])
    # w is zero where columns went
    assert (narrowed.solve(0.1) ** 2).sum() == pytest.approx((gram.at(w).solve(0.1) ** 2).sum())
    fresh = FourierGram(gram.components.restrict(keep), gram.rows.restrict(keep)).at(w[keep])
    assert_allclose(narrowed.solve(0.1), fresh.solve(0.1), rtol=1e-8, atol=1e-11)


def test_the_draw_follows_the_library_of_the_rows(draw, xp, w, frequencies):
    s = draw().to(xp)
    gram = FourierGram(MIXED.components(frequencies), Sample(s.X, s.Y, s.p))
    expected = draw().fourier(MIXED, frequencies).at(w).solve(0.1)
    assert_allclose(gram.at(w).solve(0.1), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(1.5), MIXED], ids=["gaussian", "mixed"])
def test_components_that_are_kept_are_those_that_are_made_anew(
    draw, kernel, w, frequencies, monkeypatch
):
    s = draw(n=50, d=4, weighted=True)
    rows = Sample(s.X, s.Y, s.p, block_size=20, n_threads=2)

    def all_of(gram):
        operator = gram.restrict(np.array([0, 1, 3])).at(w[[0, 1, 3]])
        f = operator.solve(0.1)
        return [f, operator.grad(f, f)]

    kept = all_of(FourierGram(kernel.components(frequencies), rows))
    monkeypatch.setattr("covmin.core.rows._KEPT_NUMBERS", 0)
    assert rows.keep(np.cos, 4) is None
    for here, anew in zip(
        kept, all_of(FourierGram(kernel.components(frequencies), rows)), strict=True
    ):
        assert_allclose(here, anew, rtol=1e-12)


def test_a_step_holds_a_few_blocks_and_no_more():
    """All components of 40,000 rows would take 164 MB."""
    n, d, n_components = 40_000, 5, 512
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    Y = X[:, :1] - X[:, :1].mean()
    components = Gaussian(1.0).components(Gaussian().draw_frequencies(d, n_components, rng))
    rows = Sample(X, Y, np.full(n, 1.0 / n), n_threads=2)
    tracemalloc.start()
    operator = FourierGram(components, rows).at(np.ones(d))
    f = operator.solve(0.1)
    operator.grad(f, f)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6
