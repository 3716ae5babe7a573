"""What features leave unexplained."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.report.view import view_of
from covmin.selection.summary import Explained


def test_a_category_that_says_nothing_explains_nothing_by_itself():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    frame["city"] = pd.Categorical([f"city {k}" for k in rng.integers(0, 40, 200)])
    y = frame["a"] + 0.5 * rng.standard_normal(200)
    selector = CCMSelector(2).fit(frame, y)
    explained = Explained(selector, view_of(selector, frame, y).table)
    assert explained([3]) < 0.03
    assert explained([0]) > 0.65


@pytest.mark.parametrize("cell", [lambda k: [k, 1], lambda k: {"k": k}, lambda k: np.array([k, 1])])
def test_lists_dicts_and_arrays_in_cells(cell):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.standard_normal(60)})
    X["cells"] = [cell(i % 3) for i in range(60)]
    view = view_of(CCMSelector(1).fit(X, X["a"]), X, X["a"])
    assert len(view.column(1).levels) == 3
