"""Samples, responses and a formulation: what a solve needs, and the operators it is made of.

A feature here is a unit of :mod:`covmin.core.units`: a column, or a group of columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from .arrays import Array, array_namespace, like, take, to_numpy
from .constraints import CappedSimplex, Constraint, SoftBudget
from .grams import ExactGram, FourierGram, Gram
from .kernels import KERNELS, Kernel, median_bandwidth, median_rows
from .mixing import Additive, Sum, waves_for
from .nominations import Pairs, interacting_pairs
from .objectives import InverseFreeObjective, Objective, TraceObjective
from .rows import ArrayRows, Rows
from .units import TiedGram, Units

__all__ = ["MOST_COLUMNS", "Formulation", "Problem"]

# Prices of a unit of weight tried by default under a soft budget, as shares of the criterion
# at w = 0, until as many features as the budget allows are worth their price.
_DEFAULT_PRICES = 0.05 * 0.25 ** np.arange(6)
# Default λ₂ as a multiple of 1/(nε); 0.5 is the floor.
_DEFAULT_PENALTY = 3.0
# More columns than these are chosen among on a sample of the rows, where a sum over them is
# mixed into random features.
MOST_COLUMNS = 2048


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
        See :func:`~covmin.core.solver.minimize`.
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
