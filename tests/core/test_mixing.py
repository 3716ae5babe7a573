"""The additive kernel and sums of kernels: values, slopes, convexity, and what they are for."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin.core import mixing
from covmin.core.constraints import CappedSimplex
from covmin.core.grams import ExactGram, FourierGram
from covmin.core.kernels import Gaussian
from covmin.core.mixing import Additive, Sum, waves_for
from covmin.core.objectives import InverseFreeObjective, TraceObjective
from covmin.core.problem import Formulation, Problem
from covmin.core.rows import ArrayRows
from covmin.core.solver import minimize

MIXED = Sum(((0.6, Gaussian(1.5)), (0.4, Additive(0.9, 2.0))))
KERNELS = [Additive(0.9, 2.0), MIXED]


def additive_by_loops(A, B, w, scale, budget):
    K = np.zeros((len(A), len(B)))
    for a, x in enumerate(A):
        for b, y in enumerate(B):
            K[a, b] = sum(
                w[j] * np.exp(-((x[j] - y[j]) ** 2) / (2 * scale**2)) for j in range(len(w))
            )
    return K / budget


def additive_cross(kernel, A, B, w):
    """The kernel feature by feature."""
    single = [kernel.cross(A[:, [j]], B[:, [j]], w[[j]]) for j in range(w.size)]
    return np.sum(single, axis=0)


@pytest.fixture
def w():
    return np.array([0.9, 0.3, 0.0, 0.6])


def test_additive_matrix(draw, w, xp):
    X = np.clip(draw(n=12, d=4).X, -1.5, 1.5)  # where the rule is exact to three digits
    kernel = Additive(1.0, 2.0)
    expected = additive_by_loops(X, X, w, 1.0, 2.0)
    X_, w_ = xp.asarray(X), xp.asarray(w)
    assert_allclose(np.asarray(kernel.cross(X_, X_, w_)), expected, atol=2e-3)
    K, _ = kernel.matrix_and_pullback(kernel.prepare(X_), w_)
    assert_allclose(np.asarray(K), np.asarray(kernel.cross(X_, X_, w_)), atol=1e-12)
    assert np.linalg.eigvalsh(np.asarray(K)).min() > -1e-10


def test_blocks_of_features_change_nothing(draw, w, monkeypatch):
    samples = draw(n=15, d=4, k=2)
    whole = TraceObjective(samples.exact(MIXED), 0.1).at(w)
    monkeypatch.setattr(mixing, "_KEEP_NUMBERS", 0)
    monkeypatch.setattr(mixing, "_BLOCK_NUMBERS", 15 * 8 * 3)  # three features, then one
    blocks = TraceObjective(samples.exact(MIXED), 0.1).at(w)
    assert blocks.value == pytest.approx(whole.value, rel=1e-12)
    assert_allclose(blocks.gradient(), whole.gradient(), rtol=1e-9)
    A = draw(n=4, d=4, seed=1).X  # fewer rows, the same blocks
    kernel = Additive(0.9, 2.0)
    assert_allclose(kernel.cross(A, samples.X, w), additive_cross(kernel, A, samples.X, w))
    narrowed = samples.exact(MIXED).restrict(np.array([0, 1, 3])).at(w[[0, 1, 3]])
    assert_allclose(narrowed.solve(0.1), samples.exact(MIXED).at(w).solve(0.1), rtol=1e-9)


def test_sum_adds_matrices(draw, w):
    X = draw(n=12, d=4).X
    parts = [c * kernel.cross(X, X, w) for c, kernel in MIXED.terms]
    assert_allclose(MIXED.cross(X, X, w), sum(parts), rtol=1e-12)
    assert_allclose(MIXED.matrix_and_pullback(MIXED.prepare(X), w)[0], sum(parts), atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=["additive", "mixed"])
@pytest.mark.parametrize("inverse_free", [False, True])
def test_gradient(draw, kernel, inverse_free, w):
    gram = draw(n=15, d=4, k=2, weighted=True).exact(kernel)
    objective = TraceObjective(gram, 0.1)
    if inverse_free:
        objective = InverseFreeObjective(gram, 0.1, 30.0, 80)
    inside = w + 0.05
    expected = naive.differences(lambda w: objective.at(w).value, inside)
    assert_allclose(objective.at(inside).gradient(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=["additive", "mixed"])
def test_restrict_keeps_what_was_prepared(draw, kernel, w):
    gram = draw(n=15, d=4).exact(kernel)
    keep = np.array([0, 1, 3])
    narrowed = gram.restrict(keep)
    fresh = ExactGram(kernel, gram.X[:, keep], gram.Y, gram.p)
    assert_allclose(narrowed.at(w[keep]).solve(0.1), fresh.at(w[keep]).solve(0.1), rtol=1e-9)
    # w is zero where columns went
    assert_allclose(narrowed.at(w[keep]).solve(0.1), gram.at(w).solve(0.1), rtol=1e-9)


def test_zero_is_not_absorbing_and_features_come_back(draw):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    Y = X[:, :1] - X[:, :1].mean()
    gram = ExactGram(Additive(1.0, 1.0), X, Y, np.full(60, 1 / 60))
    assert not gram.zero_is_absorbing
    assert not draw(n=9, d=4).exact(MIXED).zero_is_absorbing
    start = np.zeros(12)
    start[5] = 1.0  # a useless feature holds the whole budget
    solution = minimize(TraceObjective(gram, 0.05), CappedSimplex(1), start)
    assert solution.converged
    assert solution.w[0] > 0.99


def test_the_additive_criterion_is_convex(draw):
    objective = TraceObjective(draw(n=20, d=4).exact(Additive(1.0, 2.0)), 0.05)
    rng = np.random.default_rng(0)
    for _ in range(30):
        a, b, t = rng.uniform(0, 1, 4), rng.uniform(0, 1, 4), rng.uniform()
        chord = t * objective.at(a).value + (1 - t) * objective.at(b).value
        assert objective.at(t * a + (1 - t) * b).value <= chord + 1e-9
    ends = [
        minimize(objective, CappedSimplex(2), rng.uniform(0, 1, 4), tol=1e-8, max_iter=500).w
        for _ in range(5)
    ]
    assert np.ptp(ends, axis=0).max() < 1e-2  # one minimum, whatever the start


def test_the_share_follows_features_and_samples():
    formulation = Formulation(0.1, mixing=None)
    assert formulation.share(10, 990) == pytest.approx(0.495)
    assert formulation.share(990, 10) == pytest.approx(0.005)
    assert Formulation(0.1, mixing=None, least_mixing=0.2).share(990, 10) == 0.2
    assert Formulation(0.1, mixing=0.7).share(990, 10) == 0.7


def test_the_kernel_of_a_stage():
    formulation = Formulation(0.1)
    assert isinstance(formulation.mixed_kernel(1.0, 0.0, 10, 3), Gaussian)
    wide = formulation.mixed_kernel(2.0, 0.4, 990, 5)
    assert [share for share, _ in wide.terms] == [0.6, 0.4]
    assert wide.terms[1][1] == Additive(2.0 / np.sqrt(990), 5)
    alone = formulation.mixed_kernel(1.0, 1.0, 9, 5)
    assert [type(kernel) for _, kernel in alone.terms] == [Additive]


def test_the_share_stays_as_features_leave(draw):
    samples = draw(n=12, d=8)
    problem = Problem(samples.X, samples.Y, samples.p, Formulation(0.1, mixing=None))
    shares = [problem.gram(np.arange(size), 1.0, budget=1).kernel.terms[1][0] for size in (8, 4, 2)]
    assert shares == [0.2, 0.2, 0.2]


@pytest.mark.parametrize("kernel", KERNELS, ids=["additive", "mixed"])
def test_features_tend_to_the_kernel(draw, kernel, w):
    X = draw(n=12, d=4).X
    features = kernel.features(kernel.draw_frequencies(4, 20_000, np.random.default_rng(0)))
    n_moving = 0 if features.moving is None else 20_000
    U = features.features(X, w)
    K = (U * features.powers(w, n_moving)) @ U.T
    assert_allclose(K, kernel.cross(X, X, w), atol=1e-12 if n_moving == 0 else 0.03)


def test_the_additive_criterion_needs_one_pass_over_the_rows(draw, w, monkeypatch):
    passes = []
    whole_sum = ArrayRows.sum
    monkeypatch.setattr(
        ArrayRows, "sum", lambda rows, f: (passes.append(rows.shape), whole_sum(rows, f))[1]
    )
    objective = TraceObjective(draw(n=300, d=4).fourier(Additive(0.9, 2.0)), 0.1)
    solution = minimize(objective, CappedSimplex(2), w, tol=1e-6)
    assert solution.n_iter > 3
    assert len(passes) == 1
    exact = TraceObjective(draw(n=300, d=4).exact(Additive(0.9, 2.0)), 0.1)
    assert solution.value == pytest.approx(exact.at(solution.w).value, rel=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=["additive", "mixed"])
def test_features_of_fewer_columns_keep_their_sums(draw, kernel, w):
    gram = draw(n=40, d=4, weighted=True).fourier(kernel)
    keep = np.array([0, 1, 3])
    narrowed = gram.restrict(keep).at(w[keep])
    # w is zero where columns went
    assert (narrowed.solve(0.1) ** 2).sum() == pytest.approx((gram.at(w).solve(0.1) ** 2).sum())
    assert narrowed.leave_one_out(0.1) == pytest.approx(gram.at(w).leave_one_out(0.1))
    fresh = FourierGram(gram.features.narrow(keep), gram.rows.restrict(keep)).at(w[keep])
    assert_allclose(narrowed.solve(0.1), fresh.solve(0.1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n_columns", "n_waves"), [(1, 8), (128, 8), (129, 4), (257, 2)])
def test_waves_for_many_columns(n_columns, n_waves):
    assert waves_for(n_columns) == n_waves


def test_arguments_are_not_modified(draw, w):
    X = draw(n=9, d=4).X
    copy = X.copy()
    prepared = MIXED.prepare(X)
    _, pullback = MIXED.matrix_and_pullback(prepared, w)
    P = np.random.default_rng(0).standard_normal((9, 2))
    first = pullback(P, P)
    assert_allclose(pullback(P, P), first, rtol=1e-12)
    assert_array_equal(X, copy)


def test_features_without_a_weight_leave_the_matrix_as_it_is(draw):
    X = draw(n=9, d=8).X
    kernel = Additive(0.9, 2.0)
    w = np.zeros(8)
    w[[2, 5]] = 0.7, 0.4  # few enough for the matrix to be made from them alone
    K, pullback = kernel.matrix_and_pullback(kernel.prepare(X), w)
    assert_allclose(K, kernel.cross(X, X, w), atol=1e-12)
    P, Q = np.random.default_rng(0).standard_normal((2, 9, 3))

    def form(w):
        return np.sum(P * (kernel.cross(X, X, w) @ Q))

    assert_allclose(pullback(P, Q), naive.differences(form, w), rtol=1e-6)  # slopes of all
    nothing, _ = kernel.matrix_and_pullback(kernel.prepare(X), np.zeros(8))
    assert_array_equal(nothing, np.zeros((9, 9)))
