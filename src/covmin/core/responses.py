"""Responses in a feature space: a low-rank factor of their kernel matrix.

The criterion uses only the columns of Y. Replacing Y by columns L with ``K_Y ≈ LLᵀ`` measures how
features affect the whole distribution of the response, not only its mean.
"""

import numpy as np

from .kernels import ScaledKernel


def kernel_factor(
    kernel: ScaledKernel, Y: np.ndarray, p: np.ndarray, *, max_rank: int = 50, tol: float = 1e-4
) -> np.ndarray:
    """Return columns L (n, rank) with ``K_Y ≈ LLᵀ``, by pivoted Cholesky factorisation.

    The pivot is the row of Y (n, n_outputs) with the largest residual. Rows are compared by
    content, so neither their order nor their repetition matters. The kernel must have
    ``k(y, y) = 1``. The factorisation stops when the mean of ``diag(K_Y − LLᵀ)`` under p is at
    most ``tol``.
    """
    w = np.ones(Y.shape[1])
    left = np.ones(Y.shape[0])
    columns: list[np.ndarray] = []
    # Among ties, the row closest to the mean comes first, whatever its position.
    centrality = -((Y - p @ Y) ** 2).sum(axis=1)
    while len(columns) < max_rank and p @ left > tol:
        worst = left >= left.max() * (1.0 - 1e-9)
        pivot = int(np.flatnonzero(worst)[np.argmax(centrality[worst])])
        column = kernel.cross(Y, Y[pivot : pivot + 1], w)[:, 0]
        for earlier in columns:
            column = column - earlier[pivot] * earlier
        column = column / np.sqrt(left[pivot])
        columns.append(column)
        left = np.maximum(left - column**2, 0.0)
    return np.stack(columns, axis=1)
