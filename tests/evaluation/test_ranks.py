"""Median ranks: same draws for all, nothing from positions, work reused."""

import pytest
from sklearn.exceptions import FitFailedWarning

from covmin.datasets import make_xor
from covmin.evaluation import median_rank

from .spies import SEEN, Broken, Spy, Widest


def test_known_order():
    def generator(n, random_state):
        data = make_xor(n, random_state=random_state)
        data.data[:, data.informative] *= 100
        return data

    result = median_rank(generator, {"widest": Widest()}, n_samples=[10, 20], n_repeats=12)
    assert repr(result) == (
        "<MedianRankResult: 24 median ranks of widest; see .summary(), .frame and .plot()>"
    )
    assert (result.frame["median_rank"] == 2).all()
    assert len(result.frame) == 24
    assert result.summary()["n_draws"].tolist() == [12, 12]


def test_position_tells_nothing():
    """A selector that ties everything and goes by position is at chance, not optimal."""
    result = median_rank(make_xor, {"spy": Spy()}, n_samples=[10], n_repeats=200)
    assert result.frame["median_rank"].mean() == pytest.approx(5.5, abs=0.6)


def test_selectors_see_the_same_draws():
    median_rank(make_xor, {"a": Spy(), "b": Spy()}, n_samples=[12], n_repeats=3)
    assert SEEN[:3] == SEEN[3:]
    assert SEEN[0] != SEEN[1]


def test_failures_are_missing():
    with pytest.warns(FitFailedWarning, match="3 of 6"):
        result = median_rank(make_xor, {"b": Broken()}, n_samples=[10, 20], n_repeats=3)
    assert result.summary()["n_failed"].tolist() == [3, 0]
    assert result.summary()["mean_rank"].isna().tolist() == [True, False]


def test_more_repeats_reuse_what_is_there(tmp_path):
    arguments = {"n_samples": [12], "log": tmp_path / "log.jsonl"}
    median_rank(make_xor, {"spy": Spy()}, n_repeats=10, **arguments)
    median_rank(make_xor, {"spy": Spy()}, n_repeats=20, **arguments)
    assert len(SEEN) == 20
