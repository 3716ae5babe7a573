"""Kernels to give to :class:`covmin.CCMSelector` as objects with parameters."""

from covmin.core.kernels import (
    Additive,
    Gaussian,
    Laplacian,
    Linear,
    Mixed,
    Polynomial,
    RationalQuadratic,
)

__all__ = [
    "Additive",
    "Gaussian",
    "Laplacian",
    "Linear",
    "Mixed",
    "Polynomial",
    "RationalQuadratic",
]
