"""Kernels on the weighted samples: an entry here for each."""

from typing import Any

from .additive import Additive, GaussianSum, Mixed, WaveSum
from .base import Configurable, Kernel, Scale, ScaledKernel
from .distances import Gaussian, Laplacian, RationalQuadratic
from .linear import Linear, Polynomial

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
    "WaveSum",
]

KERNELS: dict[str, type[Any]] = {
    kernel.name: kernel
    for kernel in (Mixed, Additive, RationalQuadratic, Gaussian, Laplacian, Linear, Polynomial)
}
