"""What a kernel answers and declares, and what kernels share."""

import math
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.random import Generator

from ..arrays import Array, column_dots, take
from .components import Components, FourierMap, Pullback

# Squares of bandwidths beyond this, and of their inverses, are no longer floats.
_LARGEST_BANDWIDTH = 1e100


@dataclass(frozen=True)
class Scale:
    """What a stage of a path tells the kernel."""

    sigma: float  # bandwidth σ
    n_features: float = 1.0  # whose variances σ² adds up
    budget: float = 1.0  # features that the stage keeps
    n_waves: int = 8  # for each column, where a sum over single features is used by its components


class ScaledKernel(Protocol):
    """A kernel of the scaled samples ``w ⊙ x``, ready to compute."""

    @property
    def zero_is_absorbing(self) -> bool:
        """Whether ∂K/∂wⱼ vanishes at wⱼ = 0, so that a feature at zero stays there."""

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        """Kernel matrix (n, m) between the rows of A (n, d) and of B (m, d)."""

    def prepare(self, X: Array) -> Any:
        """What the kernel can compute of X (n, d) once for all w."""

    def restrict(self, prepared: Any, columns: np.ndarray) -> Any:
        """What :meth:`prepare` gives for some of the columns."""

    def matrix_and_pullback(self, prepared: Any, w: Array) -> tuple[Array, Pullback]:
        """Kernel matrix K (n, n), and the map from P and Q (n, k) to ``tr(Pᵀ ∂K/∂wⱼ Q)``."""

    def components(self, frequencies: Array) -> Components:
        """The components whose inner products approximate the kernel."""


class Configurable:
    """A dataclass whose fields are parameters, got, set and shown as scikit-learn does."""

    def __repr__(self) -> str:
        changed = (
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)  # type: ignore[arg-type]
            if getattr(self, each.name) != each.default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
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
    """A kernel as users name it, and what it declares of itself, so that nobody asks its name."""

    name: ClassVar[str]  # what users call it
    order: ClassVar[int] = 2  # which distances set the bandwidth: 1 for L1, 2 for Euclidean
    sees_interactions: ClassVar[bool] = True  # whether it is more than a sum over single columns
    sums_features: ClassVar[bool] = False  # whether a sum over single features is part of it
    has_components: ClassVar[bool] = False  # whether finitely many components approximate it
    components_are_exact: ClassVar[bool] = False  # one for each column, and all there is to it
    bandwidth: float | str  # σ; "median" leaves it to the median rule at each stage

    def check(self) -> None:
        """Refuse parameters that make no kernel."""
        bandwidth: Any = self.bandwidth
        if isinstance(bandwidth, str) and bandwidth == "median":
            return
        if not is_finite_number(bandwidth) or not bandwidth > 0.0:
            raise ValueError(f'bandwidth must be "median" or a positive number; got {bandwidth!r}.')
        # As a float: a narrower number would overflow beside these limits.
        if not 1.0 / _LARGEST_BANDWIDTH <= float(bandwidth) <= _LARGEST_BANDWIDTH:
            raise ValueError(
                f"bandwidth={bandwidth:g} is out of all proportion to the data: the kernel would "
                'be the same for all pairs of samples. Use bandwidth="median", or a number of the '
                "size of the distances between samples."
            )

    def at(self, scale: Scale) -> Any:
        """The :class:`ScaledKernel` at the scale of a stage."""
        raise NotImplementedError

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Draw the frequencies Ω of random components for unit bandwidth, (n_columns, any)."""
        raise self._no_components()

    def _no_components(self) -> ValueError:
        return ValueError(
            f"The {self.name} kernel has no random Fourier components; use "
            'approximation="exact", or another kernel.'
        )


class OfSamples(Kernel):
    """A kernel that works on the samples themselves, with one bandwidth and components."""

    @property
    def sigma(self) -> float:
        return float(self.bandwidth)

    def at(self, scale: Scale) -> Self:
        return replace(self, bandwidth=scale.sigma)  # type: ignore[type-var]

    def prepare(self, X: Array) -> Array:
        return X

    def restrict(self, prepared: Array, columns: np.ndarray) -> Array:
        return take(prepared, columns, axis=1)

    def components(self, frequencies: Array) -> Components:
        raise self._no_components()


def is_finite_number(value: Any) -> bool:
    """Whether a parameter is a number, and finite.

    >>> [is_finite_number(value) for value in (1, np.float32(2.0), np.inf, True, "1", None)]
    [True, True, False, False, False, False]
    """
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


class ShiftInvariant(OfSamples):
    """A kernel of differences, which has random Fourier components."""

    has_components = True

    def components(self, frequencies: Array) -> Components:
        return Components(moving=FourierMap(frequencies, self.sigma))


def outer(P: Array, Q: Array, rows: slice = slice(None), columns: slice = slice(None)) -> Array:
    """Some entries of the symmetric part of ``PQᵀ``: the derivative of ``tr(PᵀKQ)`` in K."""
    B = P[rows, :] @ Q[columns, :].T
    return B if P is Q else 0.5 * (B + Q[rows, :] @ P[columns, :].T)


def squared_distances(A: Array, B: Array) -> Array:
    """``‖a − b‖²`` for all pairs of rows."""
    S = A @ B.T
    S *= -2.0
    S += column_dots(A.T, A.T)[:, None]
    S += column_dots(B.T, B.T)[None, :]
    return S
