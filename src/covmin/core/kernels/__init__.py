"""Kernels on the weighted samples: one module per kernel, and one entry here."""

from typing import Any

from .additive import GaussianSum, WaveSum
from .base import Configurable, Kernel, Scale, ScaledKernel
from .gaussian import Gaussian
from .laplacian import Laplacian
from .linear import Linear
from .mixed import Additive, Mixed
from .polynomial import Polynomial
from .rational_quadratic import RationalQuadratic
from .sum import Sum

__all__ = [
    "KERNELS",
    "Additive",
    "Configurable",
    "Gaussian",
    "GaussianSum",
    "Kernel",
    "Laplacian",
    "Linear",
    "Mixed",
    "Polynomial",
    "RationalQuadratic",
    "Scale",
    "ScaledKernel",
    "Sum",
    "WaveSum",
]

KERNELS: dict[str, type[Any]] = {
    kernel.name: kernel
    for kernel in (Mixed, Additive, RationalQuadratic, Gaussian, Laplacian, Linear, Polynomial)
}
