"""Tables out of spreadsheets."""

from __future__ import annotations

import json
import sys

import pandas as pd
import pytest

from covmin.cli.errors import ExitCode
from covmin.cli.tables import read_table

pytest.importorskip("openpyxl")


@pytest.fixture
def book(table, tmp_path):
    """Two sheets, of which the second has a title and an empty column before the table."""
    pytest.importorskip("python_calamine")
    path = tmp_path / "lab.xlsx"
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        pd.DataFrame({"note": ["nothing"], "by": ["me"]}).to_excel(
            writer, sheet_name="Notes", index=False
        )
        table.to_excel(writer, sheet_name="Data", index=False, startrow=3, startcol=1)
        writer.sheets["Data"]["B1"] = "Measured in 2020"
    return path


@pytest.mark.parametrize("sheet", ["Data", "1", "-1"])
def test_a_sheet_by_name_or_number(sheet, book, run):
    result = run("select", book, "-t", "group", "-m", 3, "--sheet", sheet, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert sorted(answer["selected"]) == ["x0", "x1", "x2"]
    assert answer["n_features"] == 10
    assert answer["notes"] == ["Skipped above the column names: “Measured in 2020”."]


def test_the_first_of_several_sheets_is_named(book):
    frame = read_table(str(book))
    assert list(frame) == ["note", "by"]
    assert frame.attrs["notes"] == ["Only the first of 2 sheets was read: 'Notes' (--table)."]


def test_a_sheet_that_is_not_there(book, run):
    result = run("select", book, "--sheet", "data")
    assert result.exit_code == ExitCode.INPUT
    assert "Did you mean Data?" in result.stderr


def test_without_a_reader_it_says_what_to_install(book, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    result = run("select", book)
    assert result.exit_code == ExitCode.INPUT
    assert "pip install python-calamine" in result.stderr


def test_dates_and_gaps_come_as_such(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "dates.xlsx"
    dates = pd.to_datetime(["2020-01-01", "2020-02-01", "2020-03-01"])
    pd.DataFrame({"when": dates, "x": [1.5, None, 2.5]}).to_excel(path, index=False)
    frame = read_table(str(path))
    assert frame["when"].dtype.kind == "M"
    assert frame["x"].isna().sum() == 1
