"""Remarks: a code, the columns concerned, and the line of the user."""

import warnings

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.remarks import CovminWarning, code_of, recorded, silenced, warn

X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 2)), columns=list("ab"))


def test_a_warning_points_at_the_line_outside_covmin():
    frame = X.assign(row=np.arange(60))
    with pytest.warns(CovminWarning) as caught:
        CCMSelector(1).fit(frame, X["a"] + X["b"] ** 2)
    assert {each.filename for each in caught} == {__file__}
    assert [code_of(each.message) for each in caught] == ["excluded-columns"]
    assert caught[0].message.remark.columns == ("row",)


def test_by_code_they_are_silenced_and_recorded():
    with warnings.catch_warnings(), recorded() as remarks:
        warnings.simplefilter("ignore")
        with silenced("a"):
            warn("a", "not said")
            warn("b", "said", ["x"])
        warn("a", "said again")
    assert [(each.code, each.columns) for each in remarks] == [("b", ("x",)), ("a", ())]
    assert code_of(UserWarning("of another package")) == ""
