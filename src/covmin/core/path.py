"""Solve for a decreasing number of features and rank the features.

A single solve leaves ties: the weights of the selected features end at one and the others at zero.
The path solves with a generous budget, keeps the selected features, re-estimates the bandwidth on
them, and solves with a smaller budget, down to one feature. Features are ranked by the stage at
which they are dropped.

While the weights are spread over many features, an interaction has no effect on the gradient.
Features that are nominated for one (:mod:`covmin.core.screening`) are therefore protected while
there are more features than the samples can distinguish.

Here a feature is a unit of :mod:`covmin.core.units`: a column or a group of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from .constraints import Constraint
from .grams import ExactGrams
from .objectives import Objective
from .problem import Problem
from .screening import Protected
from .solver import Solution, minimize
from .watch import SILENT, Iteration, Progress, Watch

# Weight given to features at zero to see what they would add (see `_order`).
PROBE_WEIGHT = 1e-4


@dataclass(frozen=True)
class Start:
    """The starting point of a stage."""

    among: np.ndarray  # the units that it selects from
    weights: np.ndarray  # their weights
    length: float | None = None  # step length of the previous stage, if any

    def without(self, held: np.ndarray) -> Start:
        """Return the same without the protected units."""
        free = ~np.isin(self.among, held)
        return Start(self.among[free], self.weights[free], self.length)


@dataclass(frozen=True)
class Stage:
    """One stage of the path."""

    budget: int  # number of features kept
    features: np.ndarray  # (budget,), the units kept, in increasing order
    among: np.ndarray  # the units that the stage selected from
    weights: np.ndarray  # one for each of them
    bandwidth: float
    criterion: float  # objective at the solution, without the penalty of a soft budget
    # Mean squared leave-one-out error of kernel ridge regression with these weights. It is too
    # low, because the selection has seen all samples.
    loo_error: float  # NaN if not computed
    solution: Solution

    @property
    def survivors(self) -> Start:
        """The units kept, with their weights."""
        weights = self.weights[np.searchsorted(self.among, self.features)]
        return Start(self.features, weights, self.solution.length)


Solved = tuple[Stage, np.ndarray]  # a stage, and its units from best to worst


@dataclass(frozen=True)
class Path:
    """Nested sets of features, and the ranking that follows from them."""

    stages: list[Stage]  # from the largest budget to the smallest
    order: np.ndarray  # (n_features,), units from best to worst
    protected: Protected  # units that were nominated for an interaction


def run_path(
    problem: Problem,
    budgets: Iterable[int],
    protected: Protected | None = None,
    watch: Watch = SILENT,
    wanted: int | None = None,
    *,
    with_errors: bool = True,
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
    walk = _Walk(problem, every, aside, members, protected, watch, wanted, with_errors)
    finished = watch.stages()
    solved: list[Solved] = []
    while len(solved) < len(every):
        number = len(solved)
        known = number < len(finished)
        new = [finished[number]] if known else walk.next_stages(number, walk.left_by(solved))
        solved += new
        if watch.stop():
            break
        if not known:
            for k, (stage, order) in enumerate(new, start=number):
                watch.stage_done(k, stage, order)
    return Path([stage for stage, _ in solved], walk.ranking(solved), protected)


def approximation_error(problem: Problem, stage: Stage) -> float:
    """Return the relative error of the criterion at a stage's weights, against the exact kernel.

    It is measured on the rows of the bandwidth, whose n×n matrix is cheap. It is 0 for the exact
    kernel, even if only a sample of the rows is used.
    """
    active = stage.weights > 0.0
    if isinstance(problem.grams, ExactGrams) or not active.any():
        return 0.0
    few = problem.sample.near
    names = ("kernel", "epsilon", "units", "summed")
    common = {name: getattr(problem, name) for name in names}
    at = stage.among[active], stage.weights[active], stage.bandwidth, stage.budget, stage.among
    rough = Problem.fourier(few, problem.grams.frequencies, **common).trace(*at)
    exact = Problem.exact(few, **common).trace(*at)
    return abs(rough - exact) / abs(exact)


@dataclass
class _StageWatch(Watch):
    """Reports the steps of a stage to the observer of the path.

    With ``waits`` it holds them back until :meth:`tell`.
    """

    watch: Watch
    stage: int
    n_stages: int
    budget: int
    n_held: int = 0
    waits: bool = False
    told: list[Progress] = field(default_factory=list)

    def iteration(self, iteration: Iteration) -> None:
        if self.n_held:
            iteration = replace(iteration, n_active=iteration.n_active + self.n_held)
        self.told.append(Progress(self.stage, self.n_stages, self.budget, iteration))
        if not self.waits:
            self.tell()

    def tell(self) -> None:
        while self.told:
            self.watch.step(self.told.pop(0))

    def stop(self) -> bool:
        return self.watch.stop()


@dataclass(frozen=True)
class _Walk:
    """The stages of a path, with some features protected."""

    problem: Problem
    budgets: list[int]
    aside: int | None  # an additional budget, from which no stage continues
    members: np.ndarray  # features in interacting pairs
    protected: Protected
    watch: Watch
    wanted: int | None
    with_errors: bool

    def left_by(self, solved: Sequence[Solved]) -> Start:
        """Return the units that the next stage selects from, and their current weights."""
        steps = [stage for stage, _ in solved if stage.budget != self.aside]
        if not steps:
            every = np.arange(self.problem.n_features)
            return Start(every, np.ones(every.size))
        return steps[-1].survivors

    def ranking(self, solved: Sequence[Solved]) -> np.ndarray:
        """Return the units by the stage at which they were dropped, best first."""
        steps = [each for each in solved if each[0].budget != self.aside] or solved
        left = [order[stage.budget :] for stage, order in steps]
        last, order = steps[-1]
        ranking = np.concatenate([order[: last.budget], *reversed(left)])
        for stage, _ in solved:
            if stage.budget == self.aside:
                is_first = np.isin(ranking, stage.features)
                ranking = np.concatenate([ranking[is_first], ranking[~is_first]])
        return ranking

    def next_stages(self, number: int, start: Start) -> list[Solved]:
        """Return the next stage; or all stages down to the size of the interacting pairs.

        With more features than the samples can distinguish, any set fits, so members of pairs are
        protected. Below that the criterion decides, where it is most informative: at the smallest
        set that has room for them. Before that, noise often fits better. If a member is dropped on
        the way, the stages are repeated with all members protected, and the better result counts.

        If a stage uses only a sample of the rows, features with strong effects on all rows are
        protected as well.
        """
        members, none, among = self.members, self.members[:0], start.among
        if self.problem.for_stage(among)[-1].n_rows < self.problem.n_rows:
            held = self._spoken_for(self.budgets[number], among)
            return [self._solve(self._watch(number), held, start)]
        if among.size > self.protected.above and members.size < self.budgets[number]:
            held = self.protected.while_many(members, self.budgets[number])
            return [self._solve(self._watch(number), held, start)]
        if members.size >= self.budgets[number] or not np.isin(members, among).any():
            return [self._solve(self._watch(number), none, start)]
        ways = [self._way(number, none, start)]
        if not np.isin(members, ways[0][1][-1][0].features).all():
            ways.append(self._way(number, members, start))
        watches, better = min(ways, key=lambda way: way[1][-1][0].criterion)
        # Report only the better alternative, afterwards: these stages are short.
        for watch in watches:
            watch.tell()
        return better

    @cached_property
    def _by_single_effects(self) -> np.ndarray:
        """Units by the strength of their single effects on all rows; empty without a sum."""
        return self.problem.by_single_effects()

    def _spoken_for(self, budget: int, among: np.ndarray) -> np.ndarray:
        """Return members of pairs, and up to half of the budget of strong single effects."""
        strongest = self._by_single_effects[np.isin(self._by_single_effects, among)][: budget // 2]
        others = strongest[~np.isin(strongest, self.members)]
        return np.concatenate([self.members, others])[: budget - 1]

    def _watch(self, number: int, *, waits: bool = False) -> _StageWatch:
        return _StageWatch(self.watch, number, len(self.budgets), self.budgets[number], waits=waits)

    def _way(
        self, number: int, held: np.ndarray, start: Start
    ) -> tuple[list[_StageWatch], list[Solved]]:
        """Solve the stages down to the smallest that has room for the members."""
        watches: list[_StageWatch] = []
        way: list[Solved] = []
        for k in range(number, len(self.budgets)):
            if self.budgets[k] <= self.members.size or (way and self.watch.stop()):
                break
            watches.append(self._watch(k, waits=True))
            way.append(self._solve(watches[-1], held, start))
            if self.budgets[k] != self.aside:
                start = way[-1][0].survivors
        return watches, way

    def _solve(self, watch: _StageWatch, held: np.ndarray, start: Start) -> Solved:
        """Solve for one budget with some features protected at weight one; they come first."""
        among = start.among
        is_held = np.isin(among, held)
        on = among[is_held]
        if on.size == 0:
            return self._solve_stage(self.problem, start, watch.budget, watch)
        watch.n_held = on.size
        stage, order = self._solve_stage(
            self.problem.switched_on(on), start.without(on), watch.budget - on.size, watch
        )
        full = np.ones(among.size)
        full[~is_held] = stage.weights
        features = np.sort(np.concatenate([on, stage.features]))
        stage = replace(stage, budget=watch.budget, features=features, among=among, weights=full)
        return stage, np.concatenate([on, order])

    def _solve_stage(
        self, problem: Problem, start: Start, budget: int, watch: _StageWatch
    ) -> Solved:
        """Solve for one budget on more and more rows; return the units from best to worst."""
        among, weights = start.among, start.weights
        levels = problem.for_stage(among, whole=watch.budget == self.wanted)
        sigma = levels[-1].bandwidth(among, budget)
        # Scale the weights down to the budget, so that no solve starts at a corner.
        weights = weights * min(1.0, budget / max(float(weights.sum()), 1.0))
        start = replace(start, weights=weights)
        for level in levels:
            objective, constraint, solution = _minimize(level, start, sigma, budget, watch)
            start = replace(start, weights=solution.w, length=solution.length)
        assert solution.operator is not None
        loo_error = np.nan
        if self.with_errors:
            loo_error = solution.operator.leave_one_out(problem.epsilon)
        solution = replace(solution, operator=None)
        order = _order(objective, solution)
        stage = Stage(
            budget=budget,
            features=np.sort(among[order[:budget]]),
            among=among,
            weights=solution.w,
            bandwidth=sigma,
            criterion=solution.value - constraint.price(solution.w),
            loo_error=loo_error,
            solution=solution,
        )
        return stage, among[order]


def _minimize(
    problem: Problem, start: Start, sigma: float, budget: int, watch: Watch
) -> tuple[Objective, Constraint, Solution]:
    """Solve for one budget, with the first constraint that keeps enough features."""
    objective = problem.objective_over(start.among, problem.gram(start.among, sigma, budget))
    how = problem.steps, watch, problem.rounding, start.length
    for constraint in problem.constraints(budget):
        solution = minimize(objective, constraint, start.weights, *how)
        if (solution.w > 0.0).sum() >= budget:
            break
    return objective, constraint, solution


def _order(objective: Objective, solution: Solution) -> np.ndarray:
    """Return features from best to worst: by weight, then by the step at which they reached zero.

    Remaining ties are ordered by the gradient. A kernel of squared weights has no gradient at zero,
    so these features get a tiny weight, too small to change the kernel, to see which would help
    most.
    """
    w, slope = solution.w, solution.gradient
    if objective.gram.zero_is_absorbing:
        slope = objective.at(np.maximum(w, PROBE_WEIGHT), solution.state).gradient()
    return np.lexsort((slope, -solution.last_active, -w))
