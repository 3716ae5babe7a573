"""What a fit will do, decided in one place, with the reason for each choice in words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from covmin.core.kernels import Kernel, Mixed
from covmin.core.kernels.bandwidth import all_features, kept_features
from covmin.core.nominations import Hold
from covmin.core.problem import Problem
from covmin.data.checks import listed
from covmin.data.columns import PreparedColumns
from covmin.data.encoding import Reading
from covmin.data.responses import EncodedResponse
from covmin.data.sources.sparse import is_made_dense
from covmin.runtime.threads import row_threads

from .approximation import Size, choose_approximation, pair_rows, pair_waves
from .budgets import path_budgets
from .constants import (
    DEVICE_EFFORT,
    EFFORT,
    HELD_NUMBERS,
    LEAST_RIDGE,
    N_COMPONENTS,
    NOISE_ROWS,
    SEARCH,
)
from .formulation import FORMULATIONS, Formulation
from .kernel import kernel_of, mixing_share, with_share
from .look import Look
from .problem import hold_for, make_problem
from .ridge import (
    given_ridges,
    is_by_chance,
    paper_ridge,
    ridge_for_noise,
    ridge_for_units,
)


@dataclass(frozen=True)
class Wishes:
    """What the user asks of a fit; "auto" and None leave it to the plan.

    Attributes are the parameters of the same names of :class:`covmin.CCMSelector`.
    """

    formulation: Formulation
    kernel: Any = "auto"
    epsilon: Any = "auto"
    interactions: bool = True
    approximation: str | None = "auto"
    n_components: int | None = None
    device: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class Decision:
    """A choice, and why it was made."""

    topic: str
    choice: str
    reason: str

    def __str__(self) -> str:
        return f"{self.topic:<15} {self.choice} ({self.reason})"


@dataclass(frozen=True, repr=False)
class Plan:
    """What a fit will do.

    ``print(selector.plan_)`` tells it in words.
    """

    wishes: Wishes
    size: Size
    task: str
    approximation: str | None  # "fourier", or None for the n×n kernel matrix
    kernel: Kernel
    epsilons: tuple[float, ...]  # to choose from by cross-fitting; a single one is taken
    in_blocks: bool  # whether rows are read in blocks and not copied
    n_threads: int  # blocks of rows worked on at once
    looks_for_pairs: bool
    decisions: tuple[Decision, ...]
    readings: tuple[Reading, ...] = ()  # of columns that are no plain numbers

    @classmethod
    def of_shape(
        cls, wishes: Wishes, shape: tuple[int, int], itemsize: int, response: EncodedResponse
    ) -> Plan:
        """What follows from the numbers of samples, columns and responses alone."""
        formulation = wishes.formulation
        n, d = shape
        n_components = 2 * -(-(wishes.n_components or N_COMPONENTS) // 2)  # cosines and sines
        size = Size(
            n,
            d,
            response.Y.shape[1],
            itemsize,
            n_components,
            wishes.device is not None,
            EFFORT if (wishes.device or "cpu").startswith("cpu") else DEVICE_EFFORT,
        )
        kernel = kernel_of(wishes.kernel, formulation)
        chosen, reason = choose_approximation(wishes.approximation, kernel, size)
        what = f"{n_components} random components" if chosen else "exact kernel matrix"
        if chosen and (kernel.components_are_exact or not kernel.sees_interactions):
            what = "components of each column"
        in_blocks = wishes.device is None and chosen == "fourier"
        plan = cls(
            wishes,
            size,
            response.task,
            chosen,
            kernel,
            epsilons=() if _is_auto(wishes.epsilon) else given_ridges(wishes.epsilon),
            in_blocks=in_blocks,
            n_threads=row_threads() if in_blocks else 1,
            looks_for_pairs=False,
            decisions=(Decision("approximation", what, reason),),
        )
        if formulation not in FORMULATIONS.values():
            plan = plan._decided("formulation", repr(formulation), "as asked for")
        return plan._with_rows()._with_pairs()

    def _decided(self, topic: str, choice: str, reason: str, **changes: Any) -> Plan:
        """The plan with one more decision, in place of an earlier one on the same topic."""
        others = tuple(each for each in self.decisions if each.topic != topic)
        return replace(self, decisions=(*others, Decision(topic, choice, reason)), **changes)

    def with_copies(self, n_rows: int) -> Plan:
        """The same for so many rows, of which only those that differ were counted."""
        n_copies = n_rows - self.size.n_samples
        if n_copies == 0:
            return self
        reason = "a copy counts as more weight of the sample it repeats"
        return self._decided("copies", f"{n_copies} of {n_rows} samples merged", reason)

    def with_gaps(self, names: list[Any]) -> Plan:
        """The same for a table in which these columns have gaps."""
        if not names:
            return self
        columns = f"{len(names)} column{'s' if len(names) > 1 else ''}"
        reason = (
            "a missing value stands at the mean, and whether it is there counts under the same "
            "weight"
        )
        return self._decided("gaps", f"{columns}: {listed(names)}", reason)

    def with_readings(self, readings: Sequence[Reading]) -> Plan:
        """The same with what columns were read as, one decision for each."""
        read = (Decision("columns", each.choice, each.words) for each in readings)
        return replace(self, decisions=(*read, *self.decisions), readings=tuple(readings))

    def with_table(self, X: Any) -> Plan:
        """The same for a table as it was passed: whether a sparse one is made dense."""
        if not issparse(X):
            return self
        n_numbers = X.shape[0] * X.shape[1]
        if is_made_dense(X):
            reason = f"{n_numbers} numbers, no more than {HELD_NUMBERS}"
            return self._decided("sparse table", "made dense", reason)
        reason = f"{n_numbers} numbers, more than {HELD_NUMBERS}"
        return self._decided("sparse table", "a few rows or columns dense at a time", reason)

    def _with_rows(self) -> Plan:
        n = self.size.n_samples
        plan = self._decided("rows", "all at once", f"{n} samples in memory")
        if self.in_blocks:
            plan = self._decided("rows", "in blocks", "as few as fit into the cache")
        if not self.saves_work:
            return plan
        rows = self.size.effort.rows(
            self.kernel, self.size.n_columns, self.size.n_components if self.approximation else 0
        )
        choice = "on all rows" if rows >= n else f"on {rows} rows and single effects over all"
        return plan._decided(
            "first stage",
            f"{choice}, in single precision",
            f"{self.size.effort.work:.0e} products a step",
        )

    def _with_pairs(self) -> Plan:
        """Whether pairs of features that interact are looked for, and on how many rows."""
        looks, reason = False, "a single solve"
        if not self.wishes.interactions:
            reason = "as asked for"
        elif not self.kernel.sees_interactions:
            reason = f"the {self.kernel.name} kernel sees none"
        elif self.wishes.formulation.is_path:
            looks = True
        size = self.size
        if not looks:
            return self._decided("interactions", "not looked for", reason)
        rows = pair_rows(size.n_samples, size.n_columns, size.n_responses)
        n_waves = pair_waves(rows, size.n_columns, size.n_responses)
        by = f"products of {n_waves} waves of each" if n_waves > 1 else "their products"
        also = " and single features by the spread," if self.task == "regression" else ""
        return self._decided(
            "interactions",
            f"all pairs, by {by},{also} on {rows} rows",
            "all of them" if rows == size.n_samples else "as many as time and memory allow",
            looks_for_pairs=True,
        )

    def with_kernel(self, columns: PreparedColumns) -> Plan:
        """The share of single effects in a mixed kernel, by the numbers of samples and features.

        D random components tell no more samples apart than D, so that D stands for these.
        """
        kernel, how = self.kernel, "as asked for"
        if _is_auto(self.wishes.kernel):
            how = "a path" if self.wishes.formulation.is_path else "the paper's, for a single solve"
        if isinstance(kernel, Mixed):
            n = columns.n_distinct
            if self.approximation:
                n = self.size.n_components
            share: Any = kernel.mixing
            if _is_auto(share):
                d = columns.units.n_features
                share = mixing_share(n, d)
                how = f"{d:g} features and {n} {'components' if self.approximation else 'samples'}"
            kernel = with_share(kernel, float(share))
        return self._decided("kernel", _in_words(kernel), how, kernel=kernel)

    def with_look(self, columns: PreparedColumns, look: Look) -> tuple[Plan, Look]:
        """What follows from a look at the data: the kernel, and ε where it is not given."""
        plan, look = self._of_rare_values(columns, look)
        return plan.with_ridge(columns, look), look

    def _of_rare_values(self, columns: PreparedColumns, look: Look) -> tuple[Plan, Look]:
        """Single effects alone, where two features are seldom out of the ordinary together.

        Too few samples tell an interaction, as of two words that hardly meet, and all others are
        next to alike: a kernel of all features sees little but how ordinary a sample is. Only where
        no pair stands out, and single effects predict something beyond chance.
        """
        auto = self.looks_for_pairs and _is_auto(self.wishes.kernel)
        if not (auto and self.wishes.formulation.is_plain):
            return self, look
        n = columns.n_effective
        carriers = look.pair_carriers(n)
        enough = min(SEARCH.fewest_carriers, SEARCH.carrier_share * n)
        if carriers >= enough or look.hold.pairs.share.size:
            return self, look
        kernel = with_share(self.kernel, 1.0)
        alone = look.by(kernel)
        if is_by_chance(alone.unpredicted, min(n, NOISE_ROWS)):
            return self, look
        why = "two features seldom meet, no pair stands out, and single effects do"
        plan = self._decided("kernel", _in_words(kernel), why, kernel=kernel)
        if plan.approximation is None:
            return plan, alone
        what = "components of each column"
        return plan._decided("approximation", what, "those of the additive kernel"), alone

    def with_ridge(self, columns: PreparedColumns, look: Look) -> Plan:
        """ε, where it is not given."""
        if self.epsilons:
            values = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons)
            return self._decided("ridge", values, "as asked for")
        epsilon, reason = self._ridge(columns, look)
        least = ridge_for_units(columns.unit_sizes, columns.n_distinct)
        if least > epsilon:
            epsilon, reason = least, "categories, groups or gaps of different sizes"
        return self._decided("ridge", f"{epsilon:.3g}", reason, epsilons=(epsilon,))

    def _ridge(self, columns: PreparedColumns, look: Look) -> tuple[float, str]:
        formulation = self.wishes.formulation
        if not formulation.is_path or formulation.inverse != "exact":
            return paper_ridge(self.task, formulation)
        n_seen = min(columns.n_effective, NOISE_ROWS)
        share = look.unpredicted
        return ridge_for_noise(columns.n_effective, share, look.has_single_effects, n_seen)

    def with_choice(self, epsilon: float, m: int, n_features: int, reason: str) -> Plan:
        """The ridge of several, and the number of features kept."""
        plan = self
        if len(self.epsilons) > 1:
            others = ", ".join(f"{each:g}" for each in self.epsilons)
            why = f"the best of {others} on samples held out"
            plan = self._decided("ridge", f"{epsilon:g}", why)
        return plan._decided("features", f"{m} of {n_features}", reason)

    @property
    def matrix_rows(self) -> int:
        """Rows of the largest kernel matrix on this processor."""
        on_host = self.approximation is None and self.wishes.device is None
        return self.size.n_samples if on_host else 0

    @property
    def saves_work(self) -> bool:
        """Whether stages may take fewer rows, and single precision: not where "exact" is asked for.

        A ridge far from any of ours needs double precision, for its digits or for its size.
        """
        wishes = self.wishes
        auto = wishes.approximation in ("auto", "fourier") and wishes.formulation.is_plain
        return auto and all(LEAST_RIDGE <= each <= 1.0 / LEAST_RIDGE for each in self.epsilons)

    def problem(self, columns: PreparedColumns, Y: np.ndarray) -> Problem:
        """The problem for prepared columns and centred responses, its ridge yet to be set."""
        formulation = self.wishes.formulation
        # Ten steps of conjugate gradients do not resolve the narrower kernel.
        narrow = formulation.is_path and self.approximation and formulation.inverse == "exact"
        return make_problem(
            columns,
            Y,
            self.kernel,
            approximation=self.approximation,
            n_components=self.size.n_components,
            device=self.wishes.device,
            seed=self.wishes.seed,
            n_threads=self.n_threads,
            summed=kept_features if narrow else all_features,
            effort=self.size.effort if self.saves_work else None,
            single=self.saves_work,
        )

    def formulated(
        self,
        problem: Problem,
        columns: PreparedColumns,
        response: EncodedResponse,
        epsilon: float,
    ) -> Problem:
        """A problem with the kernel and the formulation of the plan, and a ridge."""
        return self.wishes.formulation.applied_to(
            replace(problem, kernel=self.kernel),
            epsilon,
            unit=response.squared_unit,
            power=float((columns.p @ response.Y**2).sum()),
            n=columns.total_weight,
        )

    def budgets(self, n_features: int, m: int) -> list[int]:
        """Budgets of the stages: of a single solve, m alone."""
        return path_budgets(n_features) if self.wishes.formulation.is_path else [m]

    def hold(self, problem: Problem) -> Hold:
        """Features of a problem that a path holds on to."""
        return hold_for(problem, self.task) if self.looks_for_pairs else Hold.nothing()

    def check_lambda2(self, n_samples: float, epsilon: float) -> None:
        """Warn when λ₂ is too small for the inverse-free objective to fall with dependence."""
        formulation = self.wishes.formulation
        lambda2 = formulation.lambda2 if formulation.inverse == "free" else None
        floor = 1.0 / (2.0 * n_samples * epsilon)
        if lambda2 is not None and lambda2 < floor:
            warnings.warn(
                f"lambda2={lambda2:g} is below 1/(2nε) = {floor:.4g}: the inverse-free objective "
                "need not fall when features explain more of y. Pass a larger lambda2, or None.",
                UserWarning,
                stacklevel=5,
            )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        size = self.size
        head = f"{self.task} of {size.n_samples} samples by {size.n_columns} columns"
        return "\n".join([head, *map(str, self.decisions)])


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _in_words(kernel: Kernel) -> str:
    if isinstance(kernel, Mixed):
        return f"mixed, {kernel.mixing:.2g} of it single effects"
    changed = repr(kernel).partition("(")[2].rstrip(")")
    return f"{kernel.name}, {changed}" if changed else kernel.name
