"""Estimate the memory of a fit before it is allocated."""

from pathlib import Path

# Fraction of the free memory to use: leaves room for other programs and for rounding.
_USABLE = 0.8
# n×n matrices held at the same time: kernel, Cholesky factor, derivative, a work array for sums;
# with an additive part also its own matrix and derivative.
_MATRICES, _MIXED_MATRICES = 4, 6
# Copies of the samples: standardised, centred, weighted, and their product with a matrix.
_COPIES = 4
# Cosines and sines per feature that the additive part stores, and the most numbers in total.
_WAVES, _MOST_NUMBERS = 16, 2**28
# Arrays of Fourier features per part of a block, rows of a part, and moment matrices.
_PART_ARRAYS, _PART_ROWS, _MOMENT_MATRICES = 3, 1024, 8


def exact_bytes(n_samples: int, n_features: int, itemsize: int = 8, *, mixed: bool = False) -> int:
    """Return the peak memory of the exact kernel in bytes, beyond the input."""
    matrices = _MIXED_MATRICES if mixed else _MATRICES
    cells = n_samples * n_features
    waves = min(_WAVES * cells, _MOST_NUMBERS) if mixed else 0
    return itemsize * (matrices * n_samples**2 + _COPIES * cells + waves)


def fourier_bytes(
    n_samples: int,
    n_features: int,
    n_components: int,
    itemsize: int = 8,
    *,
    block_rows: int,
    n_responses: int = 1,
    n_threads: int = 1,
    copied: bool = False,
    sampled: int = 0,
) -> int:
    """Return the peak memory of random Fourier features in bytes, beyond the input."""
    block = _PART_ARRAYS * _PART_ROWS * n_components + 2 * block_rows * n_features
    rows_held = 2 * (n_samples if copied else 0) + 2 * min(n_samples, sampled)
    responses = 3 * n_samples * (n_responses + 1)
    moments = 8 * _MOMENT_MATRICES * (n_components + n_responses) ** 2
    return itemsize * ((n_threads + 1) * block + rows_held * n_features + responses) + moments


def available_bytes() -> int | None:
    """Return the memory this process can still allocate; None if the system does not tell."""
    known = []
    if (kilobytes := _number("/proc/meminfo", "MemAvailable:")) is not None:
        known.append(1024 * kilobytes)
    group = "/sys/fs/cgroup/memory."
    limit, used = _number(group + "max"), _number(group + "current")
    if limit is not None and used is not None:
        # What a container may still allocate; reclaimable file cache counts as free.
        known.append(limit - used + (_number(group + "stat", "inactive_file ") or 0))
    if (kilobytes := _number("/proc/self/status", "VmSize:")) is not None:
        import resource  # not on Windows, which has no such file

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)  # ulimit -v
        if limit != resource.RLIM_INFINITY:
            known.append(limit - 1024 * kilobytes)
    return max(min(known), 1) if known else None


def _number(path: str, name: str = "") -> int | None:
    """Return the number after a name in a system file; None if there is none."""
    try:
        rest = Path(path).read_text().partition(name)[2] if name else Path(path).read_text()
    except OSError:
        return None
    word = next(iter(rest.split()), "")
    return int(word) if word.isdigit() else None


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
        sizes = needed, available_bytes() or 0
        needs, free = (f"{n / 1e9:.1f} GB" if n >= 1e9 else f"{n / 1e6:.0f} MB" for n in sizes)
        raise MemoryError(f"{what} needs about {needs} of memory, but {free} is free. {remedy}")
