"""Solve for a decreasing number of features and rank the features.

A single solve leaves ties: the weights of the selected features end at one and the others at zero.
The path solves with a generous budget, keeps the selected features, re-estimates the bandwidth on
them, and solves with a smaller budget, down to one feature. Features are ranked by the stage at
which they are dropped.

While the weights are spread over many features, an interaction has no effect on the gradient.
Features that screening has found in one (:mod:`covmin.core.screening`) are therefore protected
while there are more features than the samples can distinguish.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from .arrays import array_namespace
from .objectives import Objective
from .problem import Problem
from .screening import Protected
from .solver import SILENT, Progress, Solution, Watch, minimize

# Weight given to features at zero to see what they would add (see `_order`).
PROBE_WEIGHT = 1e-4


@dataclass(frozen=True)
class Start:
    """The starting point of a stage."""

    among: np.ndarray  # the units that it selects from
    weights: np.ndarray  # their weights
    length: float | None = None  # step length of the previous stage, if any


@dataclass(frozen=True)
class Stage:
    """One stage of the path."""

    budget: int  # number of features kept
    features: np.ndarray  # (budget,), the units kept, in increasing order
    among: np.ndarray  # the units that the stage selected from
    weights: np.ndarray  # one for each of them
    bandwidth: float
    criterion: float  # objective at the solution, without the penalty of a soft budget
    solution: Solution
    order: np.ndarray  # the units that it selected from, best first
    n_rows: int = 0  # rows that decided


@dataclass(frozen=True)
class Path:
    """Nested sets of features, and the ranking that follows from them."""

    stages: list[Stage]  # from the largest budget to the smallest
    order: np.ndarray  # (n_features,), units from best to worst
    protected: Protected


def run_path(
    problem: Problem,
    budgets: Iterable[int],
    protected: Protected | None = None,
    watch: Watch = SILENT,
    wanted: int | None = None,
) -> Path:
    """Solve for each budget in turn, each among the features that the previous stage kept.

    The budgets decrease; a single one is the paper's single solve. If features are protected, a
    budget is added that has room for one feature more than these. If ``wanted`` is not one of the
    budgets, it is solved as an additional stage: it determines which features come first, but not
    their order, so that the order does not depend on ``wanted``. ``watch`` receives every step and
    stage, and can stop the path before each, with the order reached so far.
    """
    protected = protected or Protected()
    steps = set(budgets)
    members = protected.interactions.members_within(max(steps) - 1)
    if members.size:
        steps.add(members.size + 1)
    aside = None if wanted in steps else wanted
    every = sorted(steps | {wanted or max(steps)}, reverse=True)
    stages: list[Stage] = []
    start = Start(np.arange(problem.units.size), np.ones(problem.units.size))
    for number, budget in enumerate(every):
        known = number < len(watch.finished)
        if known:
            stage = watch.finished[number]
        else:
            kept = _protected(problem, protected, members, start.among, budget)
            place = number, len(every), budget
            stage = _solve(problem, watch, place, kept, start, whole=budget == wanted)
        stages.append(stage)
        if budget != aside:
            weights = stage.weights[np.searchsorted(stage.among, stage.features)]
            start = Start(stage.features, weights, stage.solution.length)
        if watch.stop():
            break
        if not known:
            watch.stage_done(number, stage)
    # By the stage at which features were dropped, best first.
    levels = [stage for stage in stages if stage.budget != aside] or stages
    dropped = [stage.order[stage.budget :] for stage in levels[-2::-1]]
    order = np.concatenate([levels[-1].order, *dropped])
    for stage in stages:
        if stage.budget == aside:
            order = order[np.argsort(~np.isin(order, stage.features), kind="stable")]
    return Path(stages, order, protected)


def stage_of(problem: Problem, features: np.ndarray) -> Stage:
    """Return a stage that keeps given features, with their weights."""
    m = features.size
    start = Start(np.sort(features), np.ones(m))
    return _solve(problem, SILENT, (0, 1, m), features[:0], start, whole=False)


def _protected(
    problem: Problem, protected: Protected, members: np.ndarray, among: np.ndarray, budget: int
) -> np.ndarray:
    """Return the units that a stage keeps, whatever the criterion.

    Members of interactions are protected while the budget has room for more than these: with many
    features, noise often fits better than an interaction. Others that act by the spread of the
    response are protected as well while there are more features than the samples can distinguish,
    and strong single effects if the stage uses only a sample of the rows.
    """
    others = members[:0]
    if problem.for_stage(among)[-1].rows.shape[0] < problem.rows.shape[0]:
        others = protected.alone
    elif among.size > protected.above:
        others = protected.spread.units.ravel()[: max(0, budget - 1 - members.size)]
    every = np.concatenate([members if members.size < budget else members[:0], others])
    every = every[np.isin(every, among)]
    return every[np.sort(np.unique(every, return_index=True)[1])][:budget]


def _solve(
    problem: Problem,
    watch: Watch,
    place: tuple[int, int, int],
    protected: np.ndarray,
    start: Start,
    *,
    whole: bool,
) -> Stage:
    """Solve a stage on more and more rows; protected features have weight one and come first.

    ``place`` is its number, that of all stages, and its budget.
    """
    is_on = np.isin(start.among, protected)
    on, among, w = start.among[is_on], start.among[~is_on], start.weights[~is_on]
    on = protected[np.isin(protected, on)]
    problem = replace(problem, units=problem.units.switched_on(on))
    budget = place[-1] - on.size
    levels = problem.for_stage(among, whole=whole)
    sigma = levels[-1].bandwidth(among, budget)
    rounding = float(array_namespace(problem.sample.X).finfo(problem.sample.X.dtype).eps)
    # Scale the weights down to the budget, so that no solve starts at a corner.
    w, length = w * min(1.0, budget / max(float(w.sum()), 1.0)), start.length
    for level in levels:
        gram, units = level.gram(among, sigma, budget), level.units.restrict(among)
        objective = level.objective(gram, level.epsilon, units=units)
        # The first constraint that keeps enough features counts.
        for constraint in level.constraints(budget):
            solution = minimize(
                objective,
                constraint,
                w,
                level.steps,
                # The solver does not see the protected features.
                lambda step: watch.step(
                    Progress(*place, replace(step, n_active=step.n_active + on.size))
                ),
                watch.stop,
                rounding,
                length,
            )
            if (solution.w > 0.0).sum() >= budget:
                break
        w, length = solution.w, solution.length
    order = among[_order(objective, solution)]
    weights = np.ones(start.among.size)
    weights[~is_on] = w
    return Stage(
        budget=place[-1],
        features=np.sort(np.concatenate([on, order[:budget]])),
        among=start.among,
        weights=weights,
        bandwidth=sigma,
        criterion=solution.value - constraint.price(w)[0],
        solution=solution,
        order=np.concatenate([on, order]),
        n_rows=level.rows.shape[0],
    )


def _order(objective: Objective, solution: Solution) -> np.ndarray:
    """Return features from best to worst: by weight, then by the step at which they reached zero.

    Remaining ties are ordered by the gradient. A kernel of squared weights has none at zero, so
    these features get a tiny weight, too small to change the kernel, to see which would help most.
    """
    w, slope = solution.w, solution.gradient
    if objective.gram.zero_is_absorbing:
        slope = objective.at(np.maximum(w, PROBE_WEIGHT), solution.state).gradient()
    return np.lexsort((slope, -solution.last_active, -w))
