"""From a table to samples and a response."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.problem import make_dataset
from covmin.cli.tables import Source


def test_classes_that_differ_in_case_or_spaces_are_noted(tmp_path, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(size=60), "b": rng.uniform(size=60)})
    frame["buys"] = np.where(frame["a"] > 0.5, "yes", "no")
    frame.loc[::10, "buys"] = frame.loc[::10, "buys"].str.title()
    frame.to_csv(tmp_path / "shop.csv", index=False)
    result = run("select", tmp_path / "shop.csv", "-t", "buys", "-m", 1)
    assert "Classes 'Yes' and 'yes' of 'buys' differ only in case" in " ".join(
        result.stdout.split()
    )


def test_missing_values_name_columns_and_remedies(table):
    holes = table.copy()
    holes.loc[[1, 4], "x3"] = np.nan
    holes.loc[4, "x5"] = np.inf
    with pytest.raises(CommandError, match="'x3', 'x5'") as caught:
        make_dataset(holes, Source("", "group", missing="error"))
    assert caught.value.code == ExitCode.DATA
    assert "--missing rows" in caught.value.hint
    with pytest.raises(CommandError, match=r"infinite values.*'x5'") as caught:
        make_dataset(holes, Source("", "group"))
    assert "--missing rows" in caught.value.hint
    finite = holes.replace(np.inf, 0.0)
    assert make_dataset(finite, Source("", "group")).X["x3"].isna().sum() == 2
    assert make_dataset(holes, Source("", "group", missing="rows")).X.shape == (58, 10)
    assert make_dataset(holes, Source("", "group", missing="columns")).X.shape == (60, 8)
    with pytest.raises(CommandError) as caught:
        make_dataset(holes[["x3", "group"]], Source("", "group", missing="error"))
    assert "--missing columns" not in caught.value.hint, "nothing would be left"
    holes.loc[0, "group"] = None
    with pytest.raises(CommandError, match="target 'group' is missing in 1 of 60"):
        make_dataset(holes, Source("", "group", missing="error"))
    assert len(make_dataset(holes, Source("", "group", missing="rows")).y) == 57
    answered = make_dataset(finite.assign(group=holes["group"]), Source("", "group"))
    assert answered.X.shape == (59, 10)
    assert answered.notes == ["1 row(s) without a value of 'group' were dropped."]
    with pytest.raises(CommandError, match="missing in 60 of 60"):
        make_dataset(finite.assign(group=None), Source("", "group"))


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


def test_given_and_categorical_columns(tmp_path, run):
    rng = np.random.default_rng(0)
    district, area = rng.choice(list("abcd"), 120), rng.normal(size=120)
    houses = pd.DataFrame(rng.normal(size=(120, 3)), columns=["p", "q", "r"])
    houses = houses.assign(area=area, district=district)
    houses["price"] = area + 2.0 * (district == "a") + 0.2 * rng.normal(size=120)
    source, output, report = (tmp_path / name for name in ("h.csv", "out.csv", "r.html"))
    houses.to_csv(source, index=False)
    words = ("select", source, "-t", "price", "-c", "district", "--given", "area", "-m", 1)
    result = run(*words, "-o", output, "--report", report)
    assert result.exit_code == 0, result.output
    assert "1 feature in addition to the 1 given" in result.stdout
    assert list(pd.read_csv(output)) == ["area", "district", "price"]
    html = report.read_text("utf-8")
    assert "--categorical district --given area" in html
    assert "For categories and features with few values" in html
    ranking = json.loads(run(*words, "--json").stdout)["ranking"]
    assert [(row["rank"], row["feature"]) for row in ranking[:2]] == [(0, "area"), (1, "district")]
    wrong = run(*words, "--drop", "area")
    assert wrong.exit_code == ExitCode.USAGE


def test_categories_with_blanks_can_be_left_out(tmp_path, run):
    frame = pd.DataFrame({"x": np.arange(8.0), "kind": [*"aabbab", None, "a"]})
    frame["y"] = frame["x"] * 0.5
    path = tmp_path / "blank.csv"
    frame.to_csv(path, index=False)
    words = ("select", path, "-t", "y", "-c", "kind", "-m", 1, "--task", "regression")
    assert run(*words).exit_code == 0
    left = json.loads(run(*words, "--missing", "rows", "--json").stdout)
    assert left["n_samples"] == 7


def test_a_folder_of_parquet_files(run, tmp_path):
    """More samples than an exact fit takes, read in batches and written out again."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4200, 5))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)])
    frame["y"] = np.where(X[:, 0] * X[:, 1] > 0, "up", "down")
    folder = tmp_path / "table"
    folder.mkdir()
    for part, rows in enumerate(np.array_split(np.arange(4200), 2)):
        frame.iloc[rows].to_parquet(folder / f"{part}.parquet", index=False)
    output = tmp_path / "selected.csv"
    result = run("select", folder, "--target", "y", "-m", 2, "--json", "--output", output)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert set(answer["selected"]) == {"x0", "x1"}
    assert answer["n_samples"] == 4200
    pd.testing.assert_frame_equal(pd.read_csv(output), frame[["x0", "x1", "y"]])


def test_a_folder_without_parquet_files(run, tmp_path):
    result = run("select", tmp_path, "--target", "y", env={"COLUMNS": "20"})
    assert result.exit_code == ExitCode.INPUT
    assert f"The folder {tmp_path} contains no *.parquet files" in result.stderr


def test_rows_are_told_apart_whatever_their_labels(table, tmp_path, run):
    path, output = tmp_path / "twice.parquet", tmp_path / "out.csv"
    twice = pd.concat([table.iloc[:40], table.iloc[:40]])
    twice.iloc[3, 0] = np.nan
    twice.to_parquet(path)
    result = run("select", path, "-t", "group", "-m", 1, "--missing", "rows", "-o", output)
    assert result.exit_code == 0, result.output
    assert len(pd.read_csv(output)) == 79


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["-t", "y", "--given", "0"], ExitCode.USAGE, "--given names the target"),
        (["-t", "y", "--drop", "1", "--given", "b"], ExitCode.USAGE, "names 'b'"),
        (["-t", "y"], ExitCode.DATA, "Omit them with --drop"),
    ],
)
def test_columns_of_a_folder_are_named_as_those_of_a_file(words, code, says, tmp_path, run):
    frame = pd.DataFrame({"y": [1, 2], "b": [0.5, 1.5], "kind": ["u", "v"]})
    frame.to_parquet(tmp_path / "0.parquet")
    result = run("select", tmp_path, *words)
    assert result.exit_code == code, result.output
    assert says in result.stderr
