"""Shares of the work, seconds and words."""

from __future__ import annotations

import pytest

from covmin.runtime.workload import Workload, duration_in_words, products_per_second

WORK = Workload(folds=50.0, looks=10.0, stages={9: 30.0, 3: 10.0})


def test_shares_follow_the_work():
    assert [WORK.after_folds(k, 5) for k in (0, 1, 5)] == [0.0, 0.1, 0.5]
    # A stage that nobody planned for lies between its neighbours.
    assert [WORK.at_stage(budget) for budget in (9, 5, 3)] == pytest.approx([0.6, 0.9, 0.9])


def test_no_work_is_no_share():
    assert Workload().at_stage(3) == Workload().after_folds(1, 2) == 0.0


def test_seconds_are_work_over_speed(monkeypatch):
    monkeypatch.setattr("covmin.runtime.workload.products_per_second", lambda: 10.0)
    assert WORK.seconds() == pytest.approx(10.0)
    assert WORK.in_words() == "This takes about 10 s on this machine."
    assert WORK.in_words(shortest=11.0) == ""


def test_a_machine_has_a_speed():
    assert 1e7 < products_per_second() < 1e14


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "1 s"), (2.4, "2 s"), (87.0, "87 s"), (100.0, "2 min"), (7000.0, "2 h")],
)
def test_durations_in_words(seconds, words):
    assert duration_in_words(seconds) == words
