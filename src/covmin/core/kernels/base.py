"""The kernel interface: parameters, the kernel at a scale, its components; and code they share.

Components are a finite feature map with ``K_w ≈ c U_w U_wᵀ + g Φ S_w Φᵀ``, evaluated on blocks of
rows; they are so called to distinguish them from the features to be selected. Components of the
first kind, U_w, move with the weights: random Fourier features. Components of the second kind, Φ,
are fixed, and only their powers, the diagonal matrix S_w, depend on the weights. A linear kernel
and a sum of one-dimensional kernels are of the second kind: sums over the rows are then computed
once, for all weights.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.random import Generator

from ..arrays import Array, array_namespace, cos_sin, like, take

Pullback = Callable[[Array, Array], Array]
# Beyond this, squares of bandwidths and their inverses overflow.
_LARGEST_BANDWIDTH = 1e100


@dataclass(frozen=True)
class Scale:
    """The scale of a stage of the path, which the kernel adapts to."""

    sigma: float  # bandwidth σ
    n_features: float = 1.0  # number of features whose variances add up to σ²
    budget: float = 1.0  # number of features that the stage keeps
    n_waves: int = 8  # cosines and sines per column of an additive part


class ScaledKernel(Protocol):
    """A kernel on the weighted samples ``w ⊙ x``, with all parameters fixed."""

    # Whether ∂K/∂wⱼ vanishes at wⱼ = 0, so that a feature at zero stays there.
    zero_is_absorbing: bool

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        """Return the kernel matrix (n, m) between the rows of A (n, d) and B (m, d)."""

    def prepare(self, X: Array) -> Any:
        """Precompute from X (n, d) everything that does not depend on w."""

    def restrict(self, prepared: Any, columns: np.ndarray) -> Any:
        """Restrict the result of :meth:`prepare` to some columns."""

    def matrix_and_pullback(self, prepared: Any, w: Array) -> tuple[Array, Pullback]:
        """Return the kernel matrix K (n, n) and the map (P, Q) ↦ ``tr(Pᵀ ∂K/∂wⱼ Q)``."""

    def components(self, frequencies: Array) -> "Components":
        """Return the feature map whose inner products approximate the kernel."""


@dataclass(frozen=True)
class FourierMap:
    """Random Fourier features ``U = √(2/D) [cos((X ∘ w) Ω/σ), sin((X ∘ w) Ω/σ)]``.

    Using both cosine and sine needs no random phase: the diagonal of ``UUᵀ`` is exact, and the
    product with Ω is half the size. At wⱼ = 0 the derivative is zero only on average over Ω, so
    unlike with the exact Gaussian kernel, a feature at zero can come back.
    """

    frequencies: Array  # Ω (n_columns, D/2), drawn for unit bandwidth
    sigma: float = 1.0  # bandwidth σ

    def transform(self, X: Array, w: Array) -> Array:
        # The weights scale Ω (d·D/2 numbers), not X (n·d numbers).
        weights = like(w, X) / float(self.sigma)
        angles = X @ (like(self.frequencies, X) * weights[:, None])
        return cos_sin(angles, float(1.0 / np.sqrt(self.frequencies.shape[1])))

    def pullback(self, X: Array, U: Array, F: Array, W: Array) -> Array:
        """Return ``Σ (FWᵀ) ∘ ∂U/∂wⱼ`` (d,) for F (n, k) and W (D, k), with small k.

        It is a product of Ω and ``Xᵀ((FW_sᵀ) ∘ cos − (FW_cᵀ) ∘ sin)``.
        """
        xp, half = array_namespace(X), self.frequencies.shape[1]
        if F.shape[1] == 1:  # a product with all components is faster than passes over them
            XU = (X * F).T @ U
            products = XU[:, :half] * W[half:, 0] - XU[:, half:] * W[:half, 0]
        else:
            cosines, sines = U[:, :half], U[:, half:]
            products = X.T @ ((F @ W[half:, :].T) * cosines - (F @ W[:half, :].T) * sines)
        return xp.sum(like(self.frequencies, X) * products, axis=1) / float(self.sigma)


@dataclass(frozen=True)
class Components:
    """A finite feature map of a kernel: ``K_w ≈ c U_w U_wᵀ + g Φ S_w Φᵀ``.

    Of fixed components, ``transform(X)`` are Φ (n, D), ``powers(w)`` is the diagonal of S_w,
    ``collect(slopes, w)`` the derivative in w (d,) given that in the powers (D,), and
    ``places(columns)`` are the positions, among all D, of those of some columns of X.
    """

    moving: FourierMap | None = None  # U_w
    fixed: Any = None  # Φ and S_w
    moving_share: float = 1.0  # c
    fixed_share: float = 1.0  # g

    @property
    def zero_is_absorbing(self) -> bool:
        return self.moving is None and self.fixed is not None and self.fixed.zero_is_absorbing

    def restrict(self, columns: np.ndarray) -> Self:
        """Return the same components for some of the columns of X."""
        if self.moving is None:
            return self
        frequencies = take(self.moving.frequencies, columns, axis=0)
        return replace(self, moving=FourierMap(frequencies, self.moving.sigma))

    def powers(self, w: np.ndarray, n_moving: int) -> np.ndarray:
        """Return the factor (D,) of each component in the kernel."""
        moving = np.full(n_moving, self.moving_share)
        if self.fixed is None:
            return moving
        return np.concatenate([moving, self.fixed_share * self.fixed.powers(w)])


class Configurable:
    """A dataclass whose fields are parameters, with scikit-learn's get_params and set_params."""

    def __repr__(self) -> str:
        usual = {each.name: each.default for each in fields(self)}  # type: ignore[arg-type]
        changed = (f"{k}={v!r}" for k, v in self.get_params().items() if v != usual[k])
        return f"{type(self).__name__}({', '.join(changed)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, in place."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                text = f"{type(self).__name__} has no parameter {name!r}"
                raise ValueError(f"{text}; it has {', '.join(known) or 'none'}.")
            setattr(self, name, value)
        return self


class Kernel(Configurable):
    """A kernel with the parameters that users set, and the properties that the fit depends on."""

    name: ClassVar[str]  # name for users
    order: ClassVar[int] = 2  # distances that set the bandwidth: 1 for L1, 2 for Euclidean
    sees_interactions: ClassVar[bool] = True  # False for a sum over single columns
    sums_features: ClassVar[bool] = False  # whether it includes an additive part
    has_components: ClassVar[bool] = False  # whether a finite feature map approximates it
    components_are_exact: ClassVar[bool] = False  # whether the columns themselves are that map
    bandwidth: float | str  # σ; "median" applies the median rule at each stage

    def check(self) -> None:
        """Raise an error if a parameter is invalid."""
        bandwidth: Any = self.bandwidth
        if isinstance(bandwidth, str) and bandwidth == "median":
            return
        if not is_finite_number(bandwidth) or not bandwidth > 0.0:
            raise ValueError(f'bandwidth must be "median" or a positive number; got {bandwidth!r}.')
        # Compare as float: a narrower type would overflow next to these limits.
        if not 1.0 / _LARGEST_BANDWIDTH <= float(bandwidth) <= _LARGEST_BANDWIDTH:
            text = f"bandwidth={bandwidth:g} is too extreme: the kernel is the same for all pairs."
            cure = 'Use bandwidth="median", or a number similar to the distances between samples.'
            raise ValueError(f"{text} {cure}")

    def at(self, scale: Scale) -> Any:
        """Return the :class:`ScaledKernel` at the scale of a stage."""
        raise NotImplementedError

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Draw frequencies Ω (n_columns, any) of random Fourier features for unit bandwidth."""
        if self.has_components:
            return np.empty((n_columns, 0))  # of its own columns or waves only
        text = f"The {self.name} kernel has no random Fourier features"
        raise ValueError(f'{text}. Use approximation="exact", or another kernel.')


class SampleKernel(Kernel):
    """A kernel that is evaluated directly on the samples and has a single bandwidth."""

    def at(self, scale: Scale) -> Self:
        return replace(self, bandwidth=scale.sigma)  # type: ignore[type-var]

    def prepare(self, X: Array) -> Array:
        return X

    def restrict(self, prepared: Array, columns: np.ndarray) -> Array:
        return take(prepared, columns, axis=1)


def is_finite_number(value: Any) -> bool:
    """Tell whether a parameter is a finite number.

    >>> [is_finite_number(value) for value in (1, np.float32(2.0), np.inf, True, "1", None)]
    [True, True, False, False, False, False]
    """
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


class ShiftInvariant(SampleKernel):
    """A kernel of differences ``x − x̃``, which has random Fourier features."""

    has_components = True

    def components(self, frequencies: Array) -> Components:
        return Components(moving=FourierMap(frequencies, float(self.bandwidth)))


def outer(P: Array, Q: Array, rows: slice = slice(None), columns: slice = slice(None)) -> Array:
    """Return a block of the symmetric part of ``PQᵀ``, the derivative of ``tr(PᵀKQ)`` in K."""
    B = P[rows, :] @ Q[columns, :].T
    return B if P is Q else 0.5 * (B + Q[rows, :] @ P[columns, :].T)
