"""Estimate the memory of a fit before it is allocated."""

import os
from pathlib import Path

# Fraction of the free memory to use: leaves room for other programs and for rounding.
_USABLE = 0.8
# n×n matrices held at the same time: kernel, Cholesky factor, derivative, a work array for sums.
_EXACT_MATRICES = 4
_MIXED_MATRICES = 6
# Copies of the samples: standardised, centred, weighted, and their product with a matrix.
_COPIES = 4
# Cosines and sines per feature that the additive kernel stores, twice if weighted, and the most
# numbers it stores in total.
_WAVES = 16
_MOST_WAVES = 2**28
# Arrays of Fourier features of a block, and moment matrices, held at the same time.
_BLOCK_ARRAYS = 3
_MOMENT_MATRICES = 8
# Rows that are read together, and those whose Fourier features are computed together.
_BLOCK_ROWS = 8192
_PART_ROWS = 1024
_BLOCK_NUMBERS = 2**22


def exact_bytes(n_samples: int, n_features: int, itemsize: int = 8, *, mixed: bool = False) -> int:
    """Return the peak memory of the exact kernel in bytes, beyond the input."""
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
    sampled: int = 0,
) -> int:
    """Return the peak memory of random Fourier features in bytes, beyond the input."""
    rows = min(_BLOCK_ROWS, max(1, _BLOCK_NUMBERS // max(n_features, 1)))
    block = _BLOCK_ARRAYS * _PART_ROWS * n_components + 2 * rows * n_features
    sample = min(n_samples, sampled) * 2 * n_features
    responses = 3 * n_samples * (n_responses + 1)
    whole = 2 * n_samples * n_features if copied else 0
    moments = 8 * _MOMENT_MATRICES * (n_components + n_responses) ** 2
    return itemsize * ((n_threads + 1) * block + sample + responses + whole) + moments


def available_bytes() -> int | None:
    """Return the memory this process can still allocate; None if the system does not tell."""
    known = [free for free in (_free(), _left_to_group(), _left_to_process()) if free is not None]
    return max(min(known), 1) if known else None


def _free() -> int | None:
    if (kilobytes := _number("/proc/meminfo", "MemAvailable:")) is not None:
        return 1024 * kilobytes
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _left_to_group() -> int | None:
    """Return what a container may still allocate; reclaimable file cache counts as free."""
    limit = _read("/sys/fs/cgroup/memory.max").strip()
    used = _read("/sys/fs/cgroup/memory.current").strip()
    if not (limit.isdigit() and used.isdigit()):
        return None
    return int(limit) - int(used) + (_number("/sys/fs/cgroup/memory.stat", "inactive_file ") or 0)


def _left_to_process() -> int | None:
    """Return what ``ulimit -v`` leaves."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    kilobytes = _number("/proc/self/status", "VmSize:")
    if limit == resource.RLIM_INFINITY or kilobytes is None:
        return None
    return limit - 1024 * kilobytes


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _number(path: str, name: str) -> int | None:
    """Return the number after a name in a system file."""
    _, found, rest = _read(path).partition(name)
    return int(rest.split()[0]) if found else None


def fits(needed: int) -> bool:
    """Tell whether this many bytes can be allocated with a safe margin."""
    available = available_bytes()
    return available is None or needed <= _USABLE * available


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Raise an error with the sizes and a remedy if the memory does not suffice.

    >>> check_memory(10**18, "A matrix of that size", "Use a smaller one.")
    Traceback (most recent call last):
    MemoryError: A matrix of that size needs about 1000000000.0 GB ... Use a smaller one.
    """
    if not fits(needed):
        needs, free = _amount(needed), _amount(available_bytes() or 0)
        raise MemoryError(f"{what} needs about {needs} of memory, but {free} is free. {remedy}")


def _amount(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
