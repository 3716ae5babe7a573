"""Kernels on the weighted samples: an entry here for each."""

from typing import Any

from .additive import Additive, Mixed
from .distances import Gaussian, Laplacian, RationalQuadratic
from .linear import Linear, Polynomial

KERNELS: dict[str, type[Any]] = {
    kernel.name: kernel
    for kernel in (Mixed, Additive, RationalQuadratic, Gaussian, Laplacian, Linear, Polynomial)
}
