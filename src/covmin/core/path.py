"""From budgets to nested sets of features to a full ranking.

One solve leaves ties: the chosen weights end at one and the others at zero. The path
solves at a generous budget, keeps the features chosen there, measures the bandwidth
again on these alone and solves at a smaller budget, down to one feature. Features are
ranked by the order in which they leave.

At weights spread thin over many features an interaction shows in no slope. Features that are
nominated for one (:mod:`covmin.core.nominations`) are therefore held on to while there are more
features than the samples can tell apart.

A feature here is a unit of :mod:`covmin.core.units`: a column, or a group of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .arrays import array_namespace, take, to_numpy
from .constraints import Constraint
from .kernels import median_rows
from .nominations import Pairs
from .objectives import Objective, TraceObjective
from .problem import Problem
from .solver import Iteration, Solution, minimize

__all__ = [
    "CRACK",
    "Path",
    "Stage",
    "approximation_error",
    "default_budgets",
    "run_path",
]

# Budgets shrink by this factor from stage to stage.
_SHRINK = 0.6
# The first budget on wide data.
_FIRST_BUDGET = 100
# How far a closed feature is opened to see what it would add (see `_order`).
CRACK = 1e-4

# Nominated features are held on to, whatever the criterion, while a stage chooses among more
# features than this many samples for each allow.
_SAMPLES_FOR_EACH = 10

StageCallback = Callable[["Progress"], None]
Report = Callable[[Iteration], None] | None


@dataclass(frozen=True)
class Progress:
    """What a path's callback sees after each step of each stage.

    Attributes
    ----------
    stage, n_stages : int
        Which stage of how many, from 0.
    budget : int
        Features the stage keeps.
    iteration : Iteration
    """

    stage: int
    n_stages: int
    budget: int
    iteration: Iteration


@dataclass(frozen=True)
class Stage:
    """One solve of a path.

    Attributes
    ----------
    budget : int
        Features kept.
    features : ndarray of shape (budget,)
        The kept units, in increasing order.
    columns : ndarray
        The units the stage chose among.
    weights : ndarray, one for each of ``columns``
    bandwidth : float
    criterion : float
        Objective at the solution, without the price of a soft budget.
    loo_error : float
        Mean squared leave-one-out error of kernel ridge regression with these weights.
        Optimistic: the selection has seen the samples that are left out.
    solution : Solution
    """

    budget: int
    features: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    bandwidth: float
    criterion: float
    loo_error: float
    solution: Solution


@dataclass(frozen=True)
class Path:
    """Nested sets of features and the ranking they imply.

    Attributes
    ----------
    stages : list of Stage
        From the largest budget to the smallest.
    order : ndarray of shape (n_features,)
        Columns from the best to the worst.
    pairs : Pairs
        Units that were nominated for their interaction.
    """

    stages: list[Stage]
    order: np.ndarray
    pairs: Pairs


def default_budgets(n_features: int, m: int | None = None) -> list[int]:
    """Budgets of the path: from 100 (or m) features, or three fifths of them all, to one.

    Examples
    --------
    >>> default_budgets(10, 3)
    [6, 3, 1]
    >>> default_budgets(5000)[:4]
    [100, 60, 36, 21]
    """
    first = min(max(_FIRST_BUDGET, m or 0), max(int(_SHRINK * n_features), 1))
    budgets = {first}
    while min(budgets) > 1:
        budgets.add(max(int(_SHRINK * min(budgets)), 1))
    if m is not None:
        budgets.add(m)
    return sorted(budgets, reverse=True)


def run_path(
    problem: Problem,
    budgets: Iterable[int],
    callback: StageCallback | None = None,
    *,
    finished: Sequence[tuple[Stage, np.ndarray]] = (),
    on_stage: Callable[[int, Stage, np.ndarray], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Path:
    """Solve at each budget in turn, each among the features the last one kept.

    Parameters
    ----------
    problem : Problem
    budgets : iterable of int
        Decreasing. A single budget is the paper's one solve. Where pairs interact, one is added
        that has room for one feature more than these.
    callback : callable, optional
        Called with a :class:`Progress` after each step.
    finished : sequence of (Stage, ndarray)
        The first stages and their orders, where they are known from an earlier run.
    on_stage : callable, optional
        Called with number, stage and order of every stage that is solved here to its end.
    stop : callable, optional
        Asked before each step and each stage whether to end the path here, with the order it
        has come to.

    Returns
    -------
    Path
    """
    budgets = list(budgets)
    pairs = problem.pairs()
    members = pairs.members_within(max(budgets) - 1)
    if members.size:
        budgets = sorted({*budgets, members.size + 1}, reverse=True)
    columns, weights = np.arange(problem.n_features), np.ones(problem.n_features)
    solved: list[tuple[Stage, np.ndarray]] = []
    while len(solved) < len(budgets):
        number = len(solved)
        if number < len(finished):
            new = [finished[number]]
        else:
            reports = [
                _reporter(callback, k, len(budgets), budgets[k])
                for k in range(number, len(budgets))
            ]
            ahead = list(zip(budgets[number:], reports, strict=True))
            new = _next_stages(problem, pairs, members, columns, weights, ahead, stop)
        solved += new
        columns, weights = _survivors(solved[-1][0])
        if stop is not None and stop():
            break
        if on_stage is not None and number >= len(finished):
            for k, (stage, order) in enumerate(new, start=number):
                on_stage(k, stage, order)
    # Columns in the order of leaving, each group best first.
    left = [order[stage.budget :] for stage, order in solved]
    last, order = solved[-1]
    best = order[: last.budget]
    stages = [stage for stage, _ in solved]
    return Path(stages, np.concatenate([best, *reversed(left)]), pairs)


def _survivors(stage: Stage) -> tuple[np.ndarray, np.ndarray]:
    """The features that a stage keeps, and their weights."""
    return stage.features, stage.weights[np.searchsorted(stage.columns, stage.features)]


def approximation_error(problem: Problem, stage: Stage) -> float:
    """How far the criterion at a stage's weights is from exact, as a share of it.

    Measured on at most 1024 of the rows, where the n×n matrix costs little.

    Returns
    -------
    error : float
        0 for the exact kernel, also where a sample of the rows decides by it.
    """
    if problem.frequencies is None:
        return 0.0
    chosen = median_rows(problem.X.shape[0], np.random.default_rng(problem.seed))
    # A row of weight zero has no say, and no finite ridge in the n×n matrix.
    chosen = chosen[to_numpy(problem.p)[chosen] > 0.0]
    p = take(problem.p, chosen, axis=0)
    p = p / array_namespace(p).sum(p)
    Y = take(problem.Y, chosen, axis=0)
    few = replace(
        problem,
        X=take(problem.X, chosen, axis=0),
        Y=Y - p @ Y,
        p=p,
        rows=None,
        sketch=None,
        # By the exact kernel the share would be another.
        formulation=replace(problem.formulation, mixing=problem.share),
    )
    active = stage.weights > 0.0
    columns, weights = stage.columns[active], stage.weights[active]
    if columns.size == 0:
        return 0.0
    values = []
    for version in (few, replace(few, frequencies=None)):
        gram = version.gram(columns, stage.bandwidth, stage.budget, among=stage.columns)
        values.append(TraceObjective(gram, problem.formulation.epsilon).at(weights).value)
    return abs(values[0] - values[1]) / abs(values[1])


def _reporter(
    callback: StageCallback | None, stage: int, n_stages: int, budget: int
) -> Callable[[Iteration], None] | None:
    if callback is None:
        return None
    return lambda iteration: callback(Progress(stage, n_stages, budget, iteration))


def _next_stages(
    problem: Problem,
    pairs: Pairs,
    members: np.ndarray,
    columns: np.ndarray,
    weights: np.ndarray,
    ahead: Sequence[tuple[int, Report]],
    stop: Callable[[], bool] | None,
) -> list[tuple[Stage, np.ndarray]]:
    """The next stage; or all down to the members of pairs, held or not, whichever ends better.

    Among more features than the samples can tell apart any set fits, and members are just held.
    Below that the criterion decides, where it is sharpest: at the smallest set that has room for
    them. On the way there noise often fits better.
    """
    budget, report = ahead[0]
    if members.size >= budget or not np.isin(members, columns).any():
        return [_solve_stage(problem, columns, weights, budget, report, stop)]
    if columns.size * _SAMPLES_FOR_EACH > pairs.n_samples:
        held = np.isin(columns, members)
        return [_solve_around(problem, held, columns, weights, budget, report, stop)]
    ways = []
    for held_on in (members, members[:0]):
        told: list[tuple[Report, list[Iteration]]] = []
        way: list[tuple[Stage, np.ndarray]] = []
        left, start = columns, weights
        for budget, report in ahead:
            if budget <= members.size or (way and stop is not None and stop()):
                break
            told.append((report, []))
            held = np.isin(left, held_on)
            way.append(_solve_around(problem, held, left, start, budget, told[-1][1].append, stop))
            left, start = _survivors(way[-1][0])
        ways.append((way, told))
    better = min(ways, key=lambda each: each[0][-1][0].criterion)
    # Only of the better way is told, afterwards: these stages are short.
    for report, iterations in better[1]:
        if report is not None:
            for iteration in iterations:
                report(iteration)
    return better[0]


def _solve_around(
    problem: Problem,
    held: np.ndarray,
    columns: np.ndarray,
    weights: np.ndarray,
    budget: int,
    callback: Callable[[Iteration], None] | None,
    stop: Callable[[], bool] | None,
) -> tuple[Stage, np.ndarray]:
    """Solve at one budget with the columns that are held always on; they come first."""
    if not held.any():
        return _solve_stage(problem, columns, weights, budget, callback, stop)
    on, free = columns[held], columns[~held]

    def report(iteration: Iteration) -> None:
        if callback is not None:
            callback(replace(iteration, n_active=iteration.n_active + on.size))

    stage, order = _solve_stage(
        problem.switched_on(on), free, weights[~held], budget - on.size, report, stop
    )
    full = np.ones(columns.size)
    full[~held] = stage.weights
    features = np.sort(np.concatenate([on, stage.features]))
    stage = replace(stage, budget=budget, features=features, columns=columns, weights=full)
    return stage, np.concatenate([on, order])


def _solve_stage(
    problem: Problem,
    columns: np.ndarray,
    weights: np.ndarray,
    budget: int,
    callback: Callable[[Iteration], None] | None,
    stop: Callable[[], bool] | None,
) -> tuple[Stage, np.ndarray]:
    """Solve at one budget; return the stage and its columns from best to worst."""
    sigma = problem.bandwidth(columns, budget)
    weights = _shrink(weights, budget)
    if problem.sketch is not None:
        _, _, sketched = _minimize(problem.sketch, columns, sigma, budget, weights, callback, stop)
        weights = sketched.w
    objective, constraint, solution = _minimize(
        problem, columns, sigma, budget, weights, callback, stop
    )
    assert solution.operator is not None
    loo_error = solution.operator.leave_one_out(problem.formulation.epsilon)
    solution = replace(solution, operator=None)
    order = _order(objective, solution)
    stage = Stage(
        budget=budget,
        features=np.sort(columns[order[:budget]]),
        columns=columns,
        weights=solution.w,
        bandwidth=sigma,
        criterion=solution.value - constraint.penalty(solution.w),
        loo_error=loo_error,
        solution=solution,
    )
    return stage, columns[order]


def _minimize(
    problem: Problem,
    columns: np.ndarray,
    sigma: float,
    budget: int,
    start: np.ndarray,
    callback: Callable[[Iteration], None] | None,
    stop: Callable[[], bool] | None,
) -> tuple[Objective, Constraint, Solution]:
    """Solve at one budget, under the first constraint that leaves enough features."""
    objective = problem.objective(problem.gram(columns, sigma, budget))
    for constraint in problem.constraints(budget):
        solution = minimize(
            objective,
            constraint,
            start,
            max_iter=problem.formulation.max_iter,
            tol=problem.formulation.tol,
            max_step=problem.formulation.max_step,
            callback=callback,
            stop=stop,
        )
        if (solution.w > 0.0).sum() >= budget:
            break
    return objective, constraint, solution


def _shrink(weights: np.ndarray, budget: int) -> np.ndarray:
    """Scale weights down into the budget, so that none starts at a corner."""
    return weights * min(1.0, budget / max(float(weights.sum()), 1.0))


def _order(objective: Objective, solution: Solution) -> np.ndarray:
    """Features from best to worst: by weight, by the step at which they closed, by slope.

    A kernel of squared weights has no slope at zero, so closed features are opened by a
    crack, too little to change the kernel, to see which of them would help most.
    """
    w, slope = solution.w, solution.gradient
    if objective.gram.zero_is_absorbing:
        slope = objective.at(np.maximum(w, CRACK), solution.state).gradient()
    return np.lexsort((slope, -solution.last_active, -w))
