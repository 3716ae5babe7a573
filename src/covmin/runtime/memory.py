"""How much memory a fit will take, asked before it is taken."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["available_bytes", "check_memory", "exact_bytes", "fits", "fourier_bytes"]

# Beyond this share of what is free, other programs and rounding up would meet.
_USABLE = 0.8
# n×n matrices held at once: the kernel, its factor, the derivative and a spare for sums.
_EXACT_MATRICES = 4
_MIXED_MATRICES = 6
# Copies of the samples: standardised, centred, weighted, and their product with a matrix.
_COPIES = 4
# Cosines and sines of each feature that the additive kernel keeps, twice where weighted,
# and how many numbers it keeps at most.
_WAVES = 16
_MOST_WAVES = 2**28
# Arrays of a block's features, and matrices of their moments, held at once.
_BLOCK_ARRAYS = 3
_MOMENT_MATRICES = 8
_BLOCK_ROWS = 1024
_SAMPLED_ROWS = 25_000


def exact_bytes(n_samples: int, n_features: int, itemsize: int = 8, *, mixed: bool = False) -> int:
    """Most memory the exact kernel takes beyond the input.

    Examples
    --------
    >>> exact_bytes(10_000, 10) / 1e9
    3.2032
    """
    matrices = _MIXED_MATRICES if mixed else _EXACT_MATRICES
    cells = n_samples * n_features
    waves = min(_WAVES * cells, _MOST_WAVES) if mixed else 0
    return itemsize * (matrices * n_samples**2 + _COPIES * cells + waves)


def fourier_bytes(
    n_samples: int,
    n_features: int,
    n_components: int,
    itemsize: int = 8,
    *,
    n_responses: int = 1,
    n_threads: int = 1,
    copied: bool = False,
) -> int:
    """Most memory random features take beyond the input.

    Examples
    --------
    >>> fourier_bytes(10**6, 50, 512) / 1e6 < 200
    True
    """
    block = _BLOCK_ROWS * _BLOCK_ARRAYS * (n_components + n_features)
    sample = min(n_samples, _SAMPLED_ROWS) * 2 * n_features
    responses = 3 * n_samples * (n_responses + 1)
    whole = 2 * n_samples * n_features if copied else 0
    moments = 8 * _MOMENT_MATRICES * (n_components + n_responses) ** 2
    return itemsize * ((n_threads + 1) * block + sample + responses + whole) + moments


def available_bytes() -> int | None:
    """Memory this process can still take; None where the system does not say.

    Examples
    --------
    >>> free = available_bytes()
    >>> free is None or free > 0
    True
    """
    known = [free for free in (_free(), _left_to_group(), _left_to_process()) if free is not None]
    return max(min(known), 1) if known else None


def _free() -> int | None:
    fields = _read("/proc/meminfo")
    if "MemAvailable:" in fields:
        return 1024 * int(fields.split("MemAvailable:")[1].split()[0])
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _left_to_group() -> int | None:
    """What a container may still take: pages of files that could be dropped do not count."""
    limit = _read("/sys/fs/cgroup/memory.max").strip()
    used = _read("/sys/fs/cgroup/memory.current").strip()
    if not (limit.isdigit() and used.isdigit()):
        return None
    stat = _read("/sys/fs/cgroup/memory.stat")
    cached = stat.split("inactive_file ")[1].split()[0] if "inactive_file " in stat else "0"
    return int(limit) - int(used) + int(cached)


def _left_to_process() -> int | None:
    """What ``ulimit -v`` leaves."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    status = _read("/proc/self/status")
    if limit == resource.RLIM_INFINITY or "VmSize:" not in status:
        return None
    return limit - 1024 * int(status.split("VmSize:")[1].split()[0])


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def fits(needed: int) -> bool:
    """Whether so much memory can be taken without getting near the end of it."""
    available = available_bytes()
    return available is None or needed <= _USABLE * available


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse to begin what would not fit, with the numbers and a way out.

    Examples
    --------
    >>> check_memory(10**18, "A matrix of that size", "Ask for less.")
    Traceback (most recent call last):
    MemoryError: A matrix of that size needs about 1000000000.0 GB ... Ask for less.
    """
    if fits(needed):
        return
    available = available_bytes() or 0
    raise MemoryError(
        f"{what} needs about {_amount(needed)} of memory, and {_amount(available)} are free. "
        f"{remedy}"
    )


def _amount(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
