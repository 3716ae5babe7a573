"""The plan of a fit: all decisions in one place, each with its reason in words."""

from dataclasses import dataclass, replace
from typing import Any, Self

from covmin.constants import N_COMPONENTS
from covmin.core.kernels.base import Kernel
from covmin.core.problem import Effort

from .formulation import Formulation


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
    task : str
        How y was read.
    n_samples, n_columns : int
        Number of distinct samples, and of columns that vary.
    formulation : Formulation
        The options of the paper.
    approximation : {"fourier", None}
        None is the exact kernel matrix.
    kernel : kernel
        The kernel, with all parameters set.
    epsilons : tuple of float
        Candidate values of the ridge.
    device : str or None
        Torch device; None for NumPy.
    readings : tuple
        How each column that is not plain numbers was read.
    """

    decisions: tuple[Decision, ...]
    task: str
    n_samples: int
    n_columns: int
    formulation: Formulation
    approximation: str | None
    kernel: Kernel
    epsilons: tuple[float, ...] = ()
    readings: tuple[Any, ...] = ()
    n_components: int = N_COMPONENTS
    device: str | None = None
    seed: int = 0
    n_threads: int = 1  # blocks of rows on the host processed in parallel
    # Limit on the work of an evaluation, in single precision; None: all rows in double precision.
    effort: Effort | None = None
    order: int = 0  # features of the largest interactions that are searched for
    refines: bool = False  # whether tuned regressions have the last word on the first features
    last_budget: int = 1  # at which a path may end

    def deciding(self, *decisions: Decision, **changes: Any) -> Self:
        """Return the plan after further decisions; of several on a topic the last counts."""
        topics = {decision.topic: decision for decision in decisions}
        kept = [topics.pop(each.topic, each) for each in self.decisions]
        return replace(self, decisions=(*kept, *topics.values()), **changes)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        head = f"{self.task}: {self.n_samples} samples, {self.n_columns} columns"
        return "\n".join([head, *map(str, self.decisions)])
