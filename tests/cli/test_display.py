"""What is printed."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from covmin.cli.display import _effects, _wrapped, sparkline


def test_table_shows_ranking_choice_and_curve(csv, run):
    result = run("select", csv, "--target", "group")
    assert result.exit_code == 0, result.output
    assert "60 samples, 10 features, target group (4 classes)" in result.stdout
    assert "Cross-validated error" in result.stdout
    assert "every smaller set that was tried is clearly worse" in " ".join(result.stdout.split())
    assert result.stdout.index("x0") < result.stdout.index("x9")


def test_leading_features_and_a_fraction(csv, run, monkeypatch):
    monkeypatch.setattr("covmin.cli.display._TOP", 4)
    result = run("select", csv, "-t", "group", "-m", "20%")
    assert "and 6 more" in result.stdout
    assert "2 features, as requested (0.2 of 10)" in result.stdout


def test_the_number_beside_the_rank_and_one_size_without_a_curve(csv, tmp_path, table, run):
    assert "lost without: what the selected" in run("select", csv, "-t", "group", "-m", 3).stdout
    single = tmp_path / "single.csv"
    table[["x0", "group"]].to_csv(single, index=False)
    shown = run("select", single, "-t", "group").stdout
    assert "1 feature, target" in shown
    assert "path" not in shown
    compared = run("compare", csv, "-t", "group", "--methods", "pearson", "-m", 3).stdout
    assert "…" not in compared


def test_what_is_said_of_all_effects_is_said_once():
    rows = [{"features": [name], "p_value": None} for name in "abc"]
    [line] = _effects("Spread", rows)
    assert line == "Spread: a, b, c (no p-value, as rows depend on each other)."
    assert _effects("Spread", [rows[0] | {"p_value": 0.01}]) == ["Spread: a (p = 0.010)."]
    assert _effects("Spread", []) == []


def test_sparkline():
    assert sparkline([1.0, 0.5, 0.25, 0.25]) == "█▃▁▁"
    assert sparkline([]) == ""


EVIL = "x\x1b[31m\u202e"


@pytest.fixture
def evil(table, tmp_path):
    """A table whose columns and classes would paint the terminal."""
    frame = table.rename(columns={"x0": EVIL, "x1": f"1{EVIL}", "group": f"y{EVIL}"})
    path = tmp_path / "evil.csv"
    frame.assign(copy=frame[EVIL], **{f"c{EVIL}": 1}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["-t", "10", "-m", "3"],
        ["-t", "10", "-m", "3", "--json"],
        ["-t", f"y{EVIL}z"],
        ["-t", "x2"],
        [],
    ],
)
def test_names_do_not_reach_the_terminal_as_they_are(words, evil, run):
    result = run("select", evil, *words)
    assert set("\x1b\u202e").isdisjoint(result.stdout + result.stderr)
    assert "x1b[31m" in result.output or "u001b[31m" in result.output or not words


def test_json_keeps_every_name(evil, run):
    answer = json.loads(run("select", evil, "-t", 10, "-m", 3, "--json").stdout)
    assert answer["target"] == f"y{EVIL}"
    assert EVIL in [row["name"] for row in answer["features"]]


def test_the_terminal_says_what_the_page_says(table, tmp_path, run):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.standard_normal((120, 2)), columns=["age", "income"])
    noise.assign(churn=rng.choice(["yes", "no"], 120)).to_csv(tmp_path / "noise.csv", index=False)
    page = tmp_path / "r.html"
    shown = run("select", tmp_path / "noise.csv", "-t", "churn", "--report", page).stdout
    said = "No feature predicts churn better than chance"
    assert said in shown.splitlines()
    assert f"<title>{said} – covmin</title>" in page.read_text("utf-8")
    assert "explain churn" not in shown
    answer = run("select", tmp_path / "noise.csv", "-t", "churn", "--json").stdout
    assert json.loads(answer)["headline"] == said


def test_classes_are_judged_beside_what_needs_no_feature(tmp_path, run):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((150, 2)), columns=["a", "b"])
    X.assign(kind=np.where(X["a"] > 1.0, "rare", "common")).to_csv(tmp_path / "t.csv", index=False)
    shown = " ".join(run("select", tmp_path / "t.csv", "-t", "kind").stdout.split())
    assert "Cross-validated (in brackets: without any features): accuracy" in shown
    assert "balanced accuracy" in shown
    assert "of the samples belong to the class “common”, so always" in shown


def test_long_names_do_not_fill_the_terminal(table, tmp_path, run):
    long = "word " * 1000
    table.rename(columns={"x0": f"{long}1", "x1": f"{long}2"}).to_csv(
        tmp_path / "long.csv", index=False
    )
    result = run("select", tmp_path / "long.csv", "-t", "group", "-m", 3)
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) < 30
    ranked = " ".join(result.stdout.split())
    assert "…" in ranked
    failed = run("select", tmp_path / "long.csv", "-t", "word")
    assert failed.exit_code != 0
    assert len(failed.output) < 2000


def test_long_names_break_after_separators():
    name = "months_since_last_credit_inquiry"
    assert _wrapped(name, 22).split("\n") == ["months_since_last_", "credit_inquiry"]
    assert _wrapped("incomprehensible", 5) == "incomprehensible"  # the table folds it
