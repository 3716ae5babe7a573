"""The few operations that the array API lacks, or that NumPy or torch offer in a faster form.

No other module of :mod:`covmin.core` checks which array library is in use.
"""

from dataclasses import dataclass
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np
from array_api_compat import is_numpy_array, is_torch_array
from scipy.linalg import get_lapack_funcs
from scipy.spatial.distance import cdist

from covmin.remarks import InputError, required

Array = Any

device_of = array_api_compat.device

# Size of a tile of rows: a few such arrays fit in the cache of one core.
_TILE_BYTES = 2**18
# Rows per block. On a CPU, products gain nothing beyond a thousand rows, and the features of a
# larger block do not fit in the cache. An accelerator needs enough work for all its cores.
_HOST_BLOCK = 1024
_DEVICE_BLOCK = 2**17


def array_namespace(array: Array) -> Any:
    """Return the functions of the array's library; to look for NumPy's takes longer than many."""
    if type(array) is np.ndarray:
        return array_api_compat.numpy
    return array_api_compat.array_namespace(array)


def to_numpy(array: Array) -> np.ndarray:
    """Return ``array`` as a NumPy array on the host."""
    if is_torch_array(array):
        return array.detach().cpu().numpy()
    return np.asarray(array)


def like(values: Array, reference: Array) -> Array:
    """Return ``values`` in the array library, device and dtype of ``reference``."""
    xp = array_namespace(reference)
    return xp.asarray(values, dtype=reference.dtype, device=device_of(reference))


def take(array: Array, indices: Array, axis: int) -> Array:
    """Copy the rows (``axis=0``) or columns (``axis=1``) at ``indices``."""
    xp = array_namespace(array)
    where = xp.asarray(indices, device=device_of(array))
    if is_torch_array(array):  # xp.take looks for negative indices, which takes longer
        return array.index_select(axis, where)
    return xp.take(array, where, axis=axis)


def to_device(array: Array, device: str) -> Array:
    """Move a NumPy array to a torch device."""
    if is_torch_array(array):
        return array
    torch = required("torch", f"device={device!r}", "torch")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        text = f"device={device!r} cannot be used: torch finds no such device on this machine. Use"
        raise InputError(f'{text} "cpu", "cuda", or None for NumPy.', "device") from error
    # torch warns about read-only arrays; we never write to them, but a copy is cheap.
    return torch.as_tensor(np.require(array, requirements="W"), device=device)


def default_block_size(array: Array) -> int:
    """Return the number of rows per block that suits the library and the device."""
    on_accelerator = is_torch_array(array) and device_of(array).type != "cpu"
    return _DEVICE_BLOCK if on_accelerator else _HOST_BLOCK


def for_products(array: Array) -> Array:
    """Return an array (..., n) for sums of products over n that may be rounded to a per cent.

    On an accelerator it is in half precision, with zeros up to a multiple of eight, which its
    matrix products need to be fast. On a CPU it is unchanged.
    """
    if default_block_size(array) == _HOST_BLOCK:
        return array
    import torch

    return torch.nn.functional.pad(array, (0, -array.shape[-1] % 8)).bfloat16()


def row_tiles(array: Array, fewest: int = 1) -> list[slice]:
    """Return slices of rows, each small enough that several passes over it stay in the cache.

    Only for NumPy, whose passes run on one core; other libraries get the whole array. For matrix
    products, ``fewest`` should be about a hundred.
    """
    n = array.shape[0]
    if not is_numpy_array(array):
        return [slice(0, n)]
    rows = max(fewest, _TILE_BYTES // max(array.nbytes // max(n, 1), 1))
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def centred(K: Array, p: Array) -> Array:
    """Return ``H K Hᵀ`` with ``H = I − 1pᵀ`` for a symmetric K, as a new array."""
    means = K @ p
    out, columns = array_namespace(K).empty_like(K), means - p @ means
    for tile in row_tiles(K):
        if is_numpy_array(K):
            np.subtract(K[tile], means[tile, None], out=out[tile])
        else:
            out[tile, :] = K[tile, :] - means[tile, None]
        out[tile, :] -= columns
    return out


def cos_sin(angles: Array, amplitude: float) -> Array:
    """Return ``amplitude · [cos(angles), sin(angles)]`` side by side: (n, D) gives (n, 2D).

    In single precision, NumPy's cosine and sine are vectorised on every processor. In double
    precision only the tangent is, on some processors. With ``t = tan(angle/2)``, the identities
    ``cos = 2/(1 + t²) − 1`` and ``sin = 2t/(1 + t²)`` are accurate to the last digit and ten
    times as fast there.
    """
    n, D = angles.shape
    if not is_numpy_array(angles):
        xp = array_namespace(angles)
        pairs = xp.empty((n, 2 * D), dtype=angles.dtype, device=device_of(angles))
        pairs[:, :D], pairs[:, D:] = xp.cos(angles), xp.sin(angles)
        pairs *= amplitude
        return pairs
    waves = np.empty((n, 2 * D), dtype=angles.dtype)
    for tile in row_tiles(waves):
        cosines, sines = waves[tile, :D], waves[tile, D:]
        if angles.dtype == np.float32:
            np.cos(angles[tile], out=cosines)
            np.sin(angles[tile], out=sines)
            waves[tile] *= amplitude
            continue
        np.multiply(angles[tile], 0.5, out=sines)
        np.tan(sines, out=sines)
        np.multiply(sines, sines, out=cosines)
        cosines += 1.0
        np.divide(2.0 * amplitude, cosines, out=cosines)
        sines *= cosines
        cosines -= amplitude
    return waves


def transposed(array: Array) -> Array:
    """Return a contiguous copy of the transpose."""
    if is_numpy_array(array):
        return np.array(array.T, order="C")
    if is_torch_array(array):
        return array.T.clone().contiguous()
    return array_namespace(array).asarray(array.T, copy=True)


def column_dots(A: Array, B: Array) -> Array:
    """Return ``Σₐ Aₐⱼ Bₐⱼ`` for every column j; NumPy needs no array for the products."""
    if is_numpy_array(A):
        return np.einsum("aj,aj->j", A, B)
    return array_namespace(A).sum(A * B, axis=0)


def l1_distances(A: Array, B: Array) -> Array:
    """Return ``Σⱼ |aⱼ − bⱼ|`` for all pairs of rows, in O(n²) memory by NumPy and torch."""
    if is_numpy_array(A):
        return cdist(A, B, "cityblock").astype(A.dtype, copy=False)
    if is_torch_array(A):
        import torch

        return torch.cdist(A, B, p=1)
    xp = array_namespace(A)
    return xp.sum(xp.abs(A[:, None, :] - B[None, :, :]), axis=2)


def pairwise_l1_dots(X: Array, C: Array) -> Array:
    """Return ``Σₐᵦ Cₐᵦ |xₐⱼ − xᵦⱼ|`` for every column j and a symmetric ``C`` (n, n).

    Processes one feature at a time and never forms an n×n×d array. Entries right of a tile of
    rows on the diagonal count twice, by symmetry.
    """
    xp = array_namespace(X)
    columns = transposed(X)
    dots = xp.zeros(X.shape[1], dtype=X.dtype, device=device_of(X))
    for tile in row_tiles(C):
        weights = xp.asarray(C[tile, tile.start :], copy=True)
        weights[:, tile.stop - tile.start :] *= 2.0
        for j in range(X.shape[1]):
            apart = xp.abs(columns[j, tile][:, None] - columns[j, tile.start :][None, :])
            apart *= weights
            dots[j] += xp.sum(apart)
    return dots


@dataclass(frozen=True)
class Factor:
    """The Cholesky factor L of a symmetric positive definite matrix M."""

    L: Array

    def solve(self, B: Array) -> Array:
        """Return ``M⁻¹B`` for B (n, k)."""
        if is_numpy_array(B):
            return get_lapack_funcs("potrs", (self.L,))(self.L, B, lower=1)[0]
        if is_torch_array(B):
            import torch

            return torch.cholesky_solve(B, self.L)
        xp = array_namespace(B)
        return xp.linalg.solve(self.L.T, xp.linalg.solve(self.L, B))

    def inverse_diagonal(self) -> Array:
        """Return the diagonal (n,) of M⁻¹."""
        if is_numpy_array(self.L):
            # In Fortran order; the upper triangle is not zeroed.
            inverse = get_lapack_funcs("trtri", (self.L,))(self.L, lower=1)[0]
            return np.array([column[j:] @ column[j:] for j, column in enumerate(inverse.T)])
        xp = array_namespace(self.L)
        eye = xp.eye(self.L.shape[0], dtype=self.L.dtype, device=device_of(self.L))
        return xp.linalg.diagonal(self.solve(eye))


def factorize(M: Array, ridge: Array | float = 0.0) -> Factor:
    """Factorise ``M + diag(ridge)`` for a symmetric ``M`` (n, n), which is overwritten.

    If rounding has made the matrix indefinite, its diagonal is raised by the smallest power-of-ten
    multiple of the rounding error that makes it positive definite. A pivot as small as the
    rounding error of its entry counts as zero, because its sign would depend on the processor.
    Each row is raised relative to its own entry, which is huge for a sample of hardly any weight.
    """
    xp = array_namespace(M)
    diagonal = xp.linalg.diagonal(M) + ridge
    scale = float(xp.max(diagonal))
    if not np.isfinite(scale):
        text = "The kernel matrix is not finite, because the weighted samples overflow."
        cure = "Standardise the features (standardize=True) or use a larger bandwidth."
        raise FloatingPointError(f"{text} {cure}")
    rounding = float(xp.finfo(M.dtype).eps)
    least = xp.full_like(diagonal, max(scale * rounding, float(xp.finfo(M.dtype).smallest_normal)))
    lifted, lift = xp.where(diagonal > least, diagonal, least), 0.0
    while True:
        raised, fails = diagonal + lift * lifted, 0
        if is_numpy_array(M):
            np.einsum("ii->i", M)[...] = raised
            # M is symmetric, so its transpose is the Fortran-ordered array that LAPACK expects.
            L, fails = get_lapack_funcs("potrf", (M,))(M.T, lower=1, overwrite_a=1, clean=0)
        elif is_torch_array(M):
            import torch

            M.diagonal().copy_(raised)
            L, fails = torch.linalg.cholesky_ex(M)
        else:
            eye = xp.eye(M.shape[0], dtype=M.dtype, device=device_of(M))
            try:
                L = xp.linalg.cholesky(M + eye * (raised - xp.linalg.diagonal(M))[:, None])
            except np.linalg.LinAlgError:
                fails = 1
        if int(fails) == 0 and xp.all(xp.linalg.diagonal(L) ** 2 > rounding * raised):
            return Factor(L)
        if is_numpy_array(M):
            # LAPACK has overwritten one triangle; the other one still holds M.
            lower = np.tril_indices(M.shape[0], -1)
            M.T[lower] = M[lower]
        lift = max(10.0 * lift, rounding)
