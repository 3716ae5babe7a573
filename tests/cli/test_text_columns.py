"""Columns that are no numbers."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from covmin.cli.errors import ExitCode
from covmin.cli.text_columns import contents, looks_like_decimal_commas


def test_the_message_says_what_is_in_columns_of_text(tmp_path, run):
    path = tmp_path / "odd.csv"
    path.write_text(
        'day,amount,size,y\n2024-01-31,"1,200,000",1,a\n2024-02-01,30,n/k,b\n2024-02-02,7,3.5,a\n'
    )
    for command in ("select", "compare"):
        result = run(command, path, "-t", "y")
        assert result.exit_code == ExitCode.DATA
        said = " ".join(result.stderr.split())
        assert "day: dates, such as '2024-01-31'" in said
        assert "amount: numbers with commas between thousands, such as '1,200,000'" in said
        assert "size: numbers, but for 'n/k' (row 2)" in said


@pytest.mark.parametrize(
    ("values", "index", "said"),
    [
        (["1", "30"], [0, 1], "numbers stored as text, such as '1'"),
        (["1", "2", "n/k"], [7, 7, 7], "numbers, but for 'n/k' (row 3)"),
        ([None, "1", "2", "n/k"], [0, 1, 2, 3], "numbers, but for 'n/k' (row 4)"),
        ([None, None], [0, 1], "nothing, every cell is empty"),
        (["a", "b", "1"], [0, 0, 1], "text, such as 'a' (3 values)"),
        (["4,282", "921"], [0, 1], "numbers with commas between thousands, such as '4,282'; write"),
        (["26.628,82", "1.000,5"], [0, 1], "numbers with points between thousands"),
        (["88.2%", "3 %"], [0, 1], "percentages, such as '88.2%'"),
        (
            ["?", "1", "2", "3", "4", "-"],
            range(6),
            "numbers, but for '?' (row 1), '-' (row 6); leave cells",
        ),
        (["31.12.2024 10:30", "1.1.2025 9:00"], [0, 1], "dates, such as '31.12.2024 10:30'"),
    ],
)
def test_contents_of_columns_of_text(values, index, said):
    assert contents(pd.Series(values, index=index, dtype=object)).startswith(said)


def test_thousands_are_not_taken_for_decimals(tmp_path, run):
    path = tmp_path / "us.csv"
    path.write_text("amount;x;y\n4,282;1;a\n921;2;b\n1,017;3;a\n")
    result = run("select", path, "-t", "y")
    assert result.exit_code == ExitCode.DATA
    assert "write them without, or use --decimal ," in " ".join(result.stderr.split())


def test_levels_that_hardly_repeat_are_not_offered_as_categories(tmp_path, run):
    path = tmp_path / "table.csv"
    rows = "\n".join(f"s{i},{'uv'[i % 2]},{i},{'ab'[i % 2]}" for i in range(60))
    path.write_text(f"sample,kind,x,y\n{rows}\n")
    said = " ".join(run("select", path, "-t", "y").stderr.split())
    assert "--categorical kind" in said
    assert "--categorical sample" not in said


def test_points_and_commas_in_one_table_cannot_be_read_by_an_option(table, tmp_path, run):
    path = tmp_path / "both.csv"
    table.assign(price="1,5").to_csv(path, index=False)
    result = run("select", path, "-t", "group")
    assert "price" in result.stderr
    assert "--decimal" not in result.stderr


@pytest.mark.parametrize(
    ("values", "decimal"),
    [
        (["1,5", "-2,25", None], True),
        (["red", "1,5"], False),
        (["4,282", "921"], False),
        (["1500", "12000"], False),
    ],
)
def test_decimal_commas(values, decimal):
    assert looks_like_decimal_commas(pd.Series(values)) == decimal


def suggestions(result):
    """The options that an error offers, in the order of the lines they stand in."""
    lines = result.stderr.splitlines()
    return [shlex.split(line) for line in lines if line.startswith("  --")]


def test_every_suggestion_works_when_pasted(table, tmp_path, run):
    rng = np.random.default_rng(0)
    odd = {f"kind {j}": rng.choice(["u", "v"], 60) for j in range(12)}
    odd |= {"it's": rng.choice(["u", "v"], 60), "e\x1b[1m": rng.choice(["u", "v"], 60)}
    odd |= {"name": [f"row {i}" for i in range(60)], "day": "2024-01-31"}
    path = tmp_path / "text.csv"
    table[["x0", "group"]].assign(**odd).to_csv(path, index=False)
    words = ("select", path, "-t", "group", "-m", 1, "--json")
    left_out, taken = suggestions(run(*words))
    answers = [json.loads(run(*words, *options).stdout) for options in (left_out, taken)]
    assert [answer["n_features"] for answer in answers] == [1, 15]
    assert taken[-2:] == ["--drop", "name,day"]


def test_more_levels_than_a_fit_takes_are_left_out(tmp_path, run):
    path = tmp_path / "many.csv"
    frame = pd.DataFrame({"code": [f"c{i % 300}" for i in range(900)], "x": np.arange(900) % 7})
    frame.assign(y=np.arange(900) % 2).to_csv(path, index=False)
    assert suggestions(run("select", path)) == [["--drop", "code"]]


def test_leaving_out_every_column_is_not_suggested(tmp_path, run):
    path = tmp_path / "text.csv"
    path.write_text("kind,y\n" + "u,1\nv,2\n" * 20)
    assert suggestions(run("select", path)) == [["--categorical", "kind"]]
