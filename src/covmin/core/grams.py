"""The centred Gram operator at w, from the exact kernel or from random Fourier features.

With sample weights p (Σp = 1; 1/n each by default) and the inner product
``⟨a, b⟩ = Σᵢ pᵢ aᵢ bᵢ``, the operator is ``C_w f = G_w (p ∘ f)``, where
``G_w = H K_w Hᵀ`` and ``H = I − 1pᵀ``. With equal weights it is ``G_w f / n``, so

``(C_w + εI) f = Y   ⟺   (G_w + nεI) α = Y with α = f / n``,

which is the paper's system, independent of n and ready for weighted samples. ``ε·f`` is the
residual of kernel ridge regression with an unpenalised intercept.

Both operators have the same methods, so one objective serves both: ``matmul(F)`` is ``C_w F``,
``solve(ridge)`` is ``(C_w + ridge·I)⁻¹ Y``, ``dots(P, Q)`` are the ``⟨P, Q⟩`` column by column, and
``grad(P, Q)`` is ``∇_w Σ ⟨P, C_w Q⟩`` for fixed P and Q. For the exact operator, vectors are (n, k)
arrays. For random Fourier features they are coefficients in the basis ``[Y V]``, which
spans all vectors that the objectives need: the linear algebra of an evaluation is then D×D, and
each evaluation passes over the samples twice, whatever the objective.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from .arrays import Array, array_namespace, centred, column_dots, factorize, like, take, to_numpy
from .kernels.base import Components, Pullback, ScaledKernel
from .rows import Kept, Rows

# Weighted sums over the rows of components Φ (n, D) that do not depend on w, computed once:
# pᵀΦ (D,), Φᵀ(p∘Φ) (D, D) less the product of the means, Φᵀ(p∘Y) (D, k), Yᵀ(p∘Y) (k, k).
Moments = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Sums = tuple[Array, ...]


@dataclass(eq=False)
class ExactOperator:
    """``C_w f = H K_w Hᵀ (p ∘ f)`` with a stored kernel matrix."""

    Y: Array
    p: Array
    K: Array = field(repr=False)
    pullback: Pullback

    def _dual(self, F: Array) -> Array:
        """Return ``Hᵀ(p ∘ F)``, the coefficients of a centred function of the samples."""
        p = self.p
        D = F * p[:, None]
        D -= p[:, None] * array_namespace(F).sum(D, axis=0)
        return D

    def matmul(self, F: Array) -> Array:
        KF = self.K @ self._dual(F)
        KF -= self.p @ KF
        return KF

    def solve(self, ridge: float) -> Array:
        """Return ``(C_w + ridge·I)⁻¹ Y`` by one Cholesky factorisation and k solves."""
        factor = factorize(centred(self.K, self.p), ridge / self.p)
        return factor.solve(self.Y) / self.p[:, None]

    def dots(self, P: Array, Q: Array) -> Array:
        return column_dots(P * self.p[:, None], Q)

    def grad(self, P: Array, Q: Array) -> np.ndarray:
        """Return the gradient of ``tr(aᵀK_w b)`` for the coefficients a of P and b of Q."""
        a = self._dual(P)
        b = a if P is Q else self._dual(Q)
        return to_numpy(self.pullback(a, b)).astype(np.float64, copy=False)

    def leave_one_out(self, ridge: float) -> float:
        """Return the mean square of ``αᵢ / (cᵢ − pᵢ²/ε)`` with ``c = diag((G + ε/p)⁻¹)``."""
        p = self.p
        factor = factorize(centred(self.K, p), ridge / p)
        residuals = factor.solve(self.Y) / (factor.inverse_diagonal() - p**2 / ridge)[:, None]
        return float(array_namespace(p).sum(p[:, None] * residuals**2))


@dataclass(frozen=True)
class ExactGram:
    """``C_w`` from the n×n kernel matrix: O(n²d + n³) time, O(n² + nd) memory."""

    kernel: ScaledKernel
    prepared: Any = field(repr=False)  # what the kernel precomputed from the samples (n, d)
    Y: Array  # (n, k), columns centred under p
    p: Array  # (n,), positive, sum to one
    keeps_vectors = True

    @property
    def zero_is_absorbing(self) -> bool:
        return self.kernel.zero_is_absorbing

    def at(self, w: np.ndarray) -> ExactOperator:
        K, pullback = self.kernel.matrix_and_pullback(self.prepared, like(w, self.Y))
        return ExactOperator(self.Y, self.p, K, pullback)

    def restrict(self, columns: np.ndarray) -> Self:
        return replace(self, prepared=self.kernel.restrict(self.prepared, columns))


@dataclass(frozen=True)
class FourierGram:
    """``C_w`` from a finite feature map: ``G_w ≈ V S_w Vᵀ`` with ``V = U_w − 1(pᵀU_w)``.

    S_w is diagonal. Time O(nD² + D³ + nDd), memory beyond the rows O(block·D + D²), no n×n matrix.
    Components that do not depend on w are summed over the rows once.
    """

    components: Components
    rows: Rows
    # Of the fixed components; the components themselves are stored too, if there is room.
    moments: Moments | None = field(default=None, repr=False)
    fixed: Kept = field(default=None, repr=False)

    def __post_init__(self) -> None:
        fixed = self.components.fixed
        if fixed is not None and self.moments is None:
            width = fixed.powers(np.zeros(self.rows.shape[1])).size
            kept = self.rows.keep(fixed.transform, width)
            sums = self.rows.sum(partial(_fixed_block, fixed), kept)
            object.__setattr__(self, "moments", _centred(*map(to_numpy, sums)))
            object.__setattr__(self, "fixed", kept)

    @property
    def zero_is_absorbing(self) -> bool:
        return self.components.zero_is_absorbing

    @property
    def keeps_vectors(self) -> bool:
        return self.components.fixed is None  # otherwise there are fewer components

    def at(self, w: np.ndarray) -> "FourierOperator":
        return FourierOperator(self, w)

    def restrict(self, columns: np.ndarray) -> Self:
        moments, kept, fixed = self.moments, self.fixed, self.components.fixed
        if moments is not None and fixed is not None:
            places = fixed.places(columns)
            means, products, responses, variances = moments
            products = products[np.ix_(places, places)]
            moments = means[places], products, responses[places], variances
            kept = kept and [take(Phi, places, axis=1) for Phi in kept]
        components, rows = self.components.restrict(columns), self.rows.restrict(columns)
        return replace(self, components=components, rows=rows, moments=moments, fixed=kept)


# The block functions are at module level, so that they can be sent to other processes. U and Φ are
# the components of a block, if they are stored.


def _sums(U: Array, Y: Array, p: Array) -> Sums:
    """Return ``pᵀU, Uᵀ(p∘U), Uᵀ(p∘Y), Yᵀ(p∘Y)``."""
    # √p on both sides keeps the product symmetric, which BLAS exploits.
    root = array_namespace(p).sqrt(p)
    U, Y = U * root[:, None], Y * root[:, None]
    return root @ U, U.T @ U, U.T @ Y, Y.T @ Y


def _fixed_block(fixed: Any, X: Array, Y: Array, p: Array, Phi: Array = None) -> Sums:
    return _sums(fixed.transform(X) if Phi is None else Phi, Y, p)


def _moving_block(
    maps: tuple[Any, ...], X: Array, Y: Array, p: Array, U: Array = None, Phi: Array = None
) -> Sums:
    """Return the sums of the moving components, and ``Uᵀ(p∘Φ)`` if there are fixed ones."""
    moving, fixed, w = maps
    U = moving.transform(X, w) if U is None else U
    if fixed is None:
        return _sums(U, Y, p)
    Phi = fixed.transform(X) if Phi is None else Phi
    return *_sums(U, Y, p), (U * p[:, None]).T @ Phi


def _gradient_block(
    parts: tuple[Any, ...], X: Array, Y: Array, p: Array, U: Array = None, Phi: Array = None
) -> Sums:
    """Return ``Σₐ pₐ ⟨∂Uₐ/∂wⱼ, Eₐ⟩`` with ``E = ([Y U Φ]·coefficients + constant)·weightsᵀ``."""
    moving, fixed, w, *arrays = parts
    constant, coefficients, weights = (like(array, X) for array in arrays)
    U = moving.transform(X, w) if U is None else U
    k, K = Y.shape[1], Y.shape[1] + U.shape[1]
    F = Y @ coefficients[:k, :] + U @ coefficients[k:K, :]
    if fixed is not None:
        F += (fixed.transform(X) if Phi is None else Phi) @ coefficients[K:, :]
    F += constant
    F *= p[:, None]
    return (moving.pullback(X, U, F, weights),)


def _centred(means: np.ndarray, products: np.ndarray, *others: np.ndarray) -> Any:
    """Return sums with the products of centred components; Y is centred, so ``VᵀpY = UᵀpY``."""
    return means, products - np.outer(means, means), *others


class FourierOperator:
    """``C_w`` on coefficients in the basis ``[Y V]``, with a stored moment matrix.

    The D×D linear algebra is small and always NumPy float64 on the host.
    """

    def __init__(self, gram: FourierGram, w: np.ndarray) -> None:
        self._gram, self._w, rows = gram, w, gram.rows
        moving, fixed = gram.components.moving, gram.components.fixed
        self._n_moving = m = 0 if moving is None else 2 * int(moving.frequencies.shape[1])
        if moving is None:
            means, products, responses, YY = gram.moments  # type: ignore[misc]
        else:
            self._kept = rows.keep(partial(moving.transform, w=w), m), gram.fixed
            sums = rows.sum(partial(_moving_block, (moving, fixed, w)), *self._kept)
            means, products, responses, YY, *cross = _centred(*map(to_numpy, sums))
            if gram.moments is not None:  # the moving components come first
                of_fixed = gram.moments
                C = cross[0] - np.outer(means, of_fixed[0])
                products = np.block([[products, C], [C.T, of_fixed[1]]])
                means = np.concatenate([means, of_fixed[0]])
                responses = np.concatenate([responses, of_fixed[2]])
        self._means, self._k = means, YY.shape[0]
        self._N = np.block([[YY, responses.T], [responses, products]])
        self._powers = gram.components.powers(w, m)
        self._open = np.flatnonzero(self._powers > 0.0)
        self.Y = np.eye(len(self._N), self._k)

    def _pad(self, beta: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros((self._k, beta.shape[1])), beta])

    def matmul(self, F: np.ndarray) -> np.ndarray:
        """Return ``V S Vᵀ(p ∘ F)``."""
        return self._pad(self._powers[:, None] * (self._N[self._k :] @ F))

    def _ridge(self, ridge: float, T: np.ndarray) -> np.ndarray:
        """Return ``(Vᵀ(p∘V) + ridge·S⁻¹)⁻¹ T`` for T (D, c); 0 for components with zero power."""
        solved = np.zeros_like(T)
        if self._open.size:
            root = np.sqrt(self._powers[self._open])
            at: Any = self._k + self._open
            S = self._N[self._k :, self._k :]
            # Indices are slower than slices.
            S = (S if at.size == len(S) else self._N[np.ix_(at, at)]) * root
            S *= root[:, None]
            root = root[:, None]
            solved[self._open] = root * factorize(S, ridge).solve(root * T[self._open])
        return solved

    def solve(self, ridge: float) -> np.ndarray:
        """Return ``(C_w + ridge·I)⁻¹ Y = (Y − Vβ)/ridge`` (Woodbury)."""
        beta = self._ridge(ridge, self._N[self._k :, : self._k])
        return (self.Y - self._pad(beta)) / ridge

    def dots(self, P: np.ndarray, Q: np.ndarray) -> np.ndarray:
        return column_dots(P, self._N @ Q)

    def grad(self, P: np.ndarray, Q: np.ndarray) -> np.ndarray:
        """Return ``∇_w Σ ⟨P, C_w Q⟩``; moving components need a second pass over the rows."""
        VP = self._N[self._k :] @ P
        VQ = VP if P is Q else self._N[self._k :] @ Q
        components, m = self._gram.components, self._n_moving
        gradient = np.zeros(self._w.size)
        if components.fixed is not None:
            slopes = components.fixed_share * np.sum(VP[m:] * VQ[m:], axis=1)
            gradient += components.fixed.collect(slopes, self._w)
        if components.moving is not None:
            coefficients, weights = 2.0 * P, VP[:m]
            if P is not Q:
                coefficients, weights = np.hstack([P, Q]), np.hstack([VQ[:m], VP[:m]])
            # V = U − 1·meansᵀ: the means contribute one constant to the sum over components.
            constant = -(self._means @ coefficients[self._k :])
            maps = components.moving, components.fixed, self._w
            block = partial(_gradient_block, (*maps, constant, coefficients, weights))
            (slopes,) = self._gram.rows.sum(block, *self._kept)
            gradient += components.moving_share * to_numpy(slopes)
        return gradient


# The samples and the kernel, from which ``C_w`` is computed at any w.
Gram = ExactGram | FourierGram
