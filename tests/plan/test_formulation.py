"""What a formulation makes of a problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from covmin import CCMSelector
from covmin.core.constraints import CappedSimplex, SoftBudget
from covmin.core.kernels import Gaussian
from covmin.core.objectives import InverseFreeObjective, TraceObjective
from covmin.core.problem import Problem
from covmin.core.rows import Sample
from covmin.core.solver import Steps
from covmin.plan.formulation import Formulation, formulation_of

EVERY = np.arange(8)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((60, 1))
    sample = Sample(rng.standard_normal((60, 8)), Y - Y.mean(), np.full(60, 1 / 60))
    return Problem.of(sample, kernel=Gaussian(), epsilon=1.0)


def objective(problem):
    return problem.objective_over(EVERY, problem.gram(EVERY, 1.5))


@pytest.mark.parametrize("constraint", ["hard", "soft"])
@pytest.mark.parametrize("inverse", ["exact", "free"])
def test_two_switches_choose_two_classes(problem, constraint, inverse):
    formulation = Formulation(constraint=constraint, inverse=inverse)
    problem = formulation.applied_to(problem, 0.05, unit=1.0, power=1.0, n=60)
    kind = {"exact": TraceObjective, "free": InverseFreeObjective}[inverse]
    assert type(objective(problem)) is kind
    kind = {"hard": CappedSimplex, "soft": SoftBudget}[constraint]
    assert {type(each) for each in problem.constraints(3)} == {kind}
    assert {each.budget for each in problem.constraints(3)} == {3}


def test_its_numbers_arrive(problem):
    formulation = Formulation(
        constraint="soft",
        lambda1=7.0,
        inverse="free",
        lambda2=2.0,
        max_iter=5,
        tol=0.1,
        max_step=0.3,
    )
    problem = formulation.applied_to(problem, 0.05, unit=4.0, power=1.0, n=60)
    assert problem.constraints(3) == [SoftBudget(3, 7.0 / 4.0)]  # in squared units of y
    assert objective(problem).penalty == 60 * 2.0  # n·λ₂
    assert objective(problem).epsilon == problem.epsilon == 0.05
    assert problem.steps == Steps(5, 0.1, 0.3)


def test_defaults_follow_the_scale_of_the_problem(problem):
    def default(epsilon=0.05, power=1.0):
        formulation = Formulation(constraint="soft", inverse="free")
        formulated = formulation.applied_to(problem, epsilon, unit=1.0, power=power, n=60)
        prices = [constraint.unit_price for constraint in formulated.constraints(3)]
        return prices, objective(formulated).penalty

    prices, penalty = default()
    # λ₁ is a share of the criterion of no feature, ⟨Y, Y⟩/ε; λ₂ is above 1/(2nε).
    assert 0.0 < prices[-1] < prices[0] < 1.0 / 0.05
    assert (np.diff(prices) < 0).all()
    assert_allclose(default(power=9.0)[0], 9 * np.array(prices))
    assert_allclose(default(epsilon=0.1)[0], np.array(prices) / 2)
    assert penalty >= 0.5 / 0.05
    assert default(epsilon=0.1)[1] == pytest.approx(penalty / 2)


def test_names_and_objects():
    assert formulation_of("path") == Formulation()
    assert formulation_of("paper") == Formulation(strategy="single")
    given = Formulation(tol=0.5)
    assert formulation_of(given) is given
    for wrong in ("single", 3, None):
        with pytest.raises(ValueError, match=r"'path' or 'paper', or a covmin\.Formulation; got"):
            formulation_of(wrong)


def test_parameters_of_a_selector_reach_into_it():
    selector = CCMSelector(3, formulation=Formulation(constraint="soft"))
    copy = clone(selector)
    copy.set_params(formulation__lambda1=0.5)
    assert copy.formulation == Formulation(constraint="soft", lambda1=0.5)
    assert selector.formulation == Formulation(constraint="soft")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"strategy": "both"}, "strategy must be one of 'path', 'single'; got 'both'"),
        ({"constraint": "none"}, "constraint must be one of 'hard', 'soft'.*; got 'none'"),
        ({"inverse": None}, "inverse must be one of 'exact', 'free'; got None"),
        ({"lambda1": -1.0}, "lambda1 must be a number ≥ 0; got -1.0"),
        ({"lambda1": "1"}, "lambda1 must be a number ≥ 0; got '1'"),
        ({"lambda2": 0.0}, "lambda2 must be a number > 0; got 0.0"),
        ({"tol": np.nan}, "tol must be a number ≥ 0; got nan"),
        ({"tol": None}, "tol must be a number ≥ 0; got None"),
        ({"max_step": 1.5}, r"max_step must be a number in \(0, 1\]; got 1.5"),
        ({"max_iter": 0}, "max_iter must be an integer ≥ 1; got 0"),
        ({"max_iter": 10.0}, "max_iter must be an integer ≥ 1; got 10.0"),
    ],
)
def test_check_refuses(params, message):
    with pytest.raises(ValueError, match=message):
        Formulation(**params).check()
