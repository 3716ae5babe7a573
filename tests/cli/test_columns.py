"""Columns by name, index and suggestion."""

from __future__ import annotations

import shlex

import pytest

from covmin.cli.columns import find_columns, in_option, nearest
from covmin.cli.errors import ExitCode

COLUMNS = ["a", "b", "a,b", "it's -x", "e\x1b[1m", "7", "y"]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["a,b"], ["a,b"]),
        (["b,a"], ["b", "a"]),
        (["b, a,", "b"], ["b", "a"]),
        (["7"], ["7"]),
        (["0,-1"], ["a", "y"]),
        (["b,a,b,y"], ["b", "a,b", "y"]),
        (["1:3,-1"], ["b", "a,b", "y"]),
        (["5:"], ["7", "y"]),
        (None, []),
    ],
)
def test_columns_are_separated_by_commas_unless_one_has_that_name(typed, found):
    assert find_columns(typed, COLUMNS, "--drop") == found


@pytest.mark.parametrize("option", ["--drop", "-d", "--given", "--categorical"])
def test_several_columns_in_one_option(option, table, tmp_path, run):
    path = tmp_path / "data.csv"
    table.round().to_csv(path, index=False)
    result = run("select", path, "-t", "group", "-m", 1, option, "x0,x1", "--json")
    assert result.exit_code == 0, result.output
    assert run("select", path, "-t", "group", option, "x0,zz").exit_code == ExitCode.COLUMN


@pytest.mark.parametrize("names", [["a", "b"], ["a,b", "it's -x"], ["e\x1b[1m", "7"]])
@pytest.mark.parametrize("columns", [COLUMNS, [name for name in COLUMNS if name != "a,b"]])
def test_a_suggestion_names_the_columns_it_is_about(names, columns):
    names = [name for name in names if name in columns]
    words = shlex.split(in_option("--drop", names, columns))
    assert words[::2] == ["--drop"] * (len(words) // 2)
    assert find_columns(words[1::2], columns, "--drop") == names
    assert all(word.isprintable() for word in words)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_suggestion_of_thousands_of_columns_can_be_pasted(step):
    """No word is longer than a shell takes, and every column is in it."""
    columns = [f"a long name of column {j}" for j in range(20_000)]
    names = columns[:15_000:step]
    words = shlex.split(in_option("--drop", names, columns))
    assert max(map(len, words)) < 100_000
    assert find_columns(words[1::2], columns, "--drop") == names


def test_a_place_is_no_name_of_another_column():
    columns = ["\x1b", "0", "y"]
    words = shlex.split(in_option("--drop", ["\x1b"], columns))
    assert find_columns(words[1::2], columns, "--drop") == ["\x1b"]


def test_names_that_resemble_another():
    assert nearest("Flavanoid", ["alcohol", "flavanoids", "hue"]) == ["flavanoids"]
    assert nearest("zzz", ["alpha"]) == []
