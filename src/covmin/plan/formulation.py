"""The paper's formulations, as an object that users can pass."""

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

from covmin.constants import N_COMPONENTS, PENALTY, SOFT_PENALTIES
from covmin.core.constraints import CONSTRAINTS
from covmin.core.kernels.base import Configurable
from covmin.core.objectives import OBJECTIVES
from covmin.core.problem import Problem
from covmin.core.solver import STEPS, Steps
from covmin.data.response import EncodedResponse
from covmin.data.standardize import PreparedColumns
from covmin.runtime.compat import Interval, StrOptions, check_parameters


@dataclass(repr=False)
class Formulation(Configurable):
    """The options of the paper, passed as ``CCMSelector(formulation=...)``.

    Together with ``CCMSelector(approximation=...)`` they give the paper's eight formulations.

    Parameters
    ----------
    strategy : {"path", "single"}, default="path"
        "path" solves for a decreasing number of features and ranks them by the stage at which they
        are dropped. "single" solves once and ranks features by weight.
    constraint : {"hard", "soft"}, default="hard"
        "hard" imposes the constraint Σw ≤ m. "soft" adds the penalty ``lambda1`` · Σw instead.
    lambda1 : float, default=None
        Penalty λ₁ of ``constraint="soft"``. None starts with 5 % of the criterion without any
        feature, and divides it by 4 until at least m features have positive weight.
    inverse : {"exact", "free"}, default="exact"
        "exact" solves the linear system at each step. "free" treats its solution as a variable
        that is optimised together with w by conjugate gradients.
    lambda2 : float, default=None
        Penalty λ₂ on the residual of the linear system with ``inverse="free"``. None means 3/(nε);
        below 1/(2nε) the objective may increase when features explain more of y.
    max_iter : int, default=200
        Maximum number of steps of a solve.
    tol : float, default=1e-3
        Tolerance: a solve stops when the criterion could decrease, to first order, by at most this
        fraction of its value.
    max_step : float, default=0.2
        Largest change of a weight in one step.
    response_kernel : {"linear", "gaussian"}, default="linear"
        Kernel on a numeric response. "linear" finds features that affect its mean; "gaussian"
        finds features that affect its distribution in any way, such as its spread.

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
    response_kernel: str = "linear"

    def applied_to(
        self, problem: Problem, epsilon: float, columns: PreparedColumns, response: EncodedResponse
    ) -> Problem:
        """Return the problem of some columns and a response with this formulation and ridge ε.

        λ₁ is a fraction of the criterion without any feature, or in squared units of y.
        """
        objective: Any = OBJECTIVES[self.inverse]
        if self.inverse == "free":
            n = columns.total_weight
            penalty = PENALTY / epsilon if self.lambda2 is None else n * self.lambda2
            objective = partial(objective, penalty=penalty)
        power = float((columns.p @ response.Y**2).sum())  # ε times the criterion of no feature
        prices = [share * power / epsilon for share in SOFT_PENALTIES]
        if self.lambda1 is not None:
            prices = [self.lambda1 / response.squared_unit]
        return replace(
            problem,
            epsilon=epsilon,
            objective=objective,
            constraints=partial(CONSTRAINTS[self.constraint].candidates, prices=prices),
            steps=Steps(self.max_iter, self.tol, self.max_step),
        )


@dataclass(repr=False)
class Fourier(Configurable):
    """Random Fourier features, passed as ``CCMSelector(approximation=Fourier(...))``.

    Parameters
    ----------
    n_components : int, default=512
        Number of random Fourier features; more approximate the kernel better.

    Examples
    --------
    >>> from covmin import CCMSelector, Fourier
    >>> CCMSelector(3, approximation=Fourier(n_components=100)).get_params()["approximation"]
    Fourier(n_components=100)
    """

    n_components: int = N_COMPONENTS


def approximation_of(given: Any) -> tuple[str, int]:
    """Return the name of an approximation, and its number of random Fourier features.

    >>> approximation_of("auto"), approximation_of(Fourier(n_components=100))
    (('auto', 512), ('fourier', 100))
    """
    if not isinstance(given, Fourier):
        return given, N_COMPONENTS
    if not isinstance(given.n_components, Integral) or given.n_components < 1:
        raise ValueError(f"n_components must be an integer ≥ 1; got {given.n_components!r}.")
    return "fourier", given.n_components


# Named formulations: the path, and the paper's single solve.
FORMULATIONS = {"path": Formulation(), "paper": Formulation(strategy="single")}


def formulation_of(given: Any) -> Formulation:
    """Return the formulation with a given name, or a valid formulation object unchanged."""
    formulation = FORMULATIONS.get(given, given) if isinstance(given, str) else given
    if not isinstance(formulation, Formulation):
        names = ", ".join(map(repr, FORMULATIONS))
        raise ValueError(f"formulation must be {names} or a covmin.Formulation; got {given!r}.")
    allowed = {
        "strategy": [StrOptions({"path", "single"})],
        "constraint": [StrOptions(set(CONSTRAINTS))],  # others can be registered
        "lambda1": [None, Interval(Real, 0, None, closed="left")],
        "inverse": [StrOptions(set(OBJECTIVES))],
        "lambda2": [None, Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_step": [Interval(Real, 0, 1, closed="right")],
        "response_kernel": [StrOptions({"linear", "gaussian"})],
    }
    check_parameters(allowed, vars(formulation), caller_name="Formulation")
    if formulation.lambda1 is not None and formulation.constraint == "hard":
        raise ValueError("lambda1 requires a soft constraint; pass constraint='soft'.")
    if formulation.lambda2 is not None and formulation.inverse == "exact":
        raise ValueError("lambda2 requires the inverse-free form; pass inverse='free'.")
    return formulation
