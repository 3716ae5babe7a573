"""The centred Gram operator at w, exact or by random features.

With sample weights p (Σp = 1; 1/n each unless given) and the inner product
``⟨a, b⟩ = Σᵢ pᵢ aᵢ bᵢ``, the operator is ``C_w f = G_w (p ∘ f)``, where
``G_w = H K_w Hᵀ`` and ``H = I − 1pᵀ``. With equal weights it is ``G_w f / n``, so

``(C_w + εI) f = Y   ⟺   (G_w + nεI) α = Y with α = f / n``:

the paper's system, free of n and ready for weighted samples. ``ε·f`` is the residual
of kernel ridge regression with a free intercept.

Both operators speak the same few verbs, so that one objective serves both. Vectors are
(n, k) arrays for the exact operator. For random features they are coefficients on the
basis ``[Y V]``, which holds every vector the objectives meet: all the linear algebra of
an evaluation is then D×D, and the samples are visited twice, whatever the objective.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from .arrays import (
    Array,
    Factor,
    add_diagonal,
    array_namespace,
    column_dots,
    factorize,
    like,
    subtract_outer_sum,
    take,
    to_numpy,
)
from .features import FiniteKernel, FixedMap
from .kernels import Kernel
from .rows import Rows

# Rows for each random feature from which the mean leverage stands for every row's own.
_MANY_ROWS = 20

__all__ = ["ExactGram", "FourierGram", "Gram", "Moments", "Operator"]


class Operator(Protocol):
    """``C_w`` at one w."""

    Y: Array
    """The centred responses, as a vector of this operator."""

    def matmul(self, F: Array) -> Array:
        """``C_w F``."""

    def solve(self, ridge: float) -> Array:
        """``(C_w + ridge·I)⁻¹ Y``."""

    def dots(self, P: Array, Q: Array) -> Array:
        """``⟨P, Q⟩`` column by column, shape (k,)."""

    def grad(self, P: Array, Q: Array) -> np.ndarray:
        """``∇_w Σ ⟨P, C_w Q⟩`` with P and Q held fixed, shape (d,)."""

    def leave_one_out(self, ridge: float) -> float:
        """Mean squared leave-one-out residual of kernel ridge regression, in closed form."""

    def predict(self, X: Array, ridge: float) -> np.ndarray:
        """Kernel ridge prediction of the centred responses at new samples, (m, k)."""


class Gram(Protocol):
    """The samples and the kernel, from which ``C_w`` is made at any w."""

    @property
    def zero_is_absorbing(self) -> bool:
        """Whether a feature at weight zero stays there."""

    @property
    def keeps_vectors(self) -> bool:
        """Whether a vector of an operator is one of the operators after :meth:`restrict`."""

    def at(self, w: np.ndarray) -> Operator:
        """The operator at w."""

    def restrict(self, columns: np.ndarray) -> Self:
        """The same problem with some of the features."""


@dataclass(frozen=True)
class ExactGram:
    """``C_w`` from the n×n kernel matrix: O(n²d + n³) time, O(n² + nd) memory.

    Parameters
    ----------
    kernel : Kernel
    X : array of shape (n_samples, n_features)
    Y : array of shape (n_samples, n_responses)
        Columns centred under p.
    p : array of shape (n_samples,)
        Positive weights that sum to one.
    prepared : object
        What the kernel made of X; None prepares it.
    """

    kernel: Kernel
    X: Array
    Y: Array
    p: Array
    prepared: Any = field(default=None, repr=False)
    keeps_vectors = True

    def __post_init__(self) -> None:
        if self.prepared is None:
            object.__setattr__(self, "prepared", self.kernel.prepare(self.X))

    @property
    def zero_is_absorbing(self) -> bool:
        """Whether a feature at weight zero stays there."""
        return self.kernel.zero_is_absorbing

    def at(self, w: np.ndarray) -> ExactOperator:
        """The operator at w."""
        return ExactOperator(self, like(w, self.X))

    def restrict(self, columns: np.ndarray) -> ExactGram:
        """The same problem with some of the features."""
        prepared = self.kernel.narrow(self.prepared, columns)
        X = prepared if self.prepared is self.X else take(self.X, columns, axis=1)
        return ExactGram(self.kernel, X, self.Y, self.p, prepared)


class ExactOperator:
    """``C_w f = H K_w Hᵀ (p ∘ f)`` with the kernel matrix held."""

    def __init__(self, gram: ExactGram, w: Array) -> None:
        self._gram = gram
        self._w = w
        self.Y = gram.Y
        self._K, self._pullback = gram.kernel.matrix_and_pullback(gram.prepared, w)

    def _dual(self, F: Array) -> Array:
        """``Hᵀ(p ∘ F)``: the coefficients of a centred function of the samples."""
        p = self._gram.p
        D = F * p[:, None]
        D -= p[:, None] * array_namespace(F).sum(D, axis=0)
        return D

    def matmul(self, F: Array) -> Array:
        """``C_w F``."""
        KF = self._K @ self._dual(F)
        KF -= self._gram.p @ KF
        return KF

    def _factor(self, ridge: float) -> Factor:
        p = self._gram.p
        means = self._K @ p
        G = subtract_outer_sum(self._K, means, means - p @ means, in_place=False)
        return factorize(add_diagonal(G, ridge / p))

    def solve(self, ridge: float) -> Array:
        """``(C_w + ridge·I)⁻¹ Y`` by one Cholesky factorisation and k solves."""
        return self._factor(ridge).solve(self.Y) / self._gram.p[:, None]

    def dots(self, P: Array, Q: Array) -> Array:
        """``⟨P, Q⟩`` column by column."""
        return column_dots(P * self._gram.p[:, None], Q)

    def grad(self, P: Array, Q: Array) -> np.ndarray:
        """``∇_w Σ ⟨P, C_w Q⟩`` is that of ``tr(aᵀK_w b)`` for the coefficients a and b."""
        a = self._dual(P)
        b = a if P is Q else self._dual(Q)
        return to_numpy(self._pullback(a, b)).astype(np.float64, copy=False)

    def leave_one_out(self, ridge: float) -> float:
        """Mean squared leave-one-out residual ``αᵢ / (cᵢ − pᵢ²/ε)``, ``c = diag((G + ε/p)⁻¹)``."""
        factor = self._factor(ridge)
        p = self._gram.p
        residuals = factor.solve(self.Y) / (factor.inverse_diagonal() - p**2 / ridge)[:, None]
        return float(array_namespace(p).sum(p[:, None] * residuals**2))

    def predict(self, X: Array, ridge: float) -> np.ndarray:
        """Kernel ridge prediction of the centred responses at new samples."""
        gram = self._gram
        alpha = self._factor(ridge).solve(self.Y)
        # The intercept makes the weighted residuals sum to zero; Y is centred.
        intercept = -(gram.p @ (self._K @ alpha))
        return to_numpy(gram.kernel.cross(X, gram.X, self._w) @ alpha + intercept)


@dataclass(frozen=True)
class Moments:
    """Sums over the rows of features that do not depend on w, taken once.

    Attributes
    ----------
    means : ndarray of shape (D,)
        ``pᵀΦ``.
    products : ndarray of shape (D, D)
        ``Φᵀ(p∘Φ)``.
    responses : ndarray of shape (D, k)
        ``Φᵀ(p∘Y)``.
    variances : ndarray of shape (k, k)
        ``Yᵀ(p∘Y)``.
    """

    means: np.ndarray
    products: np.ndarray
    responses: np.ndarray
    variances: np.ndarray

    def narrow(self, places: np.ndarray) -> Moments:
        """Those of some of the features."""
        products = self.products[np.ix_(places, places)]
        return Moments(self.means[places], products, self.responses[places], self.variances)


@dataclass(frozen=True)
class FourierGram:
    """``C_w`` from finite features, ``G_w ≈ V S_w Vᵀ`` with ``V = U_w − 1(pᵀU_w)``.

    S_w is a diagonal matrix. O(nD² + D³ + nDd) time; memory beyond the rows O(block·D + D²);
    no n×n matrix. Features that do not move with w are summed over the rows once.

    Parameters
    ----------
    features : FiniteKernel
    rows : Rows
        Samples, centred responses and weights.
    moments : Moments or None
        Of the features that do not move; None: they are summed here.
    """

    features: FiniteKernel
    rows: Rows
    moments: Moments | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        fixed = self.features.fixed
        if fixed is not None and self.moments is None:
            sums = self.rows.sum(partial(_fixed_moments_block, fixed))
            object.__setattr__(self, "moments", Moments(*(to_numpy(part) for part in sums)))

    @property
    def zero_is_absorbing(self) -> bool:
        """Whether a feature at weight zero stays there."""
        return self.features.zero_is_absorbing

    @property
    def keeps_vectors(self) -> bool:
        """Whether the number of features in the map stays when columns go."""
        return self.features.fixed_size

    def at(self, w: np.ndarray) -> FourierOperator:
        """The operator at w: the first pass over the rows, where features move with w."""
        return FourierOperator(self, w)

    def restrict(self, columns: np.ndarray) -> FourierGram:
        """The same problem with some of the features."""
        moments, fixed = self.moments, self.features.fixed
        if moments is not None and fixed is not None:
            moments = moments.narrow(fixed.places(columns))
        return FourierGram(self.features.narrow(columns), self.rows.restrict(columns), moments)


# The block functions are module-level so that an engine can send them to other processes.


def _fixed_moments_block(fixed: FixedMap, X: Array, Y: Array, p: Array) -> tuple[Array, ...]:
    """``pᵀΦ, Φᵀ(p∘Φ), Φᵀ(p∘Y), Yᵀ(p∘Y)`` of a block."""
    # √p on both sides keeps the product symmetric, which the library then exploits.
    root = array_namespace(X).sqrt(p)
    Phi = fixed.transform(X) * root[:, None]
    Y = Y * root[:, None]
    return root @ Phi, Phi.T @ Phi, Phi.T @ Y, Y.T @ Y


def _moments_block(
    features: FiniteKernel, w: np.ndarray, X: Array, Y: Array, p: Array
) -> tuple[Array, ...]:
    """``pᵀU, Uᵀ(p∘U), Uᵀ(p∘Y), Yᵀ(p∘Y)`` and, where there is Φ, ``Uᵀ(p∘Φ)`` of a block."""
    assert features.moving is not None
    root = array_namespace(X).sqrt(p)
    U = features.moving.like(X).transform(X, like(w, X))
    U *= root[:, None]
    Y = Y * root[:, None]
    sums = root @ U, U.T @ U, U.T @ Y, Y.T @ Y
    if features.fixed is None:
        return sums
    return *sums, U.T @ (features.fixed.transform(X) * root[:, None])


def _gradient_block(
    features: FiniteKernel,
    w: np.ndarray,
    constant: np.ndarray,
    coefficients: np.ndarray,
    weights: np.ndarray,
    X: Array,
    Y: Array,
    p: Array,
) -> tuple[Array, ...]:
    """``Σₐ pₐ ⟨∂Uₐ/∂wⱼ, Eₐ⟩`` of a block.

    ``E = ([Y U Φ]·coefficients + constant)·weightsᵀ``.
    """
    assert features.moving is not None
    U, pullback = features.moving.like(X).transform_and_pullback(X, like(w, X))
    c = like(coefficients, X)
    k, K = Y.shape[1], Y.shape[1] + U.shape[1]
    F = Y @ c[:k, :] + U @ c[k:K, :]
    if features.fixed is not None:
        F += features.fixed.transform(X) @ c[K:, :]
    F += like(constant, X)
    F *= p[:, None]
    return (pullback(F, like(weights, X)),)


def _loo_block(
    features: FiniteKernel,
    w: np.ndarray,
    means: np.ndarray,
    beta: np.ndarray,
    inverse: np.ndarray,
    X: Array,
    Y: Array,
    p: Array,
) -> tuple[Array, ...]:
    """Weighted squared leave-one-out residuals of a block."""
    xp = array_namespace(X)
    V = features.like(X).features(X, like(w, X)) - like(means, X)
    leverage = p * (1.0 + xp.sum((V @ like(inverse, X)) * V, axis=1))
    residuals = (Y - V @ like(beta, X)) / (1.0 - leverage)[:, None]
    return (xp.reshape(xp.sum(p[:, None] * residuals**2), (1,)),)


class FourierOperator:
    """``C_w`` on coefficients of the basis ``[Y V]``, with its moment matrix held.

    The D×D algebra is small and always NumPy float64 on the host.
    """

    def __init__(self, gram: FourierGram, w: np.ndarray) -> None:
        self._gram = gram
        self._w = w
        self._means, UU, UY, YY = self._sums(gram, w)
        self._k = k = YY.shape[0]
        D = self._means.size
        # Y is centred, so VᵀpY = UᵀpY.
        N = np.empty((k + D, k + D))
        N[:k, :k] = YY
        N[k:, :k] = UY
        N[:k, k:] = UY.T
        N[k:, k:] = UU
        N[k:, k:] -= np.outer(self._means, self._means)
        self._N = N
        self._powers = gram.features.powers(w, self._n_moving)
        self._open = np.flatnonzero(self._powers > 0.0)
        self.Y = np.eye(k + D, k)

    def _sums(self, gram: FourierGram, w: np.ndarray) -> tuple[np.ndarray, ...]:
        """Sums over the rows of all features, those that move first."""
        fixed = gram.moments
        if gram.features.moving is None:
            assert fixed is not None
            self._n_moving = 0
            return fixed.means, fixed.products, fixed.responses, fixed.variances
        parts = gram.rows.sum(partial(_moments_block, gram.features, w))
        means, UU, UY, YY, *cross = (to_numpy(part) for part in parts)
        self._n_moving = means.size
        if fixed is None:
            return means, UU, UY, YY
        products = np.block([[UU, cross[0]], [cross[0].T, fixed.products]])
        return (
            np.concatenate([means, fixed.means]),
            products,
            np.concatenate([UY, fixed.responses]),
            YY,
        )

    def _pad(self, beta: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros((self._k, beta.shape[1])), beta])

    def _against_V(self, F: np.ndarray) -> np.ndarray:
        """``Vᵀ(p ∘ F)``."""
        return self._N[self._k :] @ F

    def matmul(self, F: np.ndarray) -> np.ndarray:
        """``C_w F = V S Vᵀ(p ∘ F)``."""
        return self._pad(self._powers[:, None] * self._against_V(F))

    def _factor(self, ridge: float) -> tuple[Factor, np.ndarray]:
        """Of ``√S Vᵀ(p∘V) √S + ridge·I`` for the features with a power, and √S for these."""
        root = np.sqrt(self._powers[self._open])
        at = self._k + self._open
        S = self._N[np.ix_(at, at)] * root
        S *= root[:, None]
        return factorize(add_diagonal(S, np.full(S.shape[0], ridge))), root[:, None]

    def _beta(self, ridge: float) -> np.ndarray:
        """Ridge coefficients ``(Vᵀ(p∘V) + ridge·S⁻¹)⁻¹ Vᵀ(p∘Y)``, zero without a power."""
        beta = np.zeros((self._means.size, self._k))
        if self._open.size == 0:
            return beta
        factor, root = self._factor(ridge)
        beta[self._open] = root * factor.solve(root * self._against_V(self.Y)[self._open])
        return beta

    def solve(self, ridge: float) -> np.ndarray:
        """``(C_w + ridge·I)⁻¹ Y = (Y − Vβ)/ridge`` (Woodbury)."""
        return (self.Y - self._pad(self._beta(ridge))) / ridge

    def dots(self, P: np.ndarray, Q: np.ndarray) -> np.ndarray:
        """``⟨P, Q⟩`` column by column."""
        return column_dots(P, self._N @ Q)

    def grad(self, P: np.ndarray, Q: np.ndarray) -> np.ndarray:
        """``∇_w Σ ⟨P, C_w Q⟩``: the second pass over the rows, where features move with w."""
        VP = self._against_V(P)
        VQ = VP if P is Q else self._against_V(Q)
        features, m = self._gram.features, self._n_moving
        gradient = np.zeros(self._w.size)
        if features.fixed is not None:
            slopes = features.fixed_share * np.sum(VP[m:] * VQ[m:], axis=1)
            gradient += features.fixed.collect(slopes, self._w)
        if features.moving is not None:
            gradient += features.moving_share * self._moving_grad(P, Q, VP[:m], VQ[:m])
        return gradient

    def _moving_grad(
        self, P: np.ndarray, Q: np.ndarray, UP: np.ndarray, UQ: np.ndarray
    ) -> np.ndarray:
        if P is Q:
            coefficients, weights = 2.0 * P, UP
        else:
            coefficients = np.concatenate([P, Q], axis=1)
            weights = np.concatenate([UQ, UP], axis=1)
        # V = U − 1·meansᵀ: the means leave the sum over features as one constant.
        constant = -(self._means @ coefficients[self._k :])
        block = partial(
            _gradient_block, self._gram.features, self._w, constant, coefficients, weights
        )
        return to_numpy(self._gram.rows.sum(block)[0])

    def leave_one_out(self, ridge: float) -> float:
        """Mean squared leave-one-out residual, by one more pass over the rows.

        With many rows for each feature every row has nearly the same, tiny leverage. The mean
        leverage then serves for all of them (generalised cross-validation), without a pass.
        """
        beta = self._beta(ridge)
        inverse = np.zeros((self._means.size,) * 2)
        if self._open.size:
            factor, root = self._factor(ridge)
            solved = factor.solve(np.eye(root.size)) * root * root.T
            inverse[np.ix_(self._open, self._open)] = solved
        n, k = self._gram.rows.shape[0], self._k
        if n >= _MANY_ROWS * self._open.size:
            leverage = (1.0 + np.sum(inverse * self._N[k:, k:])) / n
            residual = self.Y - self._pad(beta)
            return float(self.dots(residual, residual).sum()) / (1.0 - leverage) ** 2
        block = partial(_loo_block, self._gram.features, self._w, self._means, beta, inverse)
        return float(self._gram.rows.sum(block)[0][0])

    def predict(self, X: Array, ridge: float) -> np.ndarray:
        """Kernel ridge prediction of the centred responses at new samples."""
        U = to_numpy(self._gram.features.like(X).features(X, like(self._w, X)))
        return (U - self._means) @ self._beta(ridge)
