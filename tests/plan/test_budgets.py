"""The budgets of a path, and the sizes that are tried."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from covmin.plan.budgets import candidate_sizes, path_budgets


@st.composite
def sizes(draw):
    d = draw(st.integers(1, 20_000))
    return d, draw(st.none() | st.integers(1, d))


@given(sizes())
def test_path_budgets(size):
    d, m = size
    budgets = path_budgets(d, m)
    assert (np.diff(budgets) < 0).all()
    assert budgets[0] <= d
    assert budgets[-1] == 1
    assert m is None or m in budgets
    assert budgets[0] <= max(100, m or 0)
    assert len(budgets) < 25


@given(st.integers(1, 20_000))
def test_candidate_sizes(d):
    sizes = candidate_sizes(d)
    assert (np.diff(sizes) > 0).all()
    assert sizes[0] == 1
    assert sizes[-1] <= min(d, 100)
    assert d > 100 or sizes[-1] == d
    assert sizes[: min(d, 10)] == [*range(1, min(d, 10) + 1)]
