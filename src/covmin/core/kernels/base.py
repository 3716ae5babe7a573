"""The kernel interface, and code that kernels share."""

import math
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.random import Generator

from ..arrays import Array, column_dots, take
from .components import Components, FourierMap, Pullback

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

    @property
    def zero_is_absorbing(self) -> bool:
        """Whether ∂K/∂wⱼ vanishes at wⱼ = 0, so that a feature at zero stays there."""

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        """Return the kernel matrix (n, m) between the rows of A (n, d) and B (m, d)."""

    def prepare(self, X: Array) -> Any:
        """Precompute from X (n, d) everything that does not depend on w."""

    def restrict(self, prepared: Any, columns: np.ndarray) -> Any:
        """Restrict the result of :meth:`prepare` to some columns."""

    def matrix_and_pullback(self, prepared: Any, w: Array) -> tuple[Array, Pullback]:
        """Return the kernel matrix K (n, n) and the map (P, Q) ↦ ``tr(Pᵀ ∂K/∂wⱼ Q)``."""

    def components(self, frequencies: Array) -> Components:
        """Return the feature map whose inner products approximate the kernel."""


class Configurable:
    """A dataclass whose fields are parameters, with scikit-learn's get_params and set_params."""

    def __repr__(self) -> str:
        changed = (
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)  # type: ignore[arg-type]
            if getattr(self, each.name) != each.default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, in place."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has "
                    f"{', '.join(known) or 'none'}."
                )
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
            raise ValueError(
                f"bandwidth={bandwidth:g} is too extreme: the kernel would have the same value for "
                'all pairs of samples. Use bandwidth="median", or a number similar to the '
                "distances between samples."
            )

    def at(self, scale: Scale) -> Any:
        """Return the :class:`ScaledKernel` at the scale of a stage."""
        raise NotImplementedError

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Draw frequencies Ω (n_columns, any) of random Fourier features for unit bandwidth."""
        raise self._no_components()

    def _no_components(self) -> ValueError:
        return ValueError(
            f"The {self.name} kernel has no random Fourier features. Use "
            'approximation="exact", or another kernel.'
        )


class SampleKernel(Kernel):
    """A kernel that is evaluated directly on the samples and has a single bandwidth."""

    def at(self, scale: Scale) -> Self:
        return replace(self, bandwidth=scale.sigma)  # type: ignore[type-var]

    def prepare(self, X: Array) -> Array:
        return X

    def restrict(self, prepared: Array, columns: np.ndarray) -> Array:
        return take(prepared, columns, axis=1)

    def components(self, frequencies: Array) -> Components:
        raise self._no_components()


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


def squared_distances(A: Array, B: Array) -> Array:
    """Return ``‖a − b‖²`` for all pairs of rows."""
    S = A @ B.T
    S *= -2.0
    S += column_dots(A.T, A.T)[:, None]
    S += column_dots(B.T, B.T)[None, :]
    return S
