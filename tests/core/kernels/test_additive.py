"""The sum over single features: values, slopes, and what is made from few of them or in blocks."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin.core.arrays import to_numpy, transposed
from covmin.core.kernels.additive import WaveSum, waves_for


def test_matrix(draw, w, xp):
    X = draw(n=12, d=4).X
    kernel = WaveSum(0.8, 2.0)
    X_, w_ = xp.asarray(X), xp.asarray(w)
    cross = to_numpy(kernel.cross(X_, X_, w_))
    assert_allclose(cross, naive.additive_by_waves(X, X, w, 0.8, 2.0, 8), atol=1e-12)
    K = to_numpy(kernel.matrix_and_pullback(kernel.prepare(X_), w_)[0])
    assert_allclose(K, cross, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-10


@pytest.mark.parametrize("n_waves", [2, 4, 8])
def test_a_sample_with_itself_is_the_share_of_the_weights(n_waves, draw, w):
    """However many waves a feature has."""
    fixed = WaveSum(0.9, 2.0, n_waves).components(np.empty((4, 0))).fixed
    Phi = fixed.transform(draw().X)
    assert_allclose((Phi**2) @ fixed.powers(w), w.sum() / 2.0, rtol=1e-12)


def test_a_fast_wave_is_seen_beside_a_trend():
    """What ridge regression leaves of either."""
    x = np.linspace(-1.7, 1.7, 200)[:, None]
    for y in (x, np.sin(4.0 * x)):
        K = WaveSum().cross(x, x, np.ones(1))
        left = naive.criterion(K, y - y.mean(), 0.01) * 0.01 / y.var()
        assert left < 0.3  # a Gaussian leaves 0.8 of the wave


def test_features_without_a_weight_leave_the_matrix_as_it_is(draw):
    X = draw(n=9, d=8).X
    kernel = WaveSum(0.9, 2.0)
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


def test_waves_are_kept_up_to_a_gibibyte():
    """Beyond it the features themselves are, to be expanded in blocks."""
    kernel = WaveSum()
    assert kernel.prepare(np.zeros((3, 2)))[1].shape == (2, 8, 3)
    assert kernel.prepare(np.zeros((4097, 4096), dtype="float32"))[1].shape == (4096, 4097)


def test_blocks_of_features_change_nothing():
    n, d = 64, 33_000  # a block holds 2²⁴ numbers: 32,768 features of eight waves
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype="float32")
    w = rng.uniform(0.1, 1.0, d).astype("float32")
    P, Q = rng.standard_normal((2, n, 1), dtype="float32")
    kernel = WaveSum(0.9, 100.0)
    halves = [slice(0, d // 2), slice(d // 2, d)]
    matrix, pullback = kernel.matrix_and_pullback((None, transposed(X)), w)
    parts = [kernel.matrix_and_pullback(kernel.prepare(X[:, half]), w[half]) for half in halves]
    assert_allclose(matrix, sum(part for part, _ in parts), rtol=1e-4, atol=1e-3)
    expected = np.concatenate([pull(P, Q) for _, pull in parts])
    assert_allclose(pullback(P, Q), expected, rtol=1e-3, atol=1e-3)
    # Fewer rows on one side, the same blocks on both.
    assert_allclose(kernel.cross(X[:3], X, w), matrix[:3], rtol=1e-4, atol=1e-3)
    some = kernel.restrict((None, transposed(X)), np.array([7, 2]))
    few, _ = kernel.matrix_and_pullback(some, w[[7, 2]])
    assert_allclose(few, kernel.cross(X[:, [7, 2]], X[:, [7, 2]], w[[7, 2]]), atol=1e-5)


@pytest.mark.parametrize(
    ("n_columns", "n_waves", "alone"), [(1, 8, 8), (128, 8, 8), (129, 4, 4), (257, 2, 4)]
)
def test_waves_for_many_columns(n_columns, n_waves, alone):
    assert waves_for(n_columns) == n_waves
    assert waves_for(n_columns, alone=True) == alone


def test_a_column_of_two_values_may_look_constant_to_two_waves_but_not_to_four():
    """The one frequency of two waves turns a full circle between the values."""
    turn = np.array([[0.0], [2 * np.pi]])
    few, enough = (WaveSum(1.0, 1.0, n).components(np.empty((1, 0))).fixed for n in (2, 4))
    assert_allclose(np.ptp(few.transform(turn), axis=0), 0.0, atol=1e-12)
    assert np.ptp(enough.transform(turn), axis=0).max() > 0.1
