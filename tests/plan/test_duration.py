"""Counts of what a fit will compute: what grows with what, and where they are told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from covmin import CCMSelector, Formulation, LongRun
from covmin.data.responses import EncodedResponse
from covmin.plan import Plan, Request
from covmin.plan.duration import verdict_work, workload


def plan_of(n: int, d: int, **request: object) -> Plan:
    response = EncodedResponse(np.zeros((n, 1)), 1.0, "regression", None, None)
    request = {"formulation": Formulation(), "epsilon": 0.01, **request}
    return Plan.of_shape(Request(**request), (n, d), 8, response)


def total(n: int, d: int, wanted: int | None = 10, n_jobs: int | None = 1, **request) -> float:
    return workload(plan_of(n, d, **request), d, wanted, n_jobs).total


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"n": 200, "d": 50}, {"n": 1000, "d": 50}),
        ({"n": 3000, "d": 50}, {"n": 30_000, "d": 50}),
        ({"n": 500, "d": 50}, {"n": 500, "d": 5000}),
        ({"n": 500, "d": 50}, {"n": 500, "d": 50, "wanted": None}),
        ({"n": 500, "d": 500, "interactions": False}, {"n": 500, "d": 500}),
        ({"n": 1000, "d": 50}, {"n": 1000, "d": 50, "approximation": "exact"}),
        ({"n": 500, "d": 50, "wanted": None, "n_jobs": 3}, {"n": 500, "d": 50, "wanted": None}),
        (
            {"n": 500, "d": 50, "epsilon": (0.01, 0.1)},
            {"n": 500, "d": 50, "epsilon": (0.01, 0.1, 1.0)},
        ),
    ],
    ids=["rows", "many rows", "columns", "auto", "pairs", "double", "jobs", "ridges"],
)
def test_more_to_do_counts_for_more(less, more):
    assert 0.0 < total(**less) < total(**more)


@pytest.mark.parametrize("shape", [(1000, 20), (200, 100)], ids=["rows", "features"])
def test_more_to_test_counts_for_more(shape):
    few = verdict_work(plan_of(200, 20), 1)
    assert 0.0 < few < verdict_work(plan_of(*shape), 1)
    assert verdict_work(plan_of(200, 20), 2) < few


def test_stages_are_those_of_the_path_and_the_one_asked_for():
    counted = workload(plan_of(500, 50), 50, 10, None)
    assert set(counted.stages) == {*plan_of(500, 50).budgets(50, 10), 10}
    assert counted.folds == 0.0


def test_a_fixed_number_of_several_ridges_is_cross_fitted():
    assert workload(plan_of(500, 50, epsilon=(0.01, 0.1)), 50, 10, None).folds > 0.0


def test_the_share_that_is_done_grows_to_the_end():
    seen: list[float] = []

    class Listener:
        def plan(self, plan, workload):
            self.workload = workload

        def fold(self, done, n_folds):
            seen.append(self.workload.after_folds(done, n_folds))

        def __call__(self, step):
            seen.append(self.workload.at_stage(step.budget))

    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 20))
    CCMSelector(long_run=LongRun(callback=Listener())).fit(X, X[:, 0] * X[:, 1])
    assert seen == sorted(seen)
    assert 0.0 < seen[0] < seen[-1] < 1.0


class TestWhatIsSaid:
    @pytest.fixture
    def data(self):
        X = np.random.default_rng(0).standard_normal((60, 6))
        return X, X[:, 0] + X[:, 1]

    def test_of_a_fit_that_lasts(self, data, monkeypatch, capsys):
        monkeypatch.setattr("covmin.runtime.workload.products_per_second", lambda: 1e6)
        slow = CCMSelector(2, verbose=1).fit(*data)
        assert "This takes about" in capsys.readouterr().err
        assert_array_equal(slow.ranking_, CCMSelector(2).fit(*data).ranking_)

    def test_of_a_short_one_nothing(self, data, monkeypatch, capsys):
        monkeypatch.setattr("covmin.runtime.workload.products_per_second", lambda: 1e15)
        CCMSelector(2, verbose=1).fit(*data)
        assert "This takes" not in capsys.readouterr().err

    def test_without_verbose_nothing_is_measured(self, data, monkeypatch):
        monkeypatch.setattr("covmin.runtime.workload.products_per_second", lambda: 1 / 0)
        CCMSelector(2).fit(*data)

    def test_on_a_device_nothing(self):
        plan = plan_of(500, 50)
        plan = replace(plan, size=replace(plan.size, on_device=True))
        assert workload(plan, 50, 10, None).in_words(shortest=0.0) == ""
