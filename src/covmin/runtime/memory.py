"""How much memory a fit will take, asked before it is taken."""

import os
from pathlib import Path

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
_BLOCK_NUMBERS = 2**22


def exact_bytes(n_samples: int, n_features: int, itemsize: int = 8, *, mixed: bool = False) -> int:
    """Most memory the exact kernel takes beyond the input."""
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
    """Most memory random components take beyond the input."""
    rows = min(_BLOCK_ROWS, max(1, _BLOCK_NUMBERS // max(n_features, 1)))
    block = _BLOCK_ARRAYS * (_BLOCK_ROWS * n_components + rows * n_features)
    sample = min(n_samples, sampled) * 2 * n_features
    responses = 3 * n_samples * (n_responses + 1)
    whole = 2 * n_samples * n_features if copied else 0
    moments = 8 * _MOMENT_MATRICES * (n_components + n_responses) ** 2
    return itemsize * ((n_threads + 1) * block + sample + responses + whole) + moments


def available_bytes() -> int | None:
    """Memory this process can still take; None where the system does not say."""
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
    """What a container may still take: pages of files that could be dropped do not count."""
    limit = _read("/sys/fs/cgroup/memory.max").strip()
    used = _read("/sys/fs/cgroup/memory.current").strip()
    if not (limit.isdigit() and used.isdigit()):
        return None
    return int(limit) - int(used) + (_number("/sys/fs/cgroup/memory.stat", "inactive_file ") or 0)


def _left_to_process() -> int | None:
    """What ``ulimit -v`` leaves."""
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
    """The number after a name in a file of the system."""
    _, found, rest = _read(path).partition(name)
    return int(rest.split()[0]) if found else None


def fits(needed: int) -> bool:
    """Whether so much memory can be taken without getting near the end of it."""
    available = available_bytes()
    return available is None or needed <= _USABLE * available


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse to begin what would not fit, with the numbers and a way out.

    >>> check_memory(10**18, "A matrix of that size", "Ask for less.")
    Traceback (most recent call last):
    MemoryError: A matrix of that size needs about 1000000000.0 GB ... Ask for less.
    """
    if not fits(needed):
        needs, free = _amount(needed), _amount(available_bytes() or 0)
        raise MemoryError(f"{what} needs about {needs} of memory, and {free} are free. {remedy}")


def _amount(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
