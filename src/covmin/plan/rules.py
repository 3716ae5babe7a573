"""The rules behind every "auto": each returns a value, and the reason in words where it has one."""

from collections.abc import Callable
from dataclasses import replace
from math import comb
from numbers import Integral
from typing import Any

import numpy as np

from covmin import constants
from covmin.core.kernels import KERNELS
from covmin.core.kernels.additive import Additive, Mixed, waves_for
from covmin.core.kernels.base import Kernel
from covmin.core.kernels.distances import Gaussian, RationalQuadratic
from covmin.core.problem import EFFORT
from covmin.core.screening import N_FUNCTIONS
from covmin.data.blocks.array import block_rows
from covmin.remarks import InputError
from covmin.runtime.machine import check_memory, exact_bytes, row_threads
from covmin.text import count_of

from .formulation import Formulation
from .plan import Decision

# Elementwise passes over the pairs cost as much as this many rows.
_PASSES = 100
# Overhead of a matrix product in the search, in multiplications.
_BLOCK_WORK = 6e6
# Arrays of Fourier features per part of a block, rows of a part, and moment matrices.
_PART_ARRAYS, _PART_ROWS, _MOMENT_MATRICES = 3, 1024, 8


def kernel_of(given: Any, formulation: Formulation) -> Kernel:
    """Return the kernel for a name or an object; "auto" means the paper's for a single solve."""
    kernel = given
    if isinstance(given, str):
        if given == "auto":
            return Mixed() if formulation.strategy == "path" else Gaussian()
        kernel = KERNELS[given]() if given in KERNELS else None
    if not isinstance(kernel, tuple(KERNELS.values())):
        names = ", ".join(map(repr, KERNELS))
        text = f'kernel must be "auto", one of {names}, or an object of covmin.kernels, such as'
        raise InputError(f"{text} Polynomial(degree=2); got {given!r}.", "kernel")
    try:
        kernel.check()  # type: ignore[attr-defined]
    except ValueError as error:
        raise ValueError(f"kernel={kernel!r}: {error}") from None
    return kernel  # type: ignore[return-value]


def with_share(
    kernel: Kernel, n_samples: int, n_features: float, reason: str = "as requested"
) -> tuple[Kernel, Decision]:
    """Return a kernel with the additive share γ of a mixed one set, and the decision in words.

    From 0.3 if samples outnumber features, to 0.5 if features far outnumber samples. A share of 0
    or 1 is a pure kernel.
    """
    if isinstance(kernel, Mixed):
        share: Any = kernel.mixing
        if isinstance(share, str):
            share = max(0.5 * n_features / (n_features + n_samples), constants.LEAST_MIXING)
        if share not in (0.0, 1.0):
            said = Decision("kernel", f"mixed, {share:.0%} additive", reason)
            return replace(kernel, mixing=float(share)), said
        kernel = (Additive if share else RationalQuadratic)(bandwidth=kernel.bandwidth)
    changed = repr(kernel).partition("(")[2].rstrip(")")
    choice = f"{kernel.name}, {changed}" if changed else kernel.name
    return kernel, Decision("kernel", choice, reason)


def choose_approximation(
    approximation: str, kernel: Kernel, shape: tuple[int, int], *, itemsize: int = 8, **sizes: Any
) -> tuple[str | None, str]:
    """Return the approximation that a fit will use, and the reason.

    A MemoryError is raised if the requested one does not fit or, with "auto", neither of them
    does. ``itemsize`` is the number of bytes per number, ``sizes`` are those of `component_bytes`.
    """
    n, d = shape
    few, is_auto = n <= EFFORT.matrix_rows, approximation == "auto"
    by_matrix = approximation != "fourier"
    if is_auto:
        is_smaller = kernel.components_are_exact and d < n
        by_matrix = not (is_smaller or (kernel.has_components and not few))
    reason = f"{n} samples, {'at most' if few else 'more than'} {EFFORT.matrix_rows}"
    if by_matrix:
        other = "" if kernel.has_components else 'kernel="gaussian" with '
        try:
            check_memory(
                exact_bytes(n, d, itemsize, mixed=kernel.sums_features),
                f"The exact kernel of {n} samples and {d} columns",
                f'{other}approximation="fourier" needs no such matrix; or pass fewer samples, or '
                "float32.",
            )
        except MemoryError:
            if not is_auto or not kernel.has_components:
                raise
            by_matrix, reason = False, "not enough memory for the kernel matrix"
    if not by_matrix:
        check_memory(
            component_bytes(kernel, shape, itemsize, **sizes),
            f"A fit of {n} samples and {d} columns with random Fourier features",
            "Use fewer components (covmin.Fourier), omit the additive part of the kernel "
            '(kernel="gaussian"), pass float32, or read the rows from disk: a numpy.memmap, or '
            "covmin.open_parquet.",
        )
        if kernel.components_are_exact:
            reason = "an exact feature map, and fewer columns than samples"
    elif not few:
        reason = f"the {kernel.name} kernel has no random Fourier features"
    return None if by_matrix else "fourier", reason if is_auto else "as requested"


def component_bytes(
    kernel: Kernel,
    shape: tuple[int, int],
    itemsize: int,
    n_responses: int = 1,
    n_components: int = constants.N_COMPONENTS,
    on_device: bool = False,
) -> int:
    """Return the peak memory of a fit with Fourier features in bytes, beyond the input.

    It includes that of a matrix in the first stages.
    """
    n, d = shape
    seen = EFFORT.rows(kernel, d, n_components)
    by_matrix = seen <= EFFORT.matrix_rows and kernel.sums_features
    n_columns = min(d, constants.BUDGETS[0]) if by_matrix else d
    D = d if kernel.components_are_exact else n_components
    if kernel.sums_features:
        D += n_columns * waves_for(n_columns, alone=not kernel.sees_interactions)
    block = _PART_ARRAYS * _PART_ROWS * D + 2 * block_rows(d) * d
    blocks = (2 if on_device else 1 + row_threads()) * block
    n_held = held_rows(n, d, n_responses) + (n if on_device else 0)
    numbers = blocks + 2 * n_held * d + 3 * n * (n_responses + 1)
    needed = itemsize * numbers + 8 * _MOMENT_MATRICES * (D + n_responses) ** 2
    return needed + (exact_bytes(min(n, seen), d, itemsize, mixed=True) if by_matrix else 0)


def pair_search(shape: tuple[int, int, int]) -> tuple[int, int]:
    """Return the rows, and the functions of each column, that the search for pairs can afford.

    Products of several functions may cost a tenth of the search: most interactions show in the
    plain products. ``shape`` has the numbers of samples, columns and responses.

    >>> [pair_search((10**6, d, 1)) for d in (50, 10_000, 60_000)]
    [(167772, 4), (2000, 1), (11, 1)]
    >>> [pair_search(shape) for shape in ((1000, 1000, 1), (200, 5000, 1), (200, 5000, 9))]
    [(1000, 4), (200, 2), (200, 1)]
    """
    n_samples, n_columns, n_responses = shape
    affordable = (constants.WORK[1] / n_columns**2 - _PASSES) / n_responses
    held = max(constants.SAMPLE_ROWS, 4 * constants.MEMORY_NUMBERS // (N_FUNCTIONS * n_columns))
    rows = int(min(n_samples, held, max(affordable, 0)))
    work = n_columns**2 * (rows * n_responses + _PASSES)
    held = 4 * constants.MEMORY_NUMBERS // max(rows * n_columns, 1)
    per_column = min((0.1 * constants.WORK[1] / max(work, 1)) ** 0.5, held)
    return rows, int(np.clip(per_column, 1, N_FUNCTIONS))


def search_order(
    wanted: bool | int | str, kernel: Kernel, task: str, shape: tuple[int, int, int]
) -> tuple[int, Decision]:
    """Return the largest number of features whose products are all searched; 0 means no search.

    Beyond pairs, "auto" goes as deep as one evaluation of the criterion costs, on as many rows as
    tests use: an effect that is too small for these is of no practical use. More than four rarely
    act only together: these cost at most a thousandth of that. Of q columns, 3^q functions of fewer
    are removed, so there must be twice as many samples.
    ``shape`` has the numbers of samples, columns and responses.

    >>> [search_order("auto", Mixed(), "regression", (500, d, 1))[0] for d in (10, 50, 500, 2000)]
    [5, 4, 3, 2]
    """
    n, d, k = shape
    if wanted is not True and wanted in (0, 1):
        return 0, Decision("interactions", "not searched for", "as requested")
    if not kernel.sees_interactions:
        reason = f"the {kernel.name} kernel cannot represent them"
        return 0, Decision("interactions", "not searched for", reason)
    (rows, n_waves), order = pair_search(shape), 2
    if wanted is not True and wanted != "auto":
        order = int(wanted)
    else:
        for deeper in range(3, d + 1):
            work = comb(d, deeper) * min(rows, constants.TESTED_ROWS) * k
            if deeper > 4:
                is_too_much = 1000 * work > constants.WORK[0] or 2 * 3**deeper > rows
            else:
                n_blocks = comb(d, deeper - 2)  # matrix products, each with an overhead
                is_too_much = work + _BLOCK_WORK * n_blocks > constants.WORK[0]
            if is_too_much:
                break
            order = deeper
    by = f"products of {n_waves} functions of each column" if n_waves > 1 else "products"
    also = ", and features that affect the spread of y" if task == "regression" else ""
    n_sets = sum(comb(d, size) for size in range(2, order + 1))
    sets = f"all {n_sets:,} sets of up to {order} columns, by {by}{also}, on {rows} rows"
    reason = "all of them" if rows == n else "as many as time and memory allow"
    if order > 2 and rows > constants.TESTED_ROWS:
        sets += f", more than two on {constants.TESTED_ROWS}"
    return order, Decision("interactions", sets, reason)


def held_rows(n_samples: int, n_columns: int, n_responses: int) -> int:
    """Return the number of rows that a table read in blocks holds in memory, for the first looks.

    >>> held_rows(10**6, 100, 1), held_rows(10**6, 60_000, 1)
    (83886, 1000)
    """
    looked_at = max(constants.NOISE[0], pair_search((n_samples, n_columns, n_responses))[0])
    return min(n_samples, max(looked_at, constants.MEMORY_NUMBERS // n_columns))


def is_by_chance(unpredicted: float, n_seen: float) -> bool:
    """Tell whether a prediction on ``n_seen`` samples is no better than chance.

    >>> is_by_chance(0.995, 400), is_by_chance(0.98, 400)
    (True, False)
    """
    return (1.0 - unpredicted) * n_seen <= constants.STANDARD_ERRORS[0] ** 2


def ridge_for_noise(
    n_samples: float,
    unpredicted: float,
    single_effects: Callable[[], bool] = lambda: False,
    n_seen: float | None = None,
) -> tuple[float, str]:
    """Return ``ε = ρ/n`` for the noise-to-signal ratio ρ, and the reason.

    Of a draw from a Gaussian process with covariance ``s²·k``, plus noise with variance τ², the
    log-likelihood contains ``Yᵀ(G + ρI)⁻¹Y`` with ``ρ = τ²/s²``: the criterion for ``nε = ρ``. If
    all features together leave a fraction L of the variance unpredicted, then ``ρ = L/(1 − L)``;
    those that a stage keeps may leave more or less, so ε has limits.

    All features together cannot predict an interaction of a few among many. If they predict no
    more of the ``n_seen`` samples than by chance, and no single feature has a significant effect,
    ρ is small: a close fit can reveal an interaction, and if there is none, no ridge will find it.
    """
    close, least, most, _ = constants.RIDGE_LIMITS
    if is_by_chance(unpredicted, n_seen or n_samples) and not single_effects():
        epsilon = float(np.clip(constants.NOISE[1] / n_samples, close, most))
        return epsilon, "all features together predict nothing; small enough for interactions"
    ratio = unpredicted / max(1.0 - unpredicted, np.finfo(float).eps)
    epsilon = float(np.clip(ratio / n_samples, least, most))
    left = f"all features together leave {unpredicted:.0%} of the variance unpredicted"
    return epsilon, f"{left}, {n_samples:.0f} samples"


def path_budgets(n_features: int, least: int = 1) -> list[int]:
    """Return the budgets of a path: from 100 features, or 60 % of all, to at most ``least``.

    >>> path_budgets(10), path_budgets(5000), path_budgets(5000, 12)
    ([6, 2, 1], [100, 40, 16, 6, 2, 1], [100, 40, 16, 6])
    """
    first, share, factor = constants.BUDGETS
    budgets = [min(first, max(int(share * n_features), 1))]
    while budgets[-1] > least:
        budgets.append(max(int(factor * budgets[-1]), 1))
    return budgets


def candidate_sizes(n_features: int, fewest: int = 1, most: int | None = None) -> list[int]:
    """Return the candidate numbers of features: each up to ten, then a third more each time.

    The largest is the first budget of a path on wide data, or ``most``.

    >>> candidate_sizes(5000)[9:], candidate_sizes(5000, 8, 15)
    ([10, 13, 17, 22, 29, 38, 50, 66, 88, 100], [8, 9, 10, 13, 15])
    """
    most = min(n_features, most or constants.BUDGETS[0])
    sizes = [min(fewest, most)]
    while sizes[-1] < most:
        last = sizes[-1]
        sizes.append(min(most, last + (1 if last < constants.EACH_SIZE_UP_TO else last // 3)))
    return sizes


def n_folds_used(n_samples: int) -> int:
    """Return how many folds are used: enough for the test samples, and at least two.

    >>> [n_folds_used(n) for n in (200, 700, 5000)]
    [5, 3, 2]
    """
    n_folds, fewest, enough = constants.FOLDS
    return min(n_folds, max(fewest, -(-enough * n_folds // n_samples)))


def n_features_to_keep(wanted: int | float, n_features: int) -> int:
    """Return the number of features to keep: an int, or a fraction rounded down, at least one.

    >>> n_features_to_keep(0.25, 9), n_features_to_keep(9, 9)
    (2, 9)
    """
    if not isinstance(wanted, Integral):
        return max(1, int(wanted * n_features))
    if wanted > n_features:
        text = f"n_features_to_select={wanted}, but X has {count_of(n_features, 'feature')}; use at"
        cure = f"most {n_features}, or a fraction such as 0.5."
        raise InputError(f"{text} {cure}", "n_features_to_select")
    return int(wanted)
