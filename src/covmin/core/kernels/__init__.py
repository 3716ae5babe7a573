"""Kernels on the weighted samples: an entry here for each."""

from typing import Any

from .additive import Additive, GaussianSum, Mixed, WaveSum, waves_for
from .base import Components, Configurable, FourierMap, Kernel, Scale, ScaledKernel
from .distances import MEDIAN_ROWS, Gaussian, Laplacian, RationalQuadratic, median_bandwidth
from .linear import Linear, Polynomial

__all__ = [
    "KERNELS",
    "MEDIAN_ROWS",
    "Additive",
    "Components",
    "Configurable",
    "FourierMap",
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
    "median_bandwidth",
    "waves_for",
]

KERNELS: dict[str, type[Any]] = {
    kernel.name: kernel
    for kernel in (Mixed, Additive, RationalQuadratic, Gaussian, Laplacian, Linear, Polynomial)
}
