"""Many rows or many columns: random components, and stages on as many rows as they can afford."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin import CCMSelector, Formulation, Fourier
from covmin.constants import MANY_ROWS
from covmin.core.path import run_path
from covmin.core.problem import EFFORT
from covmin.data import TableOptions, read
from covmin.data.blocks.array import ArrayBlocks
from covmin.data.standardize import prepare_columns
from covmin.datasets import make_shell, make_xor
from covmin.kernels import Gaussian, Mixed
from covmin.plan import Plan, look
from covmin.selection import assemble, fit
from covmin.selection.assemble import problem_of

# More rows than the exact kernel takes.
N, D = 2200, 8


def interaction_and_effect(n, d=D, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.standard_normal(n)


def plan_of(kernel, shape):
    """The plan of a path by random components."""
    return Plan((), "regression", *shape, Formulation(), "fourier", kernel)


def centred(y):
    return (y - y.mean())[:, None]


class TestApproximation:
    def test_many_rows_are_fitted_by_components(self):
        fitted = CCMSelector(3, approximation=Fourier(128)).fit(*interaction_and_effect(N))
        assert_array_equal(fitted.get_support(indices=True), [0, 1, 2])
        assert fitted.approximation_ == "fourier"

    def test_few_rows_are_fitted_exactly(self):
        fitted = CCMSelector(3).fit(*interaction_and_effect(80))
        assert fitted.approximation_ is None

    @pytest.mark.slow
    def test_single_effects_are_not_lost_in_the_noise_of_components(self):
        X, y = make_shell(2100, n_noise=150, random_state=0, return_X_y=True)
        selector = CCMSelector(4, approximation=Fourier(128)).fit(X, y)
        assert selector.approximation_ == "fourier"
        assert selector.kernel_ == "mixed"
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2, 3])

    @pytest.mark.slow
    def test_an_interaction_among_many_features_is_found_by_components(self):
        """No feature has an effect by itself; a bandwidth for all of them sees nothing."""
        X, y = make_xor(2500, n_noise=150, random_state=0, return_X_y=True)
        selector = CCMSelector(3, approximation=Fourier(256)).fit(X, y)
        assert selector.approximation_ == "fourier"
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2])

    def test_a_column_of_two_values_is_seen_by_the_sum_alone(self):
        """Its values are a full turn of a single wave apart."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((N, 300))
        X[:, 0] = np.arange(N) < 57
        y = 2 * X[:, 0] + 0.5 * rng.standard_normal(N)
        fitted = CCMSelector(1, kernel="additive", formulation="paper").fit(X, y)
        assert fitted.ranking_[0] == 1

    @pytest.mark.parametrize("kernel", ["linear", "additive"])
    def test_nothing_is_worth_its_weight(self, kernel):
        """No component of the map has a power then."""
        rng = np.random.default_rng(0)
        options = {"formulation": Formulation(constraint="soft")}
        X, y = rng.standard_normal((300, 8)), rng.standard_normal(300)
        fitted = CCMSelector(1, kernel=kernel, approximation="fourier", **options).fit(X, y)
        assert_array_equal(np.sort(fitted.ranking_), np.arange(1, 9))

    def test_repeats_and_weights_have_the_same_share(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 300))
        y = (X[:, 0] > 0).astype(int)
        options = {"kernel": "mixed", "approximation": Fourier(128)}
        once = CCMSelector(3, **options).fit(X, y, np.full(60, 5))
        often = CCMSelector(3, **options).fit(np.repeat(X, 5, axis=0), np.repeat(y, 5))
        assert (
            once.plan_.kernel.mixing == often.plan_.kernel.mixing == pytest.approx(300 / (2 * 428))
        )
        assert_array_equal(once.ranking_, often.ranking_)


class TestFolds:
    def test_they_have_the_kernel_of_the_fit(self):
        """Also one in which a column is constant, so that it has too few for the sum."""
        X = np.random.default_rng(0).standard_normal((60, 5))
        options = {"approximation": Fourier(16), "formulation": "path"}
        table = read(X, X[:, 0], TableOptions())
        settings = fit.settings_of(CCMSelector(2, **options))
        plan = fit.make_plan(table, table.columns(True), settings)
        fold = problem_of(plan, prepare_columns(X[:50, :4]), centred(X[:50, 0]))
        assert fold.kernel == plan.kernel
        assert isinstance(fold.kernel, Mixed)

    def test_of_many_rows_a_sample_chooses_the_number_of_features(self):
        n = MANY_ROWS + 500
        X, y = interaction_and_effect(n, d=4)
        roughly = Formulation(tol=0.05)
        options = {
            "approximation": Fourier(24),
            "epsilon": 0.01,
            "interactions": False,
        }
        fitted = CCMSelector(formulation=roughly, **options).fit(X, y)
        assert_array_equal(fitted.get_support(indices=True), [0, 1, 2])


def test_fewer_rows_on_the_way_lead_to_the_same_features():
    X, y = interaction_and_effect(40_001, d=5)
    columns = prepare_columns(ArrayBlocks(X), Y=centred(y))
    effort = replace(EFFORT, reported_rows=40_001)
    planned = replace(plan_of(Gaussian(), columns.X.shape), n_components=32, effort=effort)
    problem = replace(problem_of(planned, columns, centred(y)), epsilon=0.01)
    rows = [level.rows.shape[0] for level in problem.for_stage(np.arange(5), whole=True)]
    assert rows == [1000, 40_001]
    less, plain = (
        run_path(each, [3], wanted=3).stages for each in (problem, replace(problem, effort=None))
    )
    for one, other in zip(less, plain, strict=True):
        assert_array_equal(one.features, other.features)
        assert one.solution.converged
    assert_allclose(less[0].criterion, plain[0].criterion, rtol=5e-3)


@pytest.fixture(scope="module")
def wide():
    """More columns than an evaluation can afford on all rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2049))
    return X, X[:, 0] + rng.standard_normal(2000)


class TestManyColumns:
    """A sample of the rows decides among them, by the kernel matrix."""

    @pytest.mark.parametrize("in_blocks", [False, True])
    def test_a_stage_sees_rows_that_count(self, wide, in_blocks):
        """Fewer than there are, drawn by the seed, with the kernel of the fit."""
        X, y = wide
        weight = np.full(2000, 1e10)
        weight[:10] = 5e-324  # nothing, as a share of all
        source = ArrayBlocks(X) if in_blocks else X
        columns = prepare_columns(source, sample_weight=weight, Y=centred(y))
        kernel = Mixed(mixing=0.4)
        planned = replace(plan_of(kernel, X.shape), n_components=16, effort=EFFORT)
        problems = (
            problem_of(replace(planned, seed=seed), columns, centred(y)) for seed in (0, 0, 1)
        )
        one, again, other = (each.for_stage(np.arange(X.shape[1]))[-1] for each in problems)
        assert one.kernel == kernel
        assert one.frequencies is None
        assert 1000 < one.rows.shape[0] <= 1990
        assert (one.sample.p > 0.0).all()
        assert_allclose(one.sample.p.sum(), 1.0)
        assert_array_equal(one.sample.X, again.sample.X)
        assert not np.array_equal(one.sample.X, other.sample.X)

    @pytest.mark.slow
    def test_a_fit_finds_single_effects_and_their_substitutes(self, wide):
        X, _ = wide
        rng = np.random.default_rng(1)
        X = X[:600].copy()
        X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(600)
        y = np.sin(2 * X[:, 0]) + X[:, 2] ** 2 + 0.1 * rng.standard_normal(600)
        fitted = CCMSelector(2, kernel="mixed", approximation=Fourier(64)).fit(X, y)
        assert "first stage" in str(fitted.plan_)
        assert_array_equal(fitted.get_support(indices=True), [0, 2])
        found = fitted.substitutes(X, y, n=1).set_index("feature")["substitute"]
        assert found["x0"] == "x1"


def products(rng, n):
    X = rng.standard_normal((n, 16))
    return X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.7 * rng.standard_normal(n)


def rare_counts(rng, n):
    X = rng.poisson(0.3, (n, 16)).astype(float)
    y = np.log1p(X[:, 0]) - np.log1p(X[:, 1]) + 0.5 * X[:, 2] * (X[:, 3] > 0)
    return X, y + 0.7 * rng.standard_normal(n)


@pytest.mark.slow
@pytest.mark.parametrize("make", [products, rare_counts])
def test_one_more_sample_than_the_exact_kernel_takes_loses_nothing(make):
    """No true feature ranks much lower than with one sample less."""
    lowest = [
        CCMSelector(4).fit(*make(np.random.default_rng(0), n)).ranking_[:4].max()
        for n in (2000, 2001)
    ]
    assert lowest[1] <= lowest[0] + 1


@pytest.mark.slow
def test_more_columns_than_all_rows_can_be_afforded_for_lose_hardly_a_weak_effect():
    """Effects that a thousand rows do not show, and four thousand do: one of a hundred is lost."""
    ranks = []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((4000, 2049))
        y = 0.09 * X[:, :8].sum(axis=1) + rng.standard_normal(4000)
        ranks.extend(CCMSelector(8).fit(X, y).ranking_[:8])
    assert np.sum(np.array(ranks) <= 20) >= 15


class CountedSource(ArrayBlocks):
    """A table that counts how often all of it is read."""

    passes = 0

    def reduce(self, *arguments):
        CountedSource.passes += 1
        return super().reduce(*arguments)


def test_a_fit_reads_a_large_table_few_times(monkeypatch):
    """For gaps, to prepare it, and for the rows that are held in memory."""
    monkeypatch.setattr(assemble, "held_rows", lambda *_: 10_000)
    monkeypatch.setattr(look, "pair_search", lambda _: (10_000, 4))
    X, y = interaction_and_effect(30_000)
    CountedSource.passes = 0
    fitted = CCMSelector(3, approximation=Fourier(64)).fit(CountedSource(X), y)
    assert_array_equal(fitted.get_support(indices=True), [0, 1, 2])
    assert 1 <= CountedSource.passes <= 5
