"""Kernels with parameters, to pass to :class:`covmin.CCMSelector` as ``kernel=``."""

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
