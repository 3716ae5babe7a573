"""Choose between the exact n×n kernel matrix and random Fourier features."""

from dataclasses import dataclass

import numpy as np

from covmin.core.kernels import Kernel
from covmin.core.kernels.additive import waves_for
from covmin.core.problem import EFFORT, Effort
from covmin.core.screening import N_FUNCTIONS
from covmin.data.blocks.array import block_rows
from covmin.runtime.memory import check_memory, exact_bytes, fits, fourier_bytes
from covmin.runtime.threads import row_threads

from .constants import (
    EXACT_SAMPLES,
    FIRST_BUDGET,
    HELD_NUMBERS,
    N_COMPONENTS,
    NOISE_ROWS,
    PAIR_NUMBERS,
    PAIR_PASSES,
    PAIR_ROWS,
    PAIR_WORK,
    WAVE_SHARE,
)


@dataclass(frozen=True)
class Size:
    """The size of a fit."""

    n_samples: int
    n_columns: int
    n_responses: int = 1
    itemsize: int = 8  # bytes per number
    n_components: int = N_COMPONENTS  # number of random Fourier features, if they are used
    on_device: bool = False  # whether the samples are copied to a device
    effort: Effort = EFFORT  # limit on the work of an evaluation


def by_size(
    approximation: str,
    kernel: Kernel,
    shape: tuple[int, int],
    matrix_rows: int = EXACT_SAMPLES,
) -> str | None:
    """Return the approximation for a number of samples and columns, whatever the memory.

    >>> from covmin.core.kernels import Gaussian, Polynomial
    >>> [by_size("auto", Gaussian(), (n, 10)) for n in (1000, 10**6)]
    [None, 'fourier']
    >>> by_size("auto", Polynomial(), (10**6, 10)) is None
    True
    >>> by_size("exact", Gaussian(), (10**6, 10)) is None
    True
    """
    if approximation != "auto":
        return None if approximation == "exact" else approximation
    n_samples, n_columns = shape
    exact_components = kernel.components_are_exact and n_columns < n_samples
    many = kernel.has_components and n_samples > matrix_rows
    return "fourier" if exact_components or many else None


def choose_approximation(approximation: str, kernel: Kernel, size: Size) -> tuple[str | None, str]:
    """Return the approximation that a fit will use, and the reason.

    The choice depends on the size and on the free memory. A MemoryError is raised if the requested
    approximation does not fit or, with "auto", neither of them does.

    >>> from covmin.core.kernels import Mixed
    >>> choose_approximation("auto", Mixed(), Size(100_000, 10))[0]
    'fourier'
    """
    n, d = size.n_samples, size.n_columns
    matrix = exact_bytes(n, d, size.itemsize, mixed=kernel.sums_features)
    components = _component_bytes(kernel, size)
    most = size.effort.matrix_rows
    wanted = by_size(approximation, kernel, (n, d), most) == "fourier"
    squeezed = approximation == "auto" and kernel.has_components and not fits(matrix)
    if wanted or squeezed:
        check_memory(
            components,
            f"A fit of {n} samples and {d} columns with random Fourier features",
            "Use fewer components (covmin.Fourier), omit the additive part of the kernel "
            '(kernel="gaussian"), pass float32, or read the rows from disk: a numpy.memmap, or '
            "covmin.open_parquet.",
        )
        return "fourier", _why_components(approximation, kernel, size, squeezed and not wanted)
    way_out = (
        f'approximation="fourier" needs about {max(components // 10**6, 1)} MB'
        if kernel.has_components
        else 'kernel="gaussian" with approximation="fourier" needs no such matrix'
    )
    check_memory(
        matrix,
        f"The exact kernel of {n} samples and {d} columns",
        f"{way_out}; or pass fewer samples, or float32.",
    )
    if approximation != "auto":
        return None, "as requested"
    if n <= most:
        return None, f"{n} samples, at most {most}"
    return None, f"the {kernel.name} kernel has no random Fourier features"


def _why_components(approximation: str, kernel: Kernel, size: Size, squeezed: bool) -> str:
    if approximation == "fourier":
        return "as requested"
    if kernel.components_are_exact:
        return "an exact feature map, and fewer columns than samples"
    if squeezed:
        return "not enough memory for the kernel matrix"
    return f"{size.n_samples} samples, more than {size.effort.matrix_rows}"


def _component_bytes(kernel: Kernel, size: Size) -> int:
    """Return the memory of a fit with Fourier features, and of a matrix in its first stages."""
    n, d = size.n_samples, size.n_columns
    seen = size.effort.rows(kernel, d, size.n_components)
    by_matrix = seen <= size.effort.matrix_rows and kernel.sums_features
    n_columns = min(d, FIRST_BUDGET) if by_matrix else d
    n_random = d if kernel.components_are_exact else size.n_components
    waves = waves_for(n_columns, alone=not kernel.sees_interactions) if kernel.sums_features else 0
    needed = fourier_bytes(
        n,
        d,
        n_random + waves * n_columns,
        size.itemsize,
        block_rows=block_rows(d),
        n_responses=size.n_responses,
        n_threads=1 if size.on_device else row_threads(),
        copied=size.on_device,
        sampled=held_rows(n, d, size.n_responses),
    )
    if by_matrix:
        needed += exact_bytes(min(n, seen), d, size.itemsize, mixed=True)
    return needed


def pair_rows(n_samples: int, n_columns: int, n_responses: int) -> int:
    """Return the number of rows for the search for pairs: as many as time and memory allow.

    >>> pair_rows(10**6, 50, 1), pair_rows(10**6, 10_000, 1), pair_rows(10**6, 60_000, 1)
    (167772, 2000, 11)
    """
    affordable = (PAIR_WORK / n_columns**2 - PAIR_PASSES) / n_responses
    held = max(PAIR_ROWS, PAIR_NUMBERS // (N_FUNCTIONS * n_columns))
    return int(min(n_samples, held, max(affordable, 0)))


def held_rows(n_samples: int, n_columns: int, n_responses: int) -> int:
    """Return the number of rows that a table read in blocks holds in memory, for the first looks.

    >>> held_rows(10**6, 100, 1), held_rows(10**6, 60_000, 1)
    (83886, 1000)
    """
    looked_at = max(NOISE_ROWS, pair_rows(n_samples, n_columns, n_responses))
    return min(n_samples, max(looked_at, HELD_NUMBERS // n_columns))


def pair_waves(n_rows: int, n_columns: int, n_responses: int) -> int:
    """Return the number of functions per column for the search for pairs.

    >>> pair_waves(1000, 1000, 1), pair_waves(200, 5000, 1), pair_waves(200, 5000, 9)
    (4, 2, 1)
    """
    work = n_columns**2 * (n_rows * n_responses + PAIR_PASSES)
    affordable = (WAVE_SHARE * PAIR_WORK / max(work, 1)) ** 0.5
    held = PAIR_NUMBERS // max(n_rows * n_columns, 1)
    return int(np.clip(min(affordable, held), 1, N_FUNCTIONS))
