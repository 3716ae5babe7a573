"""Remarks: a code, the columns concerned, and the line of the user."""

import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from covmin import CCMSelector
from covmin.cli.app import app
from covmin.remarks import CovminWarning, remark_of, silenced, warn

X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 2)), columns=list("ab"))


def test_a_warning_points_at_the_line_outside_covmin():
    frame = X.assign(row=np.arange(60))
    with pytest.warns(CovminWarning) as caught:
        CCMSelector(1).fit(frame, X["a"] + X["b"] ** 2)
    assert {each.filename for each in caught} == {__file__}
    assert [remark_of(each.message).code for each in caught] == ["excluded-columns"]
    assert caught[0].message.remark.columns == ("row",)


def test_by_code_they_are_silenced():
    with warnings.catch_warnings(record=True, action="always") as caught:
        with silenced("a"):
            warn("a", "not said")
            warn("b", "said", ["x"])
        warn("a", "said again")
    remarks = [remark_of(each.message) for each in caught]
    assert [(each.code, each.columns) for each in remarks] == [("b", ("x",)), ("a", ())]
    assert remark_of(UserWarning("of another package")).code == ""


def test_the_command_names_its_own_options(tmp_path):
    path = tmp_path / "table.csv"
    X.assign(row=np.arange(60), y=X["a"] + X["b"] ** 2).to_csv(path, index=False)
    said = CliRunner().invoke(app, ["select", str(path), "-m", "1"], env={"COLUMNS": "200"}).output
    assert "values hardly repeat, as in row identifiers: 'row'. --as COL=" in said
    assert "column_types" not in said


def test_columns_that_only_make_up_the_number_are_pointed_out():
    frame = X.assign(row=np.arange(60), one=1.0)
    said = "3 features were requested, but only 2 vary and can be used"
    with silenced("excluded-columns", "constant-columns"), pytest.warns(CovminWarning, match=said):
        CCMSelector(3).fit(frame, X["a"] + np.random.default_rng(1).standard_normal(60))
