"""The budgets of a path, and the sizes that are tried."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from covmin.plan.rules import candidate_sizes, path_budgets


@given(st.integers(1, 20_000))
def test_path_budgets(d):
    budgets = path_budgets(d)
    assert (np.diff(budgets) < 0).all()
    assert budgets[0] <= min(d, 100)
    assert budgets[-1] == 1
    assert len(budgets) < 12


@given(st.integers(1, 20_000))
def test_candidate_sizes(d):
    sizes = candidate_sizes(d)
    assert (np.diff(sizes) > 0).all()
    assert sizes[0] == 1
    assert sizes[-1] == min(d, 100)
    assert sizes[: min(d, 10)] == [*range(1, min(d, 10) + 1)]
