"""Choose the kernel, and the share of its additive part."""

from dataclasses import replace
from typing import Any

from covmin.core.kernels import KERNELS, Additive, Gaussian, Kernel, Mixed, RationalQuadratic
from covmin.remarks import InputError

from .constants import LEAST_MIXING
from .formulation import Formulation


def kernel_of(given: Any, formulation: Formulation) -> Kernel:
    """Return the kernel for a name or an object; "auto" means the paper's for a single solve.

    >>> kernel_of("auto", Formulation()), kernel_of("auto", Formulation(strategy="single"))
    (Mixed(), Gaussian())
    """
    if given == "auto":
        return Mixed() if formulation.is_path else Gaussian()
    kernel: Kernel
    if isinstance(given, str):
        if given not in KERNELS:
            raise InputError(
                f'kernel must be "auto", one of {", ".join(map(repr, KERNELS))}, or an object of '
                f"covmin.kernels; got {given!r}.",
                "kernel",
                "kernel",
            )
        kernel = KERNELS[given]()
    elif isinstance(given, tuple(KERNELS.values())):
        kernel = given  # type: ignore[assignment]
    else:
        raise ValueError(
            f"kernel must be a name or an object of covmin.kernels, such as Polynomial(degree=2); "
            f"got {given!r}."
        )
    try:
        kernel.check()
    except ValueError as error:
        raise ValueError(f"kernel={kernel!r}: {error}") from None
    return kernel


def mixing_share(n_samples: int, n_features: float) -> float:
    """Return γ: from 0.3 if samples outnumber features, to 0.5 if features far outnumber samples.

    >>> mixing_share(100, 10), round(mixing_share(60, 2000), 2)
    (0.3, 0.49)
    """
    return max(0.5 * n_features / (n_features + n_samples), LEAST_MIXING)


def with_share(kernel: Kernel, share: float) -> Kernel:
    """Return a mixed kernel with the given share, or the pure kernel if the share is 0 or 1."""
    if not isinstance(kernel, Mixed):
        return kernel
    if share in (0.0, 1.0):
        return (Additive if share else RationalQuadratic)(bandwidth=kernel.bandwidth)
    return replace(kernel, mixing=share)
