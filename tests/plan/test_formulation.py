"""What a formulation makes of a problem."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from single import objective_over, problem_on

from covmin.core.constraints import CappedSimplex, SoftBudget
from covmin.core.kernels import Gaussian
from covmin.core.objectives import InverseFreeObjective, TraceObjective
from covmin.core.rows import Sample
from covmin.core.solver import Steps
from covmin.plan.formulation import Formulation, formulation_of

EVERY = np.arange(8)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((60, 1))
    sample = Sample(rng.standard_normal((60, 8)), Y - Y.mean(), np.full(60, 1 / 60))
    return problem_on(sample, kernel=Gaussian(), epsilon=1.0)


def applied(formulation, problem, epsilon=0.05, unit=1.0, power=1.0):
    """For 60 samples of total weight 60, and a response of some power."""
    columns = SimpleNamespace(p=problem.sample.p, total_weight=60)
    response = SimpleNamespace(Y=np.full((60, 1), np.sqrt(power)), squared_unit=unit)
    return formulation.applied_to(problem, epsilon, columns, response)


def objective(problem):
    return objective_over(problem, EVERY, 1.5)


@pytest.mark.parametrize("constraint", ["hard", "soft"])
@pytest.mark.parametrize("inverse", ["exact", "free"])
def test_two_switches_choose_two_classes(problem, constraint, inverse):
    formulation = Formulation(constraint=constraint, inverse=inverse)
    problem = applied(formulation, problem)
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
    problem = applied(formulation, problem, unit=4.0)
    assert problem.constraints(3) == [SoftBudget(3, 7.0 / 4.0)]  # in squared units of y
    assert objective(problem).penalty == 60 * 2.0  # n·λ₂
    assert objective(problem).epsilon == problem.epsilon == 0.05
    assert problem.steps == Steps(5, 0.1, 0.3)


def test_defaults_follow_the_scale_of_the_problem(problem):
    def default(epsilon=0.05, power=1.0):
        formulation = Formulation(constraint="soft", inverse="free")
        formulated = applied(formulation, problem, epsilon, power=power)
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
        with pytest.raises(ValueError, match=r"'path', 'paper' or a covmin\.Formulation; got"):
            formulation_of(wrong)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"strategy": "both"}, "'strategy' .* must be a str among"),
        ({"constraint": "none"}, "'constraint' .* must be a str among"),
        ({"inverse": None}, "'inverse' .* must be a str among"),
        ({"lambda1": -1.0}, r"'lambda1' .* in the range \[0.0, inf\). Got -1.0"),
        ({"lambda1": "1"}, "'lambda1' .* must be None or a float"),
        ({"lambda2": 0.0}, r"'lambda2' .* in the range \(0.0, inf\). Got 0.0"),
        ({"tol": np.nan}, "'tol' .* Got nan"),
        ({"tol": None}, "'tol' .* Got None"),
        ({"max_step": 1.5}, r"'max_step' .* in the range \(0.0, 1.0\]. Got 1.5"),
        ({"max_iter": 0}, r"'max_iter' .* in the range \[1, inf\). Got 0"),
        ({"max_iter": 10.0}, "'max_iter' .* must be an int"),
    ],
)
def test_invalid_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        formulation_of(Formulation(**params))
