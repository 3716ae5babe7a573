"""The few operations that differ between array libraries, on each of them."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from covmin.core.arrays import (
    array_namespace,
    column_dots,
    cos_sin,
    default_block_size,
    factorize,
    l1_distances,
    like,
    pairwise_l1_dots,
    row_tiles,
    take,
    to_device,
    to_numpy,
    transposed,
)
from covmin.remarks import InputError


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_like_takes_the_library_and_the_dtype_of_the_reference(xp):
    reference = xp.zeros(1, dtype=xp.float32)
    array = like(np.array([1.0, 2.0]), reference)
    assert array_namespace(array) == array_namespace(reference)
    assert array.dtype == xp.float32
    assert_array_equal(to_numpy(array), [1.0, 2.0])


@pytest.mark.parametrize("axis", [0, 1])
def test_take_copies_rows_or_columns(xp, axis, rng):
    A = rng.standard_normal((4, 5))
    array = xp.asarray(A.copy())
    taken = take(array, np.array([2, 0]), axis)
    assert_array_equal(to_numpy(taken), np.take(A, [2, 0], axis))
    taken *= 0.0
    assert_array_equal(to_numpy(array), A)


def test_column_dots(xp, rng):
    A, B = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    dots = column_dots(xp.asarray(A), xp.asarray(B))
    assert_allclose(to_numpy(dots), (A * B).sum(axis=0))


def test_l1_distances(xp, rng):
    A, B = rng.standard_normal((4, 3)), rng.standard_normal((5, 3))
    distances = l1_distances(xp.asarray(A), xp.asarray(B))
    assert_allclose(to_numpy(distances), [[sum(abs(a - b)) for b in B] for a in A])


def test_row_tiles_hold_every_row_once():
    A = np.zeros((300, 700))
    tiles = row_tiles(A)
    assert len(tiles) > 2
    assert_array_equal(np.concatenate([np.arange(300)[tile] for tile in tiles]), np.arange(300))
    assert all(A[tile].nbytes <= 2**18 for tile in tiles)


@pytest.mark.parametrize("n", [5, 300])  # one tile of rows, and several
def test_pairwise_l1_dots(xp, rng, n):
    X, C = rng.standard_normal((n, 3)), rng.standard_normal((n, n))
    C = C + C.T
    assert (len(row_tiles(C)) == 1) == (n == 5)
    expected = [np.sum(C * cdist(column, column, "cityblock")) for column in X.T[:, :, None]]
    dots = to_numpy(pairwise_l1_dots(xp.asarray(X), xp.asarray(C)))
    assert_allclose(dots, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [4, 300])
def test_transposed_is_a_copy(xp, rng, n):
    A = rng.standard_normal((n, 3))
    array = xp.asarray(A.copy())
    turned = transposed(array)
    assert_array_equal(to_numpy(turned), A.T)
    turned *= 0.0
    assert_array_equal(to_numpy(array), A)


@pytest.mark.parametrize("n", [4, 300])
def test_cos_sin(xp, rng, n):
    angles = 10.0 * rng.standard_normal((n, 150))
    expected = 0.5 * np.hstack([np.cos(angles), np.sin(angles)])
    array = xp.asarray(angles.copy())
    assert_allclose(to_numpy(cos_sin(array, 0.5)), expected, atol=1e-14)
    assert_array_equal(to_numpy(array), angles)


@pytest.mark.parametrize(("dtype", "close"), [("float64", 1e-15), ("float32", 1e-6)])
def test_cos_sin_at_awkward_angles(dtype, close):
    """They are made from the tangent of half the angle, which has poles."""
    turns = np.pi * np.array([0.0, 0.5, 1.0, -1.0, 1.5, 3.0, 7.0, -2.0, 1e-9, 0.25, 12345.5])
    angles = turns[None, :].astype(dtype)
    expected = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    assert_allclose(cos_sin(angles, 0.5), 0.5 * expected, atol=close)


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-10), ("float32", 1e-4)])
def test_factorize_solves_and_inverts(xp, dtype, rtol, rng):
    A, B = rng.standard_normal((6, 9)), rng.standard_normal((6, 2))
    M = A @ A.T
    factor = factorize(xp.asarray(M.astype(dtype)))
    inverse = np.linalg.inv(M)
    solution = factor.solve(xp.asarray(B.astype(dtype)))
    assert to_numpy(solution).dtype == dtype
    assert_allclose(to_numpy(solution), inverse @ B, rtol=rtol, atol=rtol)
    assert_allclose(to_numpy(factor.inverse_diagonal()), np.diag(inverse), rtol=rtol)


@pytest.mark.parametrize("shift", [0.0, -1e-15, -1e-12])
def test_factorize_lifts_a_matrix_that_rounding_left_indefinite(xp, shift, rng):
    A = rng.standard_normal((8, 3))
    singular = A @ A.T + shift * np.eye(8)
    b = A @ rng.standard_normal((3, 1))
    solution = to_numpy(factorize(xp.asarray(singular.copy())).solve(xp.asarray(b)))
    # The lift changes the solution of a consistent system by no more than its own size.
    assert_allclose(singular @ solution, b, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_factorize_of_zero_does_not_raise(xp, dtype):
    factor = factorize(xp.zeros((3, 3), dtype=getattr(xp, dtype)))
    assert_array_equal(to_numpy(factor.solve(xp.zeros((3, 1), dtype=getattr(xp, dtype)))), 0.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_factorize_of_a_matrix_that_is_not_finite_says_what_to_do(xp, bad):
    M = np.eye(3)
    M[1, 1] = bad
    with pytest.raises(FloatingPointError, match=r"Standardise .*bandwidth"):
        factorize(xp.asarray(M))


def test_to_device_moves_to_torch():
    torch = pytest.importorskip("torch")
    tensor = to_device(np.ones(2, dtype=np.float32), "cpu")
    assert isinstance(tensor, torch.Tensor)
    assert tensor.dtype == torch.float32


def test_to_device_takes_arrays_that_cannot_be_written_to():
    pytest.importorskip("torch")
    X = np.ones(2)
    X.flags.writeable = False  # as joblib hands large arrays to its workers
    assert_array_equal(to_numpy(to_device(X, "cpu")), X)


@pytest.mark.parametrize("device", ["nonsense", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(device):
    pytest.importorskip("torch")
    with pytest.raises(InputError, match=r"no such device.*None") as refused:
        to_device(np.ones(2), device)
    assert refused.value.parameter == "device"


def test_to_device_without_torch_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"covmin\[torch\]"):
        to_device(np.ones(2), "cpu")


def test_blocks_are_larger_on_an_accelerator(xp):
    assert default_block_size(xp.zeros((3, 2))) == 1024
    torch = pytest.importorskip("torch")
    assert default_block_size(torch.zeros((3, 2), device="meta")) > 100_000
