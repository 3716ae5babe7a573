"""A weighted sum of kernels; its matrix, pullback and feature map are sums as well."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, add_scaled
from .components import Components, Pullback


@dataclass(frozen=True)
class Sum:
    """The kernel ``k = Σᵢ cᵢ kᵢ``."""

    terms: tuple[tuple[float, Any], ...]  # coefficients cᵢ > 0, and kernels kᵢ at their scales

    @property
    def zero_is_absorbing(self) -> bool:
        return all(kernel.zero_is_absorbing for _, kernel in self.terms)

    def prepare(self, X: Array) -> tuple[Any, ...]:
        return tuple(kernel.prepare(X) for _, kernel in self.terms)

    def restrict(self, prepared: tuple[Any, ...], columns: np.ndarray) -> tuple[Any, ...]:
        pairs = zip(self.terms, prepared, strict=True)
        return tuple(kernel.restrict(part, columns) for (_, kernel), part in pairs)

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        return sum(coefficient * kernel.cross(A, B, w) for coefficient, kernel in self.terms)

    def matrix_and_pullback(self, prepared: tuple[Any, ...], w: Array) -> tuple[Array, Pullback]:
        parts = []
        total: Array = None
        for (coefficient, kernel), part in zip(self.terms, prepared, strict=True):
            K, pullback = kernel.matrix_and_pullback(part, w)
            parts.append((coefficient, pullback))
            total = add_scaled(total, coefficient, K)

        def pull(P: Array, Q: Array) -> Array:
            return sum(c * pullback(P, Q) for c, pullback in parts)

        return total, pull

    def components(self, frequencies: Array) -> Components:
        """Combine at most one moving and one fixed feature map."""
        total = Components()
        for coefficient, kernel in self.terms:
            part = kernel.components(frequencies)
            if part.moving is not None:
                assert total.moving is None
                total = replace(total, moving=part.moving, moving_share=coefficient)
            else:
                assert total.fixed is None
                total = replace(total, fixed=part.fixed, fixed_share=coefficient)
        return total
