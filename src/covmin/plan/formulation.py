"""From the estimator's parameters to a problem for the core."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from covmin.core.arrays import to_device
from covmin.core.kernels import KERNELS, median_rows
from covmin.core.mixing import waves_for
from covmin.core.path import default_budgets, run_path
from covmin.core.problem import MOST_COLUMNS, Formulation, Problem
from covmin.data.columns import PreparedColumns
from covmin.data.sources.local import StandardizedSource
from covmin.runtime.memory import check_memory, exact_bytes, fits, fourier_bytes
from covmin.runtime.threads import row_threads

__all__ = [
    "CRITERION_PARAMETERS",
    "bandwidth_value",
    "check_lambda2",
    "choose_approximation",
    "features_have_sum",
    "kernel_parameters",
    "make_problem",
    "mixture",
    "rank_sizes",
    "sees_interactions",
    "uses_features",
]

# Values allowed for the parameters that the selector and the bare criterion share.
CRITERION_PARAMETERS: dict[str, list[Any]] = {
    "task": [StrOptions({"auto", "classification", "ordinal", "regression"})],
    "standardize": ["boolean"],
    "kernel": [StrOptions(set(KERNELS))],
    "bandwidth": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither")],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, 0, None, closed="left")],
    "epsilon": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    "approximation": [None, StrOptions({"auto", "fourier"})],
    "n_components": [None, Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
}

# Kernels that only the n×n matrix computes.
_WITHOUT_FEATURES = frozenset({"polynomial"})
# Beyond this many samples, n² memory and n³ time give way to random features, which take about
# as long there.
_EXACT_SAMPLES = 2000
_DEFAULT_COMPONENTS = 512
# Random features need no help up to this many columns for each of them. Beyond it the sum of
# one-dimensional kernels is mixed in.
_COLUMNS_FOR_EACH_COMPONENT = 0.25
# Rows on which a choice among too many columns is made: their number squared times the columns.
_SCREEN_SIZE = 8e9
_SCREEN_ROWS = (500, 2000)
# Squares of bandwidths beyond this, and of their inverses, are no longer floats.
_LARGEST_BANDWIDTH = 1e100
# Rows of the sketch from which a solve on many more rows starts, and how many times more.
_SKETCH_ROWS = 20_000
_SKETCH_GAIN = 2
# A response is mostly a sum of single effects. Classes of few samples may not be: an interaction
# is then seen by the Gaussian or not at all.
_LEAST_MIXING = {
    "classification": {"least_mixing": 0.3, "samples_for_least_mixing": 200},
    "regression": {"least_mixing": 0.2},
}


def uses_features(approximation: str | None, kernel: str, n_samples: int, n_features: int) -> bool:
    """Whether a fit uses a finite feature map instead of the n×n kernel matrix.

    Examples
    --------
    >>> uses_features("auto", "gaussian", 1000, 10), uses_features("auto", "gaussian", 10**6, 10)
    (False, True)
    >>> uses_features("auto", "polynomial", 10**6, 10)
    False
    """
    if approximation == "fourier":
        return True
    if approximation is None or kernel in _WITHOUT_FEATURES:
        return False
    if kernel == "linear" and n_features < n_samples:
        return True  # its features are exact, and fewer than samples
    return n_samples > _EXACT_SAMPLES


def choose_approximation(
    approximation: str | None,
    kernel: str,
    shape: tuple[int, int],
    *,
    mixing: float | str = "auto",
    itemsize: int = 8,
    n_components: int | None = None,
    n_responses: int = 1,
    strategy: str = "path",
    copied: bool = False,
) -> str | None:
    """What a fit will use, by the numbers of samples and features and by free memory.

    Parameters
    ----------
    approximation : {"auto", "fourier"} or None
    kernel : str
    shape : tuple of int
        Numbers of samples and of columns.
    mixing : float or "auto"
    itemsize : int
        Bytes of a number.
    n_components, n_responses : int
    strategy : str
    copied : bool
        Whether the samples are copied to a device.

    Returns
    -------
    approximation : "fourier" or None

    Raises
    ------
    MemoryError
        Where neither the asked for nor, under "auto", the other would fit.

    Examples
    --------
    >>> choose_approximation("auto", "auto", (100, 10)) is None
    True
    >>> choose_approximation("auto", "auto", (100_000, 10))
    'fourier'
    """
    n, d = shape
    mixed = kernel in ("additive", "mixed") or (kernel == "auto" and strategy == "path")
    exact = exact_bytes(n, d, itemsize, mixed=mixed)
    has_features = kernel not in _WITHOUT_FEATURES
    n_random = d if kernel == "linear" else n_components or _DEFAULT_COMPONENTS
    with_sum = features_have_sum(
        kernel, mixing, strategy=strategy, n_columns=d, n_components=n_components
    )
    summed = min(d, MOST_COLUMNS) if with_sum else 0
    features = fourier_bytes(
        n,
        d,
        n_random + waves_for(summed, alone=kernel == "additive" or mixing == 1.0) * summed,
        itemsize,
        n_responses=n_responses,
        n_threads=1 if copied else row_threads(),
        copied=copied,
    )
    if summed < d and with_sum:
        features += exact_bytes(_screen_rows(n, d), d, itemsize, mixed=True)
    if uses_features(approximation, kernel, n, d) or (
        approximation == "auto" and has_features and not fits(exact)
    ):
        check_memory(
            features,
            f"A fit of {n} samples and {d} columns by random features",
            "Ask for fewer of them (n_components), leave the sum over features out "
            '(kernel="gaussian"), pass float32, or read the rows from disk: a numpy.memmap, or '
            "covmin.open_parquet.",
        )
        return "fourier"
    way_out = (
        f'approximation="fourier" needs about {max(features // 10**6, 1)} MB'
        if has_features
        else 'kernel="gaussian" with approximation="fourier" needs no such matrix'
    )
    check_memory(
        exact,
        f"The exact kernel of {n} samples and {d} columns",
        f"{way_out}; or pass fewer samples, or float32.",
    )
    return None


def make_problem(
    columns: PreparedColumns,
    Y: np.ndarray,
    formulation: Formulation,
    *,
    approximation: str | None,
    n_components: int | None,
    device: str | None,
    seed: int,
) -> Problem:
    """Bring the data to the device and draw the random features, once."""
    X = columns.X
    n, d = X.shape
    frequencies = None
    if uses_features(approximation, formulation.kernel, n, d):
        rng = np.random.default_rng(seed)
        kernel = formulation.kernel_at(1.0)
        frequencies = kernel.draw_frequencies(d, n_components or _DEFAULT_COMPONENTS, rng)
    if isinstance(X, StandardizedSource):
        problem = _problem_in_blocks(columns, X, Y, formulation, frequencies, seed)
    else:
        problem = _problem_in_memory(columns, Y, formulation, frequencies, device, seed)
    if frequencies is None or problem.share == 0.0 or d <= MOST_COLUMNS:
        return problem
    exact = replace(formulation, mixing=problem.share, for_the_kept=False)
    screen = _screen(columns, Y, exact, device, seed)
    sketch = None if problem.sketch is None else replace(problem.sketch, screen=screen)
    return replace(problem, screen=screen, sketch=sketch)


def _problem_in_memory(
    columns: PreparedColumns,
    Y: np.ndarray,
    formulation: Formulation,
    frequencies: np.ndarray | None,
    device: str | None,
    seed: int,
) -> Problem:
    X = columns.X
    return Problem(
        to_device(X, device),
        to_device(Y.astype(X.dtype), device),
        to_device(columns.p.astype(X.dtype), device),
        formulation,
        frequencies,
        seed,
        columns.units,
        columns.total_weight,
        columns.n_distinct,
    )


def _screen_rows(n_samples: int, n_columns: int) -> int:
    """Rows of the sample on which a choice among too many columns is made.

    Examples
    --------
    >>> _screen_rows(10**6, 5000), _screen_rows(10**6, 20_000), _screen_rows(600, 20_000)
    (1264, 632, 600)
    """
    return min(n_samples, int(np.clip((_SCREEN_SIZE / n_columns) ** 0.5, *_SCREEN_ROWS)))


def _screen(
    columns: PreparedColumns, Y: np.ndarray, formulation: Formulation, device: str | None, seed: int
) -> Problem:
    """The problem by the exact kernel on a sample of the rows."""
    X = columns.X
    has_say = np.flatnonzero(columns.p > 0.0)
    rng = np.random.default_rng([seed, 1])  # not the stream that draws the frequencies
    rows = np.sort(rng.choice(has_say, _screen_rows(has_say.size, X.shape[1]), replace=False))
    sample = X.sample(rows) if isinstance(X, StandardizedSource) else X[rows]
    X, Y, p = (to_device(part, device) for part in _held(columns, Y, rows, sample))
    return Problem(X, Y, p, formulation, seed=seed, units=columns.units)


def _held(
    columns: PreparedColumns, Y: np.ndarray, rows: np.ndarray, sample: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some of the rows, with their responses and weights for themselves."""
    p = columns.p[rows] / columns.p[rows].sum()
    part = Y[rows] - p @ Y[rows]
    return sample, part.astype(sample.dtype), p.astype(sample.dtype)


def _problem_in_blocks(
    columns: PreparedColumns,
    X: StandardizedSource,
    Y: np.ndarray,
    formulation: Formulation,
    frequencies: np.ndarray | None,
    seed: int,
) -> Problem:
    """A problem whose samples are read in blocks, with a sketch that is held in memory."""
    n = X.shape[0]
    rng = np.random.default_rng(seed)
    near = median_rows(n, rng)
    common: dict[str, Any] = {
        "formulation": formulation,
        "frequencies": frequencies,
        "seed": seed,
        "units": columns.units,
        "total_weight": columns.total_weight,
        "n_distinct": columns.n_distinct,
    }
    sketch = None
    wanted = near
    if n > _SKETCH_ROWS * _SKETCH_GAIN:
        some = np.sort(rng.choice(n, _SKETCH_ROWS, replace=False))
        wanted = np.union1d(near, some)
    sample = X.sample(wanted)  # one pass over the rows for both
    if wanted.size > near.size:
        sketch = Problem(*_held(columns, Y, some, sample[np.searchsorted(wanted, some)]), **common)
    few = _held(columns, Y, near, sample[np.searchsorted(wanted, near)])
    return Problem(*few, **common, rows=X.rows(Y, columns.p), sketch=sketch)


def rank_sizes(
    strategy: str, problem: Problem, sizes: list[int]
) -> Iterator[tuple[int, np.ndarray]]:
    """For each size, the columns from best to worst: one path for all, or a solve for each."""
    if strategy == "path":
        order = run_path(problem, default_budgets(problem.n_features)).order
        yield from ((size, order) for size in set(sizes))
    else:
        for size in set(sizes):
            yield size, run_path(problem, [size]).order


def check_lambda2(lambda2: float | None, n_samples: float, epsilon: float) -> None:
    """Warn when λ₂ is too small for the inverse-free objective to fall with dependence."""
    floor = 1.0 / (2.0 * n_samples * epsilon)
    if lambda2 is not None and lambda2 < floor:
        warnings.warn(
            f"lambda2={lambda2:g} is below 1/(2nε) = {floor:.4g}: the inverse-free objective "
            "need not fall when features explain more of y. Pass a larger lambda2, or None.",
            UserWarning,
            stacklevel=4,
        )


def bandwidth_value(bandwidth: float | str) -> float | None:
    """The bandwidth of a formulation: a number within reason, or None for the median rule.

    Examples
    --------
    >>> bandwidth_value("median"), bandwidth_value(2)
    (None, 2.0)
    """
    if isinstance(bandwidth, str):
        return None
    if not 1.0 / _LARGEST_BANDWIDTH <= bandwidth <= _LARGEST_BANDWIDTH:
        raise ValueError(
            f"bandwidth={bandwidth:g} is out of all proportion to the data: the kernel would be "
            'the same for all pairs of samples. Use bandwidth="median", or a number of the size '
            "of the distances between samples."
        )
    return float(bandwidth)


def sees_interactions(kernel: str, mixing: float | str, degree: int) -> bool:
    """Whether a kernel is more than a sum over single columns.

    Examples
    --------
    >>> sees_interactions("auto", "auto", 3), sees_interactions("additive", "auto", 3)
    (True, False)
    >>> sees_interactions("polynomial", "auto", 1)
    False
    """
    if kernel == "polynomial":
        return degree > 1
    summed = kernel in ("auto", "mixed") and mixing == 1.0
    return not summed and kernel not in ("additive", "linear")


def kernel_parameters(kernel: str, degree: int, coef0: float) -> dict[str, Any]:
    """The parameters a kernel has beyond its bandwidth."""
    return {"degree": degree, "coef0": coef0} if kernel == "polynomial" else {}


def features_have_sum(
    kernel: str,
    mixing: float | str,
    *,
    strategy: str,
    n_columns: int,
    n_components: int | None,
) -> bool:
    """Whether the sum over single columns stands beside random features.

    So many random features resolve a Gaussian of few columns well. Of many columns they see
    little, however many samples there are, and single effects are lost in their noise. A share
    that is given is mixed in all the same.

    Examples
    --------
    >>> options = {"strategy": "path", "n_components": None}
    >>> [features_have_sum("auto", "auto", n_columns=d, **options) for d in (50, 500)]
    [False, True]
    """
    if kernel != "auto":
        return kernel in ("mixed", "additive")
    if strategy == "single":
        return False
    least = _COLUMNS_FOR_EACH_COMPONENT * (n_components or _DEFAULT_COMPONENTS)
    return n_columns > least or not isinstance(mixing, str)


def mixture(kernel: str, mixing: float | str, *, strategy: str, task: str) -> dict[str, Any]:
    """Which kernel a fit uses and what is mixed into it, as options of a formulation.

    The single solve is the paper's, with the paper's kernel.

    Examples
    --------
    >>> mixture("auto", "auto", strategy="path", task="classification")
    {'kernel': 'gaussian', 'mixing': None, 'least_mixing': 0.3, 'samples_for_least_mixing': 200}
    >>> mixture("auto", "auto", strategy="single", task="classification")
    {'kernel': 'gaussian', 'mixing': 0.0}
    >>> mixture("additive", "auto", strategy="path", task="classification")
    {'kernel': 'gaussian', 'mixing': 1.0}
    """
    if kernel == "auto":
        kernel = "gaussian" if strategy == "single" else "mixed"
    if kernel not in ("mixed", "additive"):
        return {"kernel": kernel, "mixing": 0.0}
    if kernel == "additive":
        return {"kernel": "gaussian", "mixing": 1.0}
    if isinstance(mixing, str):
        return {"kernel": "gaussian", "mixing": None, **_LEAST_MIXING[task]}
    return {"kernel": "gaussian", "mixing": float(mixing)}
