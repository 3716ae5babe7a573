"""Kernels with parameters, to pass to :class:`covmin.CCMSelector` as ``kernel=``."""

from covmin.core.kernels.additive import Additive, Mixed
from covmin.core.kernels.distances import Gaussian, Laplacian, RationalQuadratic
from covmin.core.kernels.linear import Linear, Polynomial

__all__ = [
    "Additive",
    "Gaussian",
    "Laplacian",
    "Linear",
    "Mixed",
    "Polynomial",
    "RationalQuadratic",
]
