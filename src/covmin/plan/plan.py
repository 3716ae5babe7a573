"""The plan of a fit: all decisions in one place, each with its reason in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from covmin.core.kernels import Kernel, Mixed
from covmin.core.problem import DEVICE_EFFORT, EFFORT, Problem
from covmin.core.screening import SEARCH, Protected
from covmin.data.blocks.sparse import is_made_dense
from covmin.data.columns import Reading
from covmin.data.response import EncodedResponse
from covmin.data.standardize import PreparedColumns
from covmin.remarks import warn
from covmin.runtime.threads import row_threads
from covmin.text import listed

from .approximation import Size, choose_approximation, pair_rows, pair_waves
from .budgets import path_budgets
from .constants import (
    HELD_NUMBERS,
    LEAST_RIDGE,
    N_COMPONENTS,
    NOISE_ROWS,
)
from .first_look import FirstLook
from .formulation import FORMULATIONS, Formulation
from .kernel import kernel_of, mixing_share, with_share
from .problem import make_problem, protected_for
from .ridge import (
    given_ridges,
    is_by_chance,
    paper_ridge,
    ridge_for_noise,
    ridge_for_units,
)


@dataclass(frozen=True)
class Request:
    """The user's requests; "auto" and None leave a decision to the plan.

    The attributes are the parameters of :class:`covmin.CCMSelector` with the same names.
    """

    formulation: Formulation
    kernel: Any = "auto"
    epsilon: Any = "auto"
    interactions: bool = True
    approximation: str = "auto"
    n_components: int = N_COMPONENTS
    device: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class Decision:
    """A decision and its reason.

    Attributes
    ----------
    topic : str
        What was decided, such as "kernel" or "ridge".
    choice : str
        The result, in words.
    reason : str
        Why, in words.
    """

    topic: str
    choice: str
    reason: str

    def __str__(self) -> str:
        return f"{self.topic:<15} {self.choice} ({self.reason})"


@dataclass(frozen=True, repr=False)
class Plan:
    """The decisions of a fit.

    ``print(selector.plan_)`` shows them in words.

    Attributes
    ----------
    decisions : tuple of Decision
        The decisions, in the order in which they are printed.
    readings : tuple
        How each column that is not plain numbers was read.
    task : str
        How y was read.
    approximation : {"fourier", None}
        None is the exact kernel matrix.
    epsilons : tuple of float
        Candidate values of the ridge.
    """

    request: Request
    size: Size
    task: str
    approximation: str | None  # "fourier", or None for the n×n kernel matrix
    kernel: Kernel
    epsilons: tuple[float, ...]  # cross-validation chooses among several; a single one is used
    in_blocks: bool  # whether rows are read in blocks and not copied
    n_threads: int  # blocks of rows on the host processed in parallel
    looks_for_pairs: bool
    decisions: tuple[Decision, ...]
    readings: tuple[Reading, ...] = ()  # of columns that are not plain numbers

    @classmethod
    def of_shape(
        cls, request: Request, shape: tuple[int, int], itemsize: int, response: EncodedResponse
    ) -> Plan:
        """Return the decisions that depend only on the size of the data."""
        formulation = request.formulation
        n, d = shape
        n_components = 2 * -(-request.n_components // 2)  # cosines and sines
        size = Size(
            n,
            d,
            response.Y.shape[1],
            itemsize,
            n_components,
            request.device is not None,
            EFFORT if (request.device or "cpu").startswith("cpu") else DEVICE_EFFORT,
        )
        kernel = kernel_of(request.kernel, formulation)
        chosen, reason = choose_approximation(request.approximation, kernel, size)
        what = f"{n_components} random Fourier features" if chosen else "exact kernel matrix"
        if chosen and (kernel.components_are_exact or not kernel.sees_interactions):
            what = "feature map of each column"
        in_blocks = request.device is None and chosen == "fourier"
        plan = cls(
            request,
            size,
            response.task,
            chosen,
            kernel,
            epsilons=() if _is_auto(request.epsilon) else given_ridges(request.epsilon),
            in_blocks=in_blocks,
            n_threads=row_threads() if chosen == "fourier" else 1,
            looks_for_pairs=False,
            decisions=(Decision("approximation", what, reason),),
        )
        if formulation not in FORMULATIONS.values():
            plan = plan._decided("formulation", repr(formulation), "as requested")
        return plan._with_rows()._with_pairs()

    def _decided(self, topic: str, choice: str, reason: str, **changes: Any) -> Plan:
        """Return the plan with a decision that replaces any earlier one on the same topic."""
        others = tuple(each for each in self.decisions if each.topic != topic)
        return replace(self, decisions=(*others, Decision(topic, choice, reason)), **changes)

    def with_copies(self, n_rows: int) -> Plan:
        """Return the plan for a number of rows, some of which are duplicates."""
        n_copies = n_rows - self.size.n_samples
        if n_copies == 0:
            return self
        reason = "a duplicate adds its weight to the sample it repeats"
        return self._decided("duplicates", f"{n_copies} of {n_rows} samples merged", reason)

    def with_gaps(self, names: list[Any]) -> Plan:
        """Return the plan for a table in which these columns have missing values."""
        if not names:
            return self
        columns = f"{len(names)} column{'s' if len(names) > 1 else ''}"
        reason = (
            "set to the mean, with an indicator of missingness that shares the weight of the column"
        )
        return self._decided("missing values", f"{columns}: {listed(names)}", reason)

    def with_readings(self, readings: Sequence[Reading]) -> Plan:
        """Return the plan with one decision for each column that is not plain numbers."""
        read = (Decision("columns", each.choice, each.words) for each in readings)
        return replace(self, decisions=(*read, *self.decisions), readings=tuple(readings))

    def with_table(self, X: Any) -> Plan:
        """Return the plan for the table as passed: whether a sparse one is made dense."""
        if not issparse(X):
            return self
        n_numbers = X.shape[0] * X.shape[1]
        if is_made_dense(X):
            reason = f"{n_numbers} numbers, at most {HELD_NUMBERS}"
            return self._decided("sparse table", "converted to dense", reason)
        reason = f"{n_numbers} numbers, more than {HELD_NUMBERS}"
        return self._decided("sparse table", "converted a few rows or columns at a time", reason)

    def _with_rows(self) -> Plan:
        n = self.size.n_samples
        plan = self._decided("rows", "all at once", f"{n} samples in memory")
        if self.in_blocks:
            plan = self._decided("rows", "in blocks", "sized to fit in the cache")
        if not self.saves_work:
            return plan
        rows = self.size.effort.rows(
            self.kernel, self.size.n_columns, self.size.n_components if self.approximation else 0
        )
        choice = "all rows" if rows >= n else f"{rows} rows, and single effects on all rows"
        return plan._decided(
            "first stage",
            f"{choice}, single precision",
            f"at most {self.size.effort.work:.0e} multiplications per step",
        )

    def _with_pairs(self) -> Plan:
        """Decide whether to search for interacting pairs of features, and on how many rows."""
        looks, reason = False, "a single solve"
        if not self.request.interactions:
            reason = "as requested"
        elif not self.kernel.sees_interactions:
            reason = f"the {self.kernel.name} kernel cannot represent them"
        elif self.request.formulation.is_path:
            looks = True
        size = self.size
        if not looks:
            return self._decided("interactions", "not searched for", reason)
        rows = pair_rows(size.n_samples, size.n_columns, size.n_responses)
        n_waves = pair_waves(rows, size.n_columns, size.n_responses)
        by = f"products of {n_waves} functions of each column" if n_waves > 1 else "products"
        also = ", and features that affect the spread of y" if self.task == "regression" else ""
        return self._decided(
            "interactions",
            f"all pairs, by {by}{also}, on {rows} rows",
            "all of them" if rows == size.n_samples else "as many as time and memory allow",
            looks_for_pairs=True,
        )

    def with_kernel(self, columns: PreparedColumns) -> Plan:
        """Set the additive share of a mixed kernel, from the numbers of samples and features.

        D random Fourier features cannot distinguish more than D samples, so D replaces the number
        of samples.
        """
        kernel, how = self.kernel, "as requested"
        if _is_auto(self.request.kernel):
            how = "default of a path"
            if not self.request.formulation.is_path:
                how = "the paper's kernel, for a single solve"
        if isinstance(kernel, Mixed):
            n = columns.n_distinct
            if self.approximation:
                n = self.size.n_components
            share: Any = kernel.mixing
            if _is_auto(share):
                d = columns.units.n_features
                share = mixing_share(n, d)
                counted = "Fourier features" if self.approximation else "samples"
                how = f"{d:g} features, {n} {counted}"
            kernel = with_share(kernel, float(share))
        return self._decided("kernel", _in_words(kernel), how, kernel=kernel)

    def with_look(self, columns: PreparedColumns, look: FirstLook) -> tuple[Plan, FirstLook]:
        """Return the plan after a first look at the data, which sets the kernel and ε."""
        plan, look = self._of_rare_values(columns, look)
        return plan.with_ridge(columns, look), look

    def _of_rare_values(self, columns: PreparedColumns, look: FirstLook) -> tuple[Plan, FirstLook]:
        """Use the additive kernel if two features rarely take unusual values together.

        An example is two words that rarely occur in the same document. Then too few samples can
        show an interaction, and all other samples are nearly alike: a joint kernel sees little
        more than how unusual a sample is. The additive kernel is used only if no pair stands out
        and single effects predict better than chance.
        """
        auto = self.looks_for_pairs and _is_auto(self.request.kernel)
        if not (auto and self.request.formulation.is_plain):
            return self, look
        n = columns.n_effective
        carriers = look.pair_carriers(n)
        enough = min(SEARCH.fewest_carriers, SEARCH.carrier_share * n)
        if carriers >= enough or look.protected.interactions.share.size:
            return self, look
        kernel = with_share(self.kernel, 1.0)
        alone = look.by(kernel)
        if is_by_chance(alone.unpredicted, min(n, NOISE_ROWS)):
            return self, look
        why = "features rarely vary together, no pair stands out, and single effects do"
        plan = self._decided("kernel", _in_words(kernel), why, kernel=kernel)
        if plan.approximation is None:
            return plan, alone
        what = "feature map of each column"
        return plan._decided("approximation", what, "of the additive kernel"), alone

    def with_ridge(self, columns: PreparedColumns, look: FirstLook) -> Plan:
        """Set ε if it was not given."""
        if self.epsilons:
            values = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons)
            return self._decided("ridge", values, "as requested")
        epsilon, reason = self._ridge(columns, look)
        least = ridge_for_units(columns.unit_sizes, columns.n_distinct)
        if least > epsilon:
            epsilon, reason = least, "categories, groups or missing values of different sizes"
        return self._decided("ridge", f"{epsilon:.3g}", reason, epsilons=(epsilon,))

    def _ridge(self, columns: PreparedColumns, look: FirstLook) -> tuple[float, str]:
        formulation = self.request.formulation
        if not formulation.is_path or formulation.inverse != "exact":
            return paper_ridge(self.task, formulation)
        n_seen = min(columns.n_effective, NOISE_ROWS)
        share = look.unpredicted
        return ridge_for_noise(columns.n_effective, share, look.has_single_effects, n_seen)

    def with_choice(self, epsilon: float, m: int, n_features: int, reason: str) -> Plan:
        """Return the plan with the chosen ridge and number of features."""
        plan = self
        if len(self.epsilons) > 1:
            others = ", ".join(f"{each:g}" for each in self.epsilons)
            why = f"lowest cross-validated error among {others}"
            plan = self._decided("ridge", f"{epsilon:g}", why)
        return plan._decided("features", f"{m} of {n_features}", reason)

    @property
    def matrix_rows(self) -> int:
        """Number of rows of the largest kernel matrix on this processor."""
        on_host = self.approximation is None and self.request.device is None
        return self.size.n_samples if on_host else 0

    @property
    def saves_work(self) -> bool:
        """Whether stages may use fewer rows and single precision; never with "exact".

        A ridge far outside our range needs double precision.
        """
        request = self.request
        auto = request.approximation in ("auto", "fourier") and request.formulation.is_plain
        return auto and all(LEAST_RIDGE <= each <= 1.0 / LEAST_RIDGE for each in self.epsilons)

    def problem(self, columns: PreparedColumns, Y: np.ndarray) -> Problem:
        """Return the problem for prepared columns and centred responses, without its ridge."""
        formulation = self.request.formulation
        # Ten conjugate gradient steps cannot resolve the narrower kernel.
        narrow = formulation.is_path and self.approximation and formulation.inverse == "exact"
        return make_problem(
            columns,
            Y,
            self.kernel,
            approximation=self.approximation,
            n_components=self.size.n_components,
            device=self.request.device,
            seed=self.request.seed,
            n_threads=self.n_threads,
            for_kept=narrow,
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
        """Return a problem with the kernel and the formulation of the plan, and a ridge."""
        return self.request.formulation.applied_to(
            replace(problem, kernel=self.kernel),
            epsilon,
            unit=response.squared_unit,
            power=float((columns.p @ response.Y**2).sum()),
            n=columns.total_weight,
        )

    def budgets(self, n_features: int, m: int) -> list[int]:
        """Return the budgets of the stages; a single solve has only m."""
        return path_budgets(n_features) if self.request.formulation.is_path else [m]

    def protected(self, problem: Problem) -> Protected:
        """Return the features of a problem that the path protects."""
        return protected_for(problem, self.task) if self.looks_for_pairs else Protected()

    def check_lambda2(self, n_samples: float, epsilon: float) -> None:
        """Warn if λ₂ is too small for the inverse-free objective to decrease with dependence."""
        formulation = self.request.formulation
        lambda2 = formulation.lambda2 if formulation.inverse == "free" else None
        floor = 1.0 / (2.0 * n_samples * epsilon)
        if lambda2 is not None and lambda2 < floor:
            warn(
                "small-lambda2",
                f"lambda2={lambda2:g} is below 1/(2nε) = {floor:.4g}: the inverse-free objective "
                "may increase when features explain more of y. Pass a larger lambda2, or None.",
            )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        size = self.size
        head = f"{self.task}: {size.n_samples} samples, {size.n_columns} columns"
        return "\n".join([head, *map(str, self.decisions)])


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _in_words(kernel: Kernel) -> str:
    if isinstance(kernel, Mixed):
        return f"mixed, {kernel.mixing:.0%} additive"
    changed = repr(kernel).partition("(")[2].rstrip(")")
    return f"{kernel.name}, {changed}" if changed else kernel.name
