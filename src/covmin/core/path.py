"""From budgets to nested sets of features to a full ranking.

One solve leaves ties: the chosen weights end at one and the others at zero. The path
solves at a generous budget, keeps the features chosen there, measures the bandwidth
again on these alone and solves at a smaller budget, down to one feature. Features are
ranked by the order in which they leave.

At weights spread thin over many features an interaction shows in no slope. Features that are
nominated for one (:mod:`covmin.core.pairs`) are therefore held on to while there are more
features than the samples can tell apart.

A feature here is a unit of :mod:`covmin.core.units`: a column, or a group of columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .arrays import Array, array_namespace, like, take, to_numpy
from .blocks import ArrayRows, Rows
from .constraints import CappedSimplex, Constraint, SoftBudget
from .grams import ExactGram, FourierGram, Gram
from .kernels import KERNELS, Kernel, median_bandwidth, median_rows
from .mixing import Additive, Sum, waves_for
from .objectives import InverseFreeObjective, Objective, TraceObjective
from .pairs import Pairs, interacting_pairs
from .solvers import Iteration, Solution, minimize
from .units import TiedGram, Units

__all__ = [
    "CRACK",
    "MOST_COLUMNS",
    "Formulation",
    "Path",
    "Problem",
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
# Prices of a unit of weight tried by default under a soft budget, as shares of the criterion
# at w = 0, until as many features as the budget allows are worth their price.
_DEFAULT_PRICES = 0.05 * 0.25 ** np.arange(6)
# Default λ₂ as a multiple of 1/(nε); 0.5 is the floor.
_DEFAULT_PENALTY = 3.0

# Nominated features are held on to, whatever the criterion, while a stage chooses among more
# features than this many samples for each allow.
_SAMPLES_FOR_EACH = 10
# More columns than these are chosen among on a sample of the rows, where a sum over them is
# mixed into random features.
MOST_COLUMNS = 2048

StageCallback = Callable[["Progress"], None]
Report = Callable[[Iteration], None] | None


@dataclass(frozen=True)
class Formulation:
    """Which of the eight formulations to solve, and its numbers.

    Parameters
    ----------
    epsilon : float
        Ridge ε.
    kernel : {"gaussian", "laplacian", "linear", "polynomial"}
    kernel_params : dict
        Further parameters of the kernel (``degree``, ``coef0``).
    mixing : float or None
        Share γ of the additive kernel that is mixed in; None sets it by the numbers of
        features and samples. 0 leaves the kernel as it is.
    least_mixing : float
        The least share where it is set by these numbers.
    samples_for_least_mixing : int
        Samples from which on that is the least; with fewer it is less in proportion.
    bandwidth : float or None
        σ; None takes the median rule anew on the features of each stage.
    for_the_kept : bool
        Whether the median rule stands for as many features as a stage keeps, not for all that
        it chooses among. At a budget of m of d features the weights start at m/d, so that with
        the latter every pair of samples is close, and nothing but single effects is seen.
    soft : bool
        Whether the budget is a price λ₁ instead of a constraint.
    lambda1 : float or None
        Price of a unit of weight; None: a twentieth of the criterion of no feature, cut
        to a quarter until at least as many features as asked for are worth it.
    pairs : bool
        Whether a path holds on to features that interact in pairs.
    inverse_free : bool
        Whether the matrix inverse is replaced by a penalised variable.
    lambda2 : float or None
        Its penalty; None: ``3/(nε)``, six times the floor.
    max_iter, tol, max_step
        See :func:`~covmin.core.solvers.minimize`.
    """

    epsilon: float
    kernel: str = "gaussian"
    kernel_params: dict[str, float] = field(default_factory=dict)
    mixing: float | None = 0.0
    least_mixing: float = 0.0
    samples_for_least_mixing: int = 1
    bandwidth: float | None = None
    for_the_kept: bool = False
    pairs: bool = False
    soft: bool = False
    lambda1: float | None = None
    inverse_free: bool = False
    lambda2: float | None = None
    max_iter: int = 200
    tol: float = 1e-3
    max_step: float = 0.2

    @property
    def kernel_name(self) -> str:
        """What the kernel is called with what is mixed in: "mixed", "additive" or itself."""
        if self.mixing == 0.0:
            return self.kernel
        return "additive" if self.mixing == 1.0 else "mixed"

    def kernel_at(self, sigma: float) -> Kernel:
        """The kernel with bandwidth sigma, nothing mixed in."""
        return KERNELS[self.kernel](sigma=sigma, **self.kernel_params)

    def mixed_kernel(
        self, sigma: float, share: float, n_features: float, budget: float, n_waves: int = 8
    ) -> Kernel:
        """The kernel of a stage that keeps ``budget`` of so many features."""
        kernel = self.kernel_at(sigma)
        if share == 0.0:
            return kernel
        # σ² is about the sum of the variances of the features: a fair share of it for each.
        summed = budget if self.for_the_kept else n_features
        additive = Additive(sigma / math.sqrt(summed), budget, n_waves)
        return Sum(
            ((1.0 - share, kernel), (share, additive)) if share < 1.0 else ((1.0, additive),)
        )

    def share(self, n_samples: int, n_features: float) -> float:
        """γ: half where features far outnumber samples, little where samples do."""
        if self.mixing is not None:
            return self.mixing
        least = self.least_mixing * min(n_samples / self.samples_for_least_mixing, 1.0)
        return max(0.5 * n_features / (n_features + n_samples), least)


@dataclass(frozen=True)
class Problem:
    """Samples, responses and a formulation: everything a solve needs.

    Parameters
    ----------
    X : array of shape (n_samples, n_columns)
        Where the samples are kept in ``rows``, a few of them, for the bandwidth.
    Y : array of shape (n_samples, n_responses)
        Columns centred under p.
    p : array of shape (n_samples,)
        Positive weights that sum to one.
    formulation : Formulation
    frequencies : array of shape (n_columns, any) or None
        Those of the random features, drawn once; None for the exact kernel.
    seed : int
        Seed of the rows sampled for the bandwidth.
    units : Units or None
        What is chosen as one; None: every column by itself.
    total_weight : float or None
        n in ``nλ₂``: the sum of the sample weights before they became p; None: the rows.
    n_distinct : int or None
        n in the share of the additive kernel: the rows that differ; None: the rows.
    rows : Rows or None
        Samples with Y and p, kept elsewhere; only for random features. Y and p are then those
        of the rows in X.
    sketch : Problem or None
        The same problem on a sample of the rows, from whose solution a solve may start.
    screen : Problem or None
        The same problem by the exact kernel on a sample of the rows. It decides among more
        than ``MOST_COLUMNS`` columns, for which the moments of a sum over columns would be too
        large.
    n_threads : int
        Blocks of the rows in X worked on at once, for random features.
    """

    X: Array
    Y: Array
    p: Array
    formulation: Formulation
    frequencies: Array | None = None
    seed: int = 0
    units: Units | None = None
    total_weight: float | None = None
    n_distinct: int | None = None
    rows: Rows | None = None
    sketch: Problem | None = None
    screen: Problem | None = None
    n_threads: int = 1

    def __post_init__(self) -> None:
        if self.units is None:
            object.__setattr__(self, "units", Units.single(int(self.X.shape[1])))

    def in_threads(self, n_threads: int) -> Problem:
        """The same problem, and its sketch, with several blocks worked on at once."""
        sketch = None if self.sketch is None else self.sketch.in_threads(n_threads)
        return replace(self, sketch=sketch, n_threads=n_threads)

    def switched_on(self, features: np.ndarray) -> Problem:
        """The same problem, its sketch and its screen, with some of the units always on."""
        sketch, screen = (
            None if other is None else other.switched_on(features)
            for other in (self.sketch, self.screen)
        )
        return replace(self, units=self.layout.switched_on(features), sketch=sketch, screen=screen)

    @property
    def layout(self) -> Units:
        """What is chosen as one."""
        assert self.units is not None  # set after construction
        return self.units

    @property
    def n_features(self) -> int:
        """Number of units to choose from."""
        return self.layout.size

    @property
    def n_samples(self) -> int:
        """Rows that differ, where that is known."""
        return self.n_distinct or int(self.X.shape[0])

    def pairs(self) -> Pairs:
        """Pairs of units that interact, where a path is to look for them."""
        if not self.formulation.pairs:
            return Pairs.none()
        return interacting_pairs(self.X, self.Y, self.p, self.layout.of_column, self.seed)

    @property
    def share(self) -> float:
        """γ: the features of the whole problem, not those of a stage, say how much to mix in.

        D random features tell no more samples apart than D, so that D stands for these.
        """
        n_samples = self.n_samples
        if self.frequencies is not None:
            n_samples = 2 * int(self.frequencies.shape[1])
        return self.formulation.share(n_samples, self.layout.n_features)

    def bandwidth(self, features: np.ndarray, budget: int | None = None) -> float:
        """σ on the columns of the given units and those always on, for a stage that keeps m."""
        if self.formulation.bandwidth is not None:
            return float(self.formulation.bandwidth)
        if self.formulation.kernel == "linear":
            return 1.0
        order = KERNELS[self.formulation.kernel].order
        columns = self.layout.columns(features)
        if self.screen is not None and columns.size > MOST_COLUMNS:
            return self.screen.bandwidth(features, budget)
        rng = np.random.default_rng(self.seed)
        chosen = median_rows(self.X.shape[0], rng)
        X = take(take(self.X, chosen, axis=0), columns, axis=1)
        scale = self.layout.scale[columns]
        if (scale != 1.0).any():
            X = X * like(scale, X)
        sigma = median_bandwidth(X, order, rng, to_numpy(self.p)[chosen])
        if budget is None or not self.formulation.for_the_kept:
            return sigma
        n_features = self.layout.restrict(features).n_features
        kept = n_features - features.size + budget
        return sigma * (kept / n_features) ** (1.0 / order)

    def gram(
        self,
        features: np.ndarray,
        sigma: float,
        budget: int | None = None,
        among: np.ndarray | None = None,
    ) -> Gram:
        """The Gram operator on the given units.

        The kernel is that of a stage which keeps ``budget`` (or all) of the units ``among``
        (or of the given ones).
        """
        columns, units = self.layout.columns(features), self.layout.restrict(features)
        if self.screen is not None and columns.size > MOST_COLUMNS:
            return self.screen.gram(features, sigma, budget, among)
        stage = units if among is None else self.layout.restrict(among)
        n_waves = waves_for(
            max(columns.size, stage.of_column.size), alone=self.formulation.mixing == 1.0
        )
        kernel = self._kernel(stage, sigma, budget, n_waves)
        gram: Gram
        if self.frequencies is None:
            gram = ExactGram(kernel, take(self.X, columns, axis=1), self.Y, self.p)
        else:
            finite = kernel.features(take(self.frequencies, columns, axis=0)).like(self.X)
            rows = self.rows or ArrayRows(self.X, self.Y, self.p, n_threads=self.n_threads)
            gram = FourierGram(finite, rows.restrict(columns))
        return gram if units.are_columns else TiedGram(gram, units)

    def _kernel(self, units: Units, sigma: float, budget: int | None, n_waves: int) -> Kernel:
        n_features = units.n_features
        always_on = n_features - units.size
        return self.formulation.mixed_kernel(
            sigma,
            self.share,
            n_features,
            (budget or units.size) + always_on,
            n_waves,
        )

    def objective(self, gram: Gram) -> Objective:
        """The objective over a Gram operator."""
        formulation = self.formulation
        if not formulation.inverse_free:
            return TraceObjective(gram, formulation.epsilon)
        if formulation.lambda2 is None:
            penalty = _DEFAULT_PENALTY / formulation.epsilon
        else:
            penalty = (self.total_weight or self.X.shape[0]) * formulation.lambda2
        return InverseFreeObjective(gram, formulation.epsilon, penalty)

    def constraints(self, budget: int) -> list[Constraint]:
        """The budget, hard or soft: constraints to try until one leaves enough features."""
        formulation = self.formulation
        if not formulation.soft:
            return [CappedSimplex(budget)]
        if formulation.lambda1 is not None:
            return [SoftBudget(budget, formulation.lambda1)]
        xp = array_namespace(self.Y)
        no_feature = float(xp.sum(self.p @ self.Y**2)) / formulation.epsilon
        return [SoftBudget(budget, share * no_feature) for share in _DEFAULT_PRICES]


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
