"""Turn prepared columns and encoded responses into an optimisation problem."""

from dataclasses import replace
from typing import Any

import numpy as np

from covmin.constants import CANDIDATES, SAMPLE_ROWS, SAMPLES_FOR_EACH_FEATURE
from covmin.core.arrays import like, to_device, to_numpy
from covmin.core.exchange import Exchanged, refine
from covmin.core.path import Path
from covmin.core.problem import Problem
from covmin.core.rows import Sample
from covmin.core.set_errors import SetSample
from covmin.data.blocks.views import ChangedBlocks
from covmin.data.standardize import PreparedColumns
from covmin.plan import Plan
from covmin.plan.rules import held_rows, pair_search


def problem_of(plan: Plan, columns: PreparedColumns, Y: np.ndarray) -> Problem:
    """Return the problem for prepared columns and responses, without its ridge.

    Y (n_samples, n_responses) is centred under the weights of the columns. The samples are moved to
    the device, and the random Fourier features are drawn once.
    """
    kernel, device, effort = plan.kernel, plan.device, plan.effort
    rows, X = columns.distinct(plan.seed), columns.X
    if effort is not None:  # in single precision
        X = ChangedBlocks(X.source, X.change, X.index, np.float32)
    n_held = rows.p.size
    if plan.approximation and device is None:
        n_held = held_rows(rows.p.size, X.shape[1], Y.shape[1])
    first, p = rows.first[:n_held], rows.p[:n_held] / rows.p[:n_held].sum()
    drawn = X.take(first) if device is None else to_device(X.take(first), device)
    Y_first = like(Y[first] - p @ Y[first], drawn)
    sample = Sample(drawn, Y_first, like(p, drawn), n_threads=plan.n_threads)
    frequencies, everything = None, None
    if plan.approximation is not None:
        rng = np.random.default_rng(plan.seed)
        frequencies = kernel.draw_frequencies(X.shape[1], plan.n_components, rng)
        frequencies = like(frequencies, drawn)
    if first.size < rows.p.size:
        # Not all rows fit in memory: read them in blocks, each distinct row once.
        if rows.p.size < X.shape[0]:
            X = X.keep(np.isin(np.arange(X.shape[0]), rows.first))
        everything = X.rows(Y[np.sort(rows.first)], rows.p[np.argsort(rows.first)])
    # Ten conjugate gradient steps cannot resolve the narrower kernel.
    is_narrow = plan.formulation.strategy == "path" and plan.formulation.inverse == "exact"
    return Problem(
        sample,
        everything or sample,
        kernel,
        epsilon=1.0,
        units=columns.units,
        frequencies=frequencies,
        for_kept=bool(is_narrow and plan.approximation),
        effort=effort,
    )


def refined(plan: Plan, problem: Problem, path: Path, m: int | None) -> Exchanged:
    """Return the features of a path, the first ones in a better order, by tuned regressions.

    A path compares sets by one kernel and ridge for all. The last word has the quantity that the
    criterion estimates, with a kernel and a ridge of its own for each set.
    """
    if not plan.refines or problem.sample.X.shape[0] < 2 * SAMPLES_FOR_EACH_FEATURE:
        return Exchanged(path.order, 0, np.empty(0), 0)
    few, units = problem.sample.first(SAMPLE_ROWS), problem.units
    Y, p = (to_numpy(part).astype(np.float64) for part in (few.Y, few.p))
    sample = SetSample(to_numpy(few.X), units.of_column, units.scale, Y - p @ Y, p / p.sum())
    found = [np.unique(members[members >= 0]) for members in path.protected.interactions.units]
    named: list[Any] = [members for members in found if members.size > 1]
    # Candidates beside those of the path, if there are enough samples for more.
    room = max(0, problem.sample.X.shape[0] // CANDIDATES[2] - CANDIDATES[1])
    named += [[j] for j in path.protected.alone[:room].tolist()]
    also = np.concatenate([path.protected.spread.units.ravel(), *named]).astype(int)
    first = path.order[: CANDIDATES[1]]
    also = np.unique(also[(also >= 0) & ~np.isin(also, first)])
    searched = pair_search((*sample.X.shape, Y.shape[1])) if plan.order else (0, 0)
    better = refine(sample, [*first, *also], named, m, searched)
    rest = path.order[~np.isin(path.order, better.order)]
    return replace(better, order=np.concatenate([better.order, rest]))
