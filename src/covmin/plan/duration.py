"""How much a fit will compute, counted before it starts.

No answer depends on it: the counts tell how long to wait, and how far a fit is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from covmin.core.kernels.additive import waves_for
from covmin.runtime.threads import row_threads, worker_threads
from covmin.runtime.workload import PASS, Workload

from .approximation import pair_rows, pair_waves
from .budgets import candidate_sizes, n_landmarks
from .constants import (
    CROSS_FIT_ROWS,
    ENOUGH_LEFT_OUT,
    FEWEST_TO_CROSS_FIT,
    FUNCTION_SCALES,
    JUDGED_ROWS,
    N_FOLDS,
    PAIR_PASSES,
)

if TYPE_CHECKING:
    from .plan import Plan

# Evaluations of a stage on the way, counted on the tables of benchmarks/grid.py; the first starts
# from equal weights and takes more.
_EVALUATIONS, _AT_FIRST = 4.0, 8.0
# On more rows a stage takes up what it has found on fewer.
_ON_MORE_ROWS = 2.5
# A single solve has no stages before it.
_OF_A_SINGLE_SOLVE = 25.0
# An evaluation is a matrix and its gradient, of which each takes a product of the same size.
_WITH_GRADIENT = 2.0
# Passes over a kernel matrix (distances, powers, their derivatives), and over components, whose
# waves are made once for the value and once for the gradient.
_MATRIX_PASSES, _COMPONENT_PASSES = 3.0, 10.0
# Eigenvectors take as long as so many products of the matrix with itself.
_EIGENVECTORS = 10.0
# What an evaluation takes whatever its size, and what a regression does: some milliseconds.
_CALLS, _CALLS_OF_A_REGRESSION = 5e7, 3e8
# Double precision takes twice as long.
_DOUBLE = 2.0
# What a fit takes beyond what is counted: the ratio of both over the grid of benchmarks/grid.py.
_CALIBRATION = 1.0


def workload(plan: Plan, n_features: int, wanted: int | None, n_jobs: int | None) -> Workload:
    """Multiplications of a fit of a plan, on one thread or as if so.

    ``wanted`` is the number of features to keep, None where it is to be chosen; ``n_jobs`` folds
    are cross-fitted at once.
    """
    n = plan.size.n_samples
    budgets = plan.budgets(n_features, wanted or 1)
    stages = _stages(plan, n, budgets, wanted)
    folds = 0.0
    if (wanted is None or len(plan.epsilons) > 1) and n >= FEWEST_TO_CROSS_FIT:
        sizes = candidate_sizes(n_features) if wanted is None else [wanted]
        folds = _folds(plan, min(n, CROSS_FIT_ROWS), budgets, sizes, n_jobs)
    return Workload(
        _CALIBRATION * folds,
        _CALIBRATION * _pairs(plan, n),
        {budget: _CALIBRATION * work for budget, work in stages.items()},
        on_device=plan.size.on_device,
    )


def _folds(
    plan: Plan, n: int, budgets: Sequence[int], sizes: Sequence[int], n_jobs: int | None
) -> float:
    """Paths on training folds and the judge of their sets, as many at once as there are workers."""
    left_out = n / N_FOLDS
    n_folds = min(N_FOLDS, max(3, math.ceil(ENOUGH_LEFT_OUT / left_out)))
    rows = int(n - left_out)
    n_workers = max(worker_threads(n_jobs), row_threads() if n_jobs is None else 1)
    path = sum(_stages(plan, rows, budgets).values()) * min(plan.n_threads, n_workers)
    each = _pairs(plan, rows) + len(plan.epsilons) * (path + _judged(rows, len(sizes)))
    return math.ceil(n_folds / n_workers) * each


def _judged(n_rows: int, n_sets: int) -> float:
    """Regressions on so many sets, and at every scale on the first."""
    n = min(n_rows, JUDGED_ROWS)
    near = min(n, n_landmarks(n))
    each = near * (n * (near + PASS) + _EIGENVECTORS * near**2)
    return (n_sets + len(FUNCTION_SCALES)) * (_DOUBLE * each + _CALLS_OF_A_REGRESSION)


def _pairs(plan: Plan, n_rows: int) -> float:
    """The look at pairs: their products, and passes over them."""
    if not plan.looks_for_pairs:
        return 0.0
    d, k = plan.size.n_columns, plan.size.n_responses
    rows = pair_rows(n_rows, d, k)
    return float(d**2 * (rows * k + PAIR_PASSES) * pair_waves(rows, d, k) ** 2)


def _stages(
    plan: Plan, n_rows: int, budgets: Sequence[int], wanted: int | None = None
) -> dict[int, float]:
    """By the features kept: each stage chooses among those of the one before.

    The stage of the number asked for stands beside the others, and sees all rows.
    """
    works: dict[int, float] = {}
    n_columns = plan.size.n_columns
    evaluations = _AT_FIRST if len(budgets) > 1 else _OF_A_SINGLE_SOLVE
    for budget in sorted({*budgets, wanted or budgets[0]}, reverse=True):
        first, *more = _rows_of_stage(plan, n_rows, n_columns, whole=budget == wanted)
        works[budget] = evaluations * _evaluation(plan, first, n_columns)
        works[budget] += _ON_MORE_ROWS * sum(_evaluation(plan, n, n_columns) for n in more)
        evaluations = _EVALUATIONS
        if budget in budgets:
            n_columns = min(n_columns, budget)
    return works


def _rows_of_stage(plan: Plan, n_rows: int, n_columns: int, *, whole: bool) -> list[int]:
    """Rows that a stage is solved on in turn."""
    if not plan.saves_work:
        return [n_rows]
    n_components = plan.size.n_components if plan.approximation else 0
    effort = plan.size.effort
    last = min(n_rows, effort.rows(plan.kernel, n_columns, n_components))
    return [*effort.climb(n_columns, last), last, *([n_rows] if whole and last < n_rows else [])]


def _evaluation(plan: Plan, n_rows: int, n_columns: int) -> float:
    """The criterion and its gradient: a kernel matrix and its factor, or components."""
    kernel = plan.kernel
    scale = 1.0 if plan.saves_work else _DOUBLE
    if plan.approximation is None or (plan.saves_work and n_rows <= plan.size.effort.matrix_rows):
        columns = n_columns * (1 + kernel.sums_features * waves_for(n_columns, alone=True))
        products = _WITH_GRADIENT * (columns + n_rows / 3.0 + _MATRIX_PASSES * PASS)
        return _CALLS + scale * n_rows**2 * products
    waves = kernel.sums_features * waves_for(n_columns, alone=not kernel.sees_interactions)
    total = plan.size.n_components + n_columns * waves
    # Moments are symmetric; columns meet the components in their angles and in the gradient.
    products = total / 2.0 + _WITH_GRADIENT * n_columns + _COMPONENT_PASSES * PASS
    return _CALLS + scale * n_rows * total * products / plan.n_threads
