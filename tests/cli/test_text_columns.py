"""Columns that are no numbers, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from covmin.cli.errors import ExitCode
from covmin.cli.text_columns import looks_like_decimal_commas


@pytest.fixture
def shop(tmp_path):
    """A table of sales: who buys depends on the city and on the price."""
    rng = np.random.default_rng(0)
    n = 200
    city, price = rng.choice(["Bonn", "Oslo", "Rome"], n), rng.uniform(1, 2000, n)
    bought = (price > 1000) ^ (city == "Rome")
    frame = pd.DataFrame(
        {
            "order": np.arange(n) + 1000_000,
            "e-mail": [f"{i}@example.com" for i in range(n)],
            "city": city,
            "price": [f"${x:,.2f}" for x in price],
            "day": [str(pd.Timestamp("2024-01-01") + pd.Timedelta(days=i)) for i in range(n)],
            "vat": rng.choice(["7%", "19%"], n),
            "bought": np.where(bought, "yes", "no"),
        }
    )
    path = tmp_path / "shop.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_table_as_it_comes(shop, run, tmp_path):
    result = run("select", shop, "--target", "bought", "--report", tmp_path / "r.html", "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert set(answer["selected"]) == {"city", "price"}
    assert answer["notes"][0] == (
        "Excluded as row identifiers: 'order', 'e-mail'. Use --as to override this."
    )
    told = " ".join(answer["notes"])
    assert "Read as numbers: 'price', 'vat'." in told
    assert "Read as categories: 'city'." in told
    assert "Read as dates: 'day' (dates as text, such as '2024-01-01" in told
    assert not answer["warnings"]
    assert answer["code"].count("\n") > 2  # Python reads the table the same way
    assert (tmp_path / "r.html").stat().st_size > 10_000


def test_columns_are_read_as_asked_for(shop, run):
    words = ("--as", "order=number", "--as", "vat=category", "--as", "e-mail,day=drop")
    result = run("select", shop, "-t", "bought", "-m", 2, *words, "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    told = " ".join(answer["notes"])
    assert "'order'" not in told
    assert "Read as numbers: 'price' (" in told
    assert "--as order=number --as vat=category" in answer["code"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--as", "cit=category"], ExitCode.COLUMN, "Did you mean city?"),
        (["--as", "city=categories"], ExitCode.USAGE, "Did you mean category?"),
        (["--as", "city"], ExitCode.USAGE, "Use --as COL=KIND"),
        (["--as", "bought=number"], ExitCode.USAGE, "not among the features"),
        (["--as", "city=number"], ExitCode.DATA, "'city' cannot be read as a number"),
        (
            ["--as", "city=category", "--strict"],
            ExitCode.USAGE,
            "--as cannot be combined with --strict",
        ),
        (["--strict"], ExitCode.DATA, "are not numeric: 'e-mail', 'city'"),
        (["--categorical", "e-mail"], ExitCode.DATA, "it identifies rows"),
    ],
)
def test_what_cannot_be_read_so(shop, run, words, code, said):
    for command in ("select", "compare"):
        result = run(command, shop, "-t", "bought", *words)
        assert result.exit_code == code
        assert said in " ".join(result.stderr.split())


def test_a_comparison_reads_the_same_table(shop, run):
    words = ("--methods", "ccm,anova", "-m", "2", "--cv", 2, "--as", "vat=category")
    result = run("compare", shop, "-t", "bought", *words)
    assert result.exit_code == 0, result.stderr
    assert "row identifiers: 'order', 'e-mail'" in " ".join(result.stdout.split())


def test_numbers_in_the_text_of_a_target(shop, run):
    result = run("select", shop, "-t", "price", "-m", 1, "--json")
    answer = json.loads(result.stdout)
    assert answer["task"] == "regression"
    assert answer["notes"][0].startswith("Target 'price' was read as numbers (numbers as text,")


def test_every_name_can_be_said(run, tmp_path):
    rng = np.random.default_rng(0)
    names = ["a=b", "c, d", "it's", "größe", "😀"]
    frame = pd.DataFrame({name: rng.integers(1, 4, 60) for name in names})
    path = tmp_path / "odd.csv"
    frame.assign(y=frame["a=b"] == 2).to_csv(path, index=False)
    words = [word for name in names for word in ("--as", f"{name}=category")]
    answer = json.loads(run("select", path, "-m", 1, "--json", *words).stdout)
    assert answer["selected"] == ["a=b"]


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
