"""Columns by name, index and suggestion; from a table to samples and a response."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from covmin.cli.columns import find_columns
from covmin.cli.errors import ExitCode, did_you_mean

COLUMNS = ["a", "b", "a,b", "it's -x", " blank ", "7", "y"]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["a,b"], ["a,b"]),
        (["b,a"], ["b", "a"]),
        (["b, a,", "b"], ["b", "a"]),
        (["7"], ["7"]),
        (["0,-1"], ["a", "y"]),
        (["1:3,-1"], ["b", "a,b", "y"]),
        (["5:"], ["7", "y"]),
        (["blank,a"], [" blank ", "a"]),
        (None, []),
    ],
)
def test_columns_are_separated_by_commas_unless_one_has_that_name(typed, found):
    assert find_columns(typed, COLUMNS, "--drop") == found


@pytest.mark.parametrize("option", ["--drop", "-d", "--given"])
def test_several_columns_in_one_option(option, csv, run):
    result = run("select", csv, "-t", "group", "-m", 1, option, "x0,x1", "--json")
    assert result.exit_code == 0, result.output
    assert run("select", csv, "-t", "group", option, "x0,zz").exit_code == ExitCode.COLUMN


def test_names_that_resemble_another():
    assert did_you_mean("Flavanoid", ["alcohol", "flavanoids"]) == "Did you mean flavanoids? "
    assert did_you_mean("zzz", ["alpha"]) == ""
    assert did_you_mean("attrition", ["Nutrition", "Attrition"]) == "Did you mean Attrition? "


def test_samples_without_a_response_are_dropped(table, tmp_path, run):
    holes, path = table.copy(), tmp_path / "holes.csv"
    holes.loc[[1, 4], "group"] = None
    holes.to_csv(path, index=False)
    output = tmp_path / "out.csv"
    result = run("select", path, "-t", "group", "-m", 1, "--json", "-o", output)
    answer = json.loads(result.stdout)
    assert answer["n_samples"] == 58
    assert any("2 of 60 samples is missing" in note for note in answer["notes"])
    assert len(pd.read_csv(output)) == 58


def test_rows_are_told_apart_whatever_their_labels(table, tmp_path, run):
    path, output = tmp_path / "twice.parquet", tmp_path / "out.csv"
    twice = pd.concat([table.iloc[:40], table.iloc[:40]])
    twice.iloc[3, -1] = None
    twice.to_parquet(path)
    result = run("select", path, "-t", "group", "-m", 1, "-o", output)
    assert result.exit_code == 0, result.output
    assert len(pd.read_csv(output)) == 79


def test_one_column_is_a_question_of_the_separator(tmp_path, run):
    path = tmp_path / "table.txt"
    path.write_text("a:b:y\n1:2:0\n2:3:1\n")
    result = run("select", path)
    assert result.exit_code == ExitCode.DATA
    assert "Separate its columns" in " ".join(result.stderr.split())


def test_boolean_columns_and_targets(table, tmp_path, run):
    path = tmp_path / "bool.parquet"
    table.assign(flag=table["x3"] > 0, y=table["x0"] > 0).to_parquet(path)
    result = run("select", path, "--drop", "group", "-m", 2, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["selected"][0] == "x0"


def test_given_columns_and_categories(tmp_path, run):
    rng = np.random.default_rng(0)
    district, area = rng.choice(list("abcd"), 120), rng.normal(size=120)
    houses = pd.DataFrame(rng.normal(size=(120, 3)), columns=["p", "q", "r"])
    houses = houses.assign(area=area, district=district)
    houses["price"] = area + 2.0 * (district == "a") + 0.2 * rng.normal(size=120)
    source, output, report = (tmp_path / name for name in ("h.csv", "out.csv", "r.html"))
    houses.to_csv(source, index=False)
    words = ("select", source, "-t", "price", "--as", "district=category", "--given", "area")
    result = run(*words, "-m", 1, "-o", output, "--report", report)
    assert result.exit_code == 0, result.output
    assert "1 feature in addition to the 1 given" in result.stdout
    assert list(pd.read_csv(output)) == ["area", "district", "price"]
    assert "Categories and features with few values" in report.read_text("utf-8")
    rows = json.loads(run(*words, "-m", 1, "--json").stdout)["features"]
    assert [(row["rank"], row["name"]) for row in rows[:2]] == [(0, "area"), (1, "district")]
    assert run(*words, "--drop", "area").exit_code == ExitCode.USAGE


def test_a_folder_of_parquet_files(run, tmp_path):
    """More samples than an exact fit takes, read in blocks and written out again."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4200, 5))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)])
    frame["y"] = np.where(X[:, 0] * X[:, 1] > 0, "up", "down")
    folder = tmp_path / "table"
    folder.mkdir()
    for part, rows in enumerate(np.array_split(np.arange(4200), 2)):
        frame.iloc[rows].to_parquet(folder / f"{part}.parquet", index=False)
    output, report = tmp_path / "selected.csv", tmp_path / "r.html"
    words = ("select", folder, "--target", "y", "-m", 2, "--json", "--output", output)
    result = run(*words, "--report", report)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert set(answer["selected"]) == {"x0", "x1"}
    assert answer["n_samples"] == 4200
    assert report.exists()
    pd.testing.assert_frame_equal(pd.read_csv(output), frame[["x0", "x1", "y"]])


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["-t", "y", "--given", "0"], ExitCode.USAGE, "--given names 'y', which is the target"),
        (["-t", "y", "--drop", "1", "--given", "b"], ExitCode.USAGE, "names 'b'"),
        (["-t", "y", "--as", "b=category"], ExitCode.USAGE, "work on single files"),
        (["-t", "y"], ExitCode.DATA, "are not numeric: 'kind'"),
    ],
)
def test_columns_of_a_folder_are_named_as_those_of_a_file(words, code, says, tmp_path, run):
    frame = pd.DataFrame({"y": [1, 2], "b": [0.5, 1.5], "kind": ["u", "v"]})
    frame.to_parquet(tmp_path / "0.parquet")
    result = run("select", tmp_path, *words)
    assert result.exit_code == code, result.output
    assert says in result.stderr


def test_a_folder_without_parquet_files(run, tmp_path):
    result = run("select", tmp_path, "--target", "y", env={"COLUMNS": "20"})
    assert result.exit_code == ExitCode.INPUT
    assert f"The folder {tmp_path} contains no *.parquet files" in result.stderr


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


def test_a_table_as_it_comes(shop, run):
    result = run("select", shop, "--target", "bought", "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert set(answer["selected"]) == {"city", "price"}
    told = " ".join(answer["notes"])
    assert "values hardly repeat, as in row identifiers: 'order', 'e-mail'." in told
    assert "Read as numbers: 'price', 'vat'." in told
    assert "Read as categories: 'city'." in told
    assert "Read as dates: 'day' (dates as text: time since" in told
    assert not answer["warnings"]


def test_columns_are_read_as_asked_for(shop, run):
    words = ("--as", "order=number", "--as", "vat=category", "--as", "e-mail,day=drop")
    result = run("select", shop, "-t", "bought", "-m", 2, *words, "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    told = " ".join(answer["notes"])
    assert "'order'" not in told
    assert "Read as numbers: 'price' (" in told
    kinds = {row["name"]: row["kind"] for row in answer["features"]}
    assert kinds["vat"] == "category"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--as", "cit=category"], ExitCode.COLUMN, "Did you mean city?"),
        (["--as", "city=categories"], ExitCode.USAGE, "Did you mean category?"),
        (["--as", "city"], ExitCode.USAGE, "Use --as COL=KIND"),
        (["--as", "bought=number"], ExitCode.USAGE, "--as names 'bought', which is the target"),
        (["--as", "city=number"], ExitCode.DATA, "'city' cannot be read as a number"),
    ],
)
def test_what_cannot_be_read_so(shop, run, words, code, said):
    for command in ("select", "compare"):
        result = run(command, shop, "-t", "bought", *words)
        assert result.exit_code == code
        assert said in " ".join(result.stderr.split())


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
