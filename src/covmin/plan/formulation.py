"""Which of the paper's eight formulations is solved, as an object users give."""

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

from covmin.core.constraints import CONSTRAINTS
from covmin.core.kernels import Configurable
from covmin.core.objectives import OBJECTIVES
from covmin.core.problem import Problem
from covmin.core.solver import STEPS, Steps

from .constants import PENALTY, SOFT_PRICES


@dataclass(repr=False)
class Formulation(Configurable):
    """The switches of the paper, given to ``CCMSelector(formulation=...)``.

    With ``CCMSelector(approximation=...)`` they make the paper's eight formulations.

    Parameters
    ----------
    strategy : {"path", "single"}, default="path"
        "path" solves at shrinking budgets, each among the survivors of the last, and ranks
        features by the order in which they leave. "single" is one solve, ranked by weight.
    constraint : {"hard", "soft"}, default="hard"
        Whether Σw ≤ m is a constraint or a price ``lambda1`` on Σw.
    lambda1 : float, default=None
        Price of a unit of weight under ``constraint="soft"``. None takes a twentieth of the
        criterion of no feature, cut to a quarter until at least m features are worth it.
    inverse : {"exact", "free"}, default="exact"
        Whether linear systems are solved exactly, or their solution is a variable that is
        minimised over along with w by conjugate gradients.
    lambda2 : float, default=None
        Penalty on the residual of the system under ``inverse="free"``. None takes 3/(nε).
    max_iter : int, default=200
        Most steps of a solve.
    tol : float, default=1e-3
        A solve stops when the criterion could, to first order, fall by no more than this
        share of itself.
    max_step : float, default=0.2
        Largest change of a weight in one step.

    Examples
    --------
    >>> from covmin import CCMSelector, Formulation
    >>> selector = CCMSelector(3, formulation=Formulation(constraint="soft"))
    >>> selector.set_params(formulation__lambda1=0.1).formulation.lambda1
    0.1
    """

    strategy: str = "path"
    constraint: str = "hard"
    lambda1: float | None = None
    inverse: str = "exact"
    lambda2: float | None = None
    max_iter: int = STEPS.max_iter
    tol: float = STEPS.tol
    max_step: float = STEPS.max_step

    @property
    def is_path(self) -> bool:
        """Whether budgets shrink."""
        return self.strategy == "path"

    @property
    def is_plain(self) -> bool:
        """Whether it is a path of the criterion itself under a hard budget."""
        return (self.strategy, self.constraint, self.inverse) == ("path", "hard", "exact")

    @property
    def has_price(self) -> bool:
        """Whether weights cost something."""
        return CONSTRAINTS[self.constraint].has_price

    def check(self) -> None:
        """Refuse what is no formulation."""
        for name, allowed in (
            ("strategy", ("path", "single")),
            ("constraint", tuple(CONSTRAINTS)),
            ("inverse", tuple(OBJECTIVES)),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, allowed))}; "
                    f"got {getattr(self, name)!r}."
                )
        _check_number("lambda1", self.lambda1, "≥ 0", lambda x: x >= 0, optional=True)
        _check_number("lambda2", self.lambda2, "> 0", lambda x: x > 0, optional=True)
        _check_number("tol", self.tol, "≥ 0", lambda x: x >= 0)
        _check_number("max_step", self.max_step, "in (0, 1]", lambda x: 0 < x <= 1)
        if self.lambda1 is not None and not self.has_price:
            raise ValueError("lambda1 is the price of a soft budget; pass constraint='soft'.")
        if self.lambda2 is not None and self.inverse == "exact":
            raise ValueError("lambda2 is of the inverse-free form; pass inverse='free' as well.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a whole number from 1 on; got {self.max_iter!r}.")

    def applied_to(
        self, problem: Problem, epsilon: float, *, unit: float, power: float, n: float
    ) -> Problem:
        """A problem under this formulation, with ridge ε.

        ``unit`` is the squared unit of y, for λ₁; ``power`` the mean square of the encoded
        responses, which is ε times the criterion of no feature; ``n`` that of λ₂.
        """
        objective: Any = OBJECTIVES[self.inverse]
        if self.inverse == "free":
            penalty = PENALTY / epsilon if self.lambda2 is None else n * self.lambda2
            objective = partial(objective, penalty=penalty)
        prices = [share * power / epsilon for share in SOFT_PRICES]
        if self.lambda1 is not None:
            prices = [self.lambda1 / unit]
        return replace(
            problem,
            epsilon=epsilon,
            objective=objective,
            constraints=partial(CONSTRAINTS[self.constraint].candidates, prices=prices),
            steps=Steps(self.max_iter, self.tol, self.max_step),
        )


def _check_number(name: str, value: Any, words: str, holds: Any, *, optional: bool = False) -> None:
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, Real) or not holds(value):
        raise ValueError(f"{name} must be a number {words}; got {value!r}.")


# Formulations that have a name: the path, and the paper's own single solve.
FORMULATIONS = {"path": Formulation(), "paper": Formulation(strategy="single")}


def formulation_of(given: Any) -> Formulation:
    """A formulation from its name, or as it is."""
    formulation = FORMULATIONS.get(given, given) if isinstance(given, str) else given
    if not isinstance(formulation, Formulation):
        raise ValueError(
            f"formulation must be {' or '.join(map(repr, FORMULATIONS))}, or a "
            f"covmin.Formulation; got {given!r}."
        )
    try:
        formulation.check()
    except ValueError as error:
        raise ValueError(f"formulation={formulation!r}: {error}") from None
    return formulation
