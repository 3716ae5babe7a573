"""The plan of a fit: all decisions in one place, each with its reason in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from covmin.core.kernels import Kernel

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
    epsilons: tuple[float, ...]
    readings: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        head = f"{self.task}: {self.n_samples} samples, {self.n_columns} columns"
        return "\n".join([head, *map(str, self.decisions)])
