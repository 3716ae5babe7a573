"""A kernel and a constraint that are not ours: one class and one entry each."""

from collections.abc import Sequence
from dataclasses import dataclass

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from single import trace_objective
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from covmin import CCMSelector, Formulation, LongRun, conditional_covariance_trace
from covmin.core.constraints import CONSTRAINTS
from covmin.core.kernels import KERNELS
from covmin.core.kernels.base import SampleKernel, Scale, outer
from covmin.core.kernels.distances import squared_distances
from covmin.plan.rules import choose_approximation

# ------------------------------------------------------------------- what a newcomer would write


@dataclass
class Matern(SampleKernel):
    """``k(x, x̃) = ((1 + r) exp(−r))^a`` with ``r = √3 ‖w ⊙ (x − x̃)‖/σ``."""

    shape: float = 2.0
    bandwidth: float | str = "median"
    name = "matern"
    zero_is_absorbing = True
    order = 2

    def check(self):
        super().check()
        if not self.shape > 0.0:
            raise ValueError(f"shape must be a number > 0; got {self.shape!r}.")

    def _distances(self, A, B, w):
        scale = np.sqrt(3.0) * w / self.bandwidth
        return np.sqrt(np.maximum(squared_distances(A * scale, B * scale), 0.0))

    def cross(self, A, B, w):
        r = self._distances(A, B, w)
        return ((1.0 + r) * np.exp(-r)) ** self.shape

    def matrix_and_pullback(self, prepared, w):
        r = self._distances(prepared, prepared, w)
        K = ((1.0 + r) * np.exp(-r)) ** self.shape

        def pullback(P, Q):
            # The derivative of (1 + r) exp(−r) in r² is −exp(−r)/2.
            slope = outer(P, Q) * self.shape * K / (1.0 + r)
            squares = prepared**2
            # Σₐᵦ Sₐᵦ (xₐⱼ − xᵦⱼ)² for a symmetric S.
            spread = 2.0 * (slope.sum(axis=1) @ squares)
            spread = spread - 2.0 * (prepared * (slope @ prepared)).sum(axis=0)
            return -3.0 * (w / self.bandwidth**2) * spread

        return K, pullback


@dataclass(frozen=True)
class QuadraticPrice:
    """``{0 ≤ w ≤ 1}`` with the price ``λ Σ w²``."""

    unit_price: float

    @classmethod
    def candidates(cls, budget: float, prices: Sequence[float]):
        return [cls(price) for price in prices]

    def project(self, v):
        return np.clip(v, 0.0, 1.0)

    def price(self, w):
        return self.unit_price * float(w @ w), 2.0 * self.unit_price * w

    def gap(self, w, gradient):
        return float(gradient @ w + np.maximum(-gradient, 0.0).sum())


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setitem(KERNELS, "matern", Matern)
    return Matern


@pytest.fixture
def constraint(monkeypatch):
    monkeypatch.setitem(CONSTRAINTS, "quadratic", QuadraticPrice)
    return QuadraticPrice


# -------------------------------------------------------------------------------- what they get


@pytest.fixture
def data():
    """The response is a function of 1 and 4 together, and of 4."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 7))
    return X, X[:, 1] * X[:, 4] + X[:, 4] + 0.1 * rng.standard_normal(80)


def test_the_gradient_of_the_kernel(draw, w):
    """As for any kernel: its objective has the slopes that differences have."""
    s = draw()
    objective = trace_objective(s.exact(Matern(bandwidth=1.3)), epsilon=0.1)
    expected = naive.differences(lambda w: objective.at(w).value, w)
    assert_allclose(objective.at(w).gradient(), expected, rtol=1e-5)


def test_a_kernel_by_name(kernel, data):
    selector = CCMSelector(2, kernel="matern").fit(*data)
    assert_array_equal(selector.get_support(indices=True), [1, 4])
    assert selector.kernel_ == "matern"
    assert selector.approximation_ is None
    assert "matern" in str(selector.plan_)


def test_a_kernel_as_an_object(kernel, data):
    by_name = CCMSelector(2, kernel="matern").fit(*data)
    selector = CCMSelector(2, kernel=kernel(shape=2.0))
    assert_array_equal(clone(selector).fit(*data).weights_, by_name.weights_)
    narrow = clone(selector).set_params(kernel__shape=0.5, kernel__bandwidth=3.0).fit(*data)
    assert narrow.bandwidth_ == 3.0
    assert narrow.objective_ != by_name.objective_
    assert selector.kernel == Matern()
    with pytest.raises(ValueError, match="shape must be a number > 0; got -1"):
        CCMSelector(2, kernel=kernel(shape=-1)).fit(*data)


def test_a_kernel_wherever_one_can_be_asked_for(kernel, data, tmp_path):
    """Cross-fitting, substitutes, given columns, groups, a checkpoint, a pipeline."""
    X, y = data
    auto = CCMSelector(kernel="matern", epsilon=[0.01, 0.1])
    assert auto.fit(X, y).support_[[1, 4]].all()
    assert len(auto.substitutes(X, y, n=1)) == auto.n_features_
    given = CCMSelector(1, kernel="matern", given=[4], feature_groups=[0, 1, 0, 3, 4, 5, 6])
    assert_array_equal(given.fit(X, y).get_support(indices=True), [1, 4])
    long_run = LongRun(checkpoint=tmp_path / "fit.jsonl")
    CCMSelector(2, kernel=kernel(), long_run=long_run).fit(X, y)
    value = conditional_covariance_trace(X[:, [1, 4]], y, kernel="matern")
    assert value < conditional_covariance_trace(X[:, [0, 2]], y, kernel=kernel())
    model = make_pipeline(CCMSelector(2, kernel="matern"), KNeighborsRegressor())
    assert cross_val_score(model, X, y, cv=3).mean() > 0.5


def test_what_a_kernel_declares_is_believed(kernel, data):
    """It has no components, so that many samples are no reason to use any."""
    assert choose_approximation("auto", kernel(), (3000, 10))[0] is None
    asked = CCMSelector(2, kernel="matern", approximation="fourier")
    with pytest.raises(ValueError, match=r"matern .*approximation=\"exact\""):
        asked.fit(*data)


def test_a_kernel_that_is_in_no_registry_is_refused(data):
    with pytest.raises(ValueError, match="kernel must be"):
        CCMSelector(2, kernel="matern").fit(*data)


def test_a_scale_reaches_the_kernel():
    assert Matern(shape=3.0).at(Scale(1.7)) == Matern(3.0, 1.7)


def test_a_constraint_by_name(constraint, data):
    selector = CCMSelector(2, formulation=Formulation(constraint="quadratic")).fit(*data)
    assert_array_equal(selector.get_support(indices=True), [1, 4])
    assert selector.converged_
    for other in ("hard", "soft"):
        ours = CCMSelector(2, formulation=Formulation(constraint=other)).fit(*data)
        assert not np.allclose(selector.path_.weights[0], ours.path_.weights[0])


def test_its_price_is_that_of_the_formulation(constraint, data):
    """The higher the price, the smaller the weights."""
    sums = [
        CCMSelector(
            2,
            kernel="laplacian",
            formulation=Formulation("single", constraint="quadratic", lambda1=price),
        )
        .fit(*data)
        .weights_.sum()
        for price in (0.1, 1.0, 10.0)
    ]
    assert sums[0] > sums[1] > sums[2]


def test_a_constraint_that_is_in_no_registry_is_refused(data):
    with pytest.raises(ValueError, match=r"'constraint' parameter .*'soft'.*Got 'quad"):
        CCMSelector(2, formulation=Formulation(constraint="quadratic")).fit(*data)
