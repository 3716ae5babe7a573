"""Estimate the amount of computation of a fit before it starts.

No result depends on it: the counts only serve to estimate time and to show progress.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from covmin.constants import FUNCTION_SCALES
from covmin.core.kernels.additive import waves_for
from covmin.core.regression import landmarks_for
from covmin.runtime.threads import row_threads, worker_threads
from covmin.runtime.workload import PASS, Workload

from .approximation import pair_rows, pair_waves
from .budgets import candidate_sizes, n_folds_used
from .constants import (
    CROSS_FIT_ROWS,
    FEWEST_TO_CROSS_FIT,
    N_FOLDS,
    PAIR_PASSES,
    SCORING_ROWS,
    TESTED_ROWS,
)

if TYPE_CHECKING:
    from .plan import Plan

# Evaluations per stage, counted on the tables of benchmarks/grid.py; the first stage starts from
# equal weights and takes more.
_EVALUATIONS, _AT_FIRST = 4.0, 8.0
# On more rows, a stage starts from its solution on fewer.
_ON_MORE_ROWS = 2.5
# A single solve has no earlier stages to start from.
_OF_A_SINGLE_SOLVE = 25.0
# An evaluation consists of a matrix and its gradient, each with a product of the same size.
_WITH_GRADIENT = 2.0
# Passes over a kernel matrix (distances, powers, derivatives), and over Fourier features, which
# are computed once for the value and once for the gradient.
_MATRIX_PASSES, _COMPONENT_PASSES = 3.0, 10.0
# Computing eigenvectors takes as long as this many matrix products.
_EIGENVECTORS = 10.0
# Constant cost of an evaluation and of a regression: some milliseconds.
_CALLS, _CALLS_OF_A_REGRESSION = 5e7, 3e8
# A test of a feature given others takes as long as this many regressions.
_REGRESSIONS_OF_A_TEST = 6.0
# Typical number of features that are tested again.
_TESTED_AGAIN = 4
# Double precision takes twice as long.
_DOUBLE = 2.0
# Ratio of actual to counted work over the grid of benchmarks/grid.py.
_CALIBRATION = 1.0


def workload(plan: Plan, n_features: int, wanted: int | None, n_jobs: int | None) -> Workload:
    """Return the number of multiplications of a fit, as if on one thread.

    ``wanted`` is the number of features to keep, None if it is to be chosen; ``n_jobs`` folds run
    in parallel.
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


def verdict_work(plan: Plan, n_jobs: int | None) -> float:
    """Return the number of multiplications of the tests behind verdicts, as if on one thread.

    A feature that seems to add something is tested again, given a ranking of all others. How many
    there are is not known ahead.
    """
    d, n = plan.size.n_columns, min(plan.size.n_samples, TESTED_ROWS)
    path = _pairs(plan, n) + sum(_stages(plan, n, plan.budgets(d, 1)).values())
    choice = path + _scoring(n, len(candidate_sizes(d)))
    each = _REGRESSIONS_OF_A_TEST * _regression(n) + _CALLS_OF_A_REGRESSION
    tests = d * each + min(d, _TESTED_AGAIN) * path
    return _CALIBRATION * (choice + tests / worker_threads(n_jobs))


def _folds(
    plan: Plan, n: int, budgets: Sequence[int], sizes: Sequence[int], n_jobs: int | None
) -> float:
    """Return the work of the paths on training folds and the evaluation of their sets."""
    rows = int(n - n / N_FOLDS)
    n_workers = max(worker_threads(n_jobs), row_threads() if n_jobs is None else 1)
    path = sum(_stages(plan, rows, budgets).values()) * min(_threads(plan), n_workers)
    each = _pairs(plan, rows) + len(plan.epsilons) * (path + _scoring(rows, len(sizes)))
    return math.ceil(n_folds_used(n) / n_workers) * each


def _scoring(n_rows: int, n_sets: int) -> float:
    """Return the work of regressions on some sets, and of the search over bandwidths."""
    each = _regression(min(n_rows, SCORING_ROWS)) + _CALLS_OF_A_REGRESSION
    return (n_sets + len(FUNCTION_SCALES)) * each


def _regression(n_rows: int) -> float:
    """Return the work of a kernel regression with landmarks, apart from its constant cost."""
    near = min(n_rows, landmarks_for(n_rows))
    return _DOUBLE * near * (n_rows * (near + PASS) + _EIGENVECTORS * near**2)


def _pairs(plan: Plan, n_rows: int) -> float:
    """Return the work of the search for pairs: their products, and passes over them."""
    if not plan.looks_for_pairs:
        return 0.0
    d, k = plan.size.n_columns, plan.size.n_responses
    rows = pair_rows(n_rows, d, k)
    return float(d**2 * (rows * k + PAIR_PASSES) * pair_waves(rows, d, k) ** 2)


def _stages(
    plan: Plan, n_rows: int, budgets: Sequence[int], wanted: int | None = None
) -> dict[int, float]:
    """Return the work of each stage by the number of features kept.

    Each stage selects from the features of the previous one. The stage for the requested number
    is additional and uses all rows.
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
    """Return the numbers of rows that a stage is solved on, in turn."""
    if not plan.saves_work:
        return [n_rows]
    n_components = plan.size.n_components if plan.approximation else 0
    effort = plan.size.effort
    last = min(n_rows, effort.rows(plan.kernel, n_columns, n_components))
    return [*effort.climb(n_columns, last), last, *([n_rows] if whole and last < n_rows else [])]


def _evaluation(plan: Plan, n_rows: int, n_columns: int) -> float:
    """Return the work of the criterion and its gradient."""
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
    return _CALLS + scale * n_rows * total * products / _threads(plan)


def _threads(plan: Plan) -> int:
    return 1 if plan.size.on_device else plan.n_threads
