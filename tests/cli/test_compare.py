"""``covmin compare``."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
from rich.console import Console

from covmin.cli.compare import _table
from covmin.cli.errors import ExitCode


def test_compare_prints_table_and_json(csv, run):
    words = ("compare", csv, "-t", "group", "--methods", "ccm,pearson", "-m", "1,3", "--cv", 3)
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert "ranked on the training folds" in result.stdout
    assert result.stdout.index("ccm") < result.stdout.index("pearson")
    answer = json.loads(run(*words, "--json").stdout)
    assert {row["selector"] for row in answer["scores"]} == {"ccm", "pearson"}
    assert answer["protocol"] == "nested"


def test_compare_takes_categories(tmp_path, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"city": rng.choice(["Bonn", "Rome"], 60), "age": rng.uniform(size=60)})
    frame["buys"] = (frame["city"] == "Rome") ^ (frame["age"] > 0.5)
    frame.to_csv(tmp_path / "shop.csv", index=False)
    words = ("compare", tmp_path / "shop.csv", "-t", "buys", "--methods", "ccm,anova", "--cv", 3)
    answers = [
        json.loads(run(*words, *more, "--json").stdout) for more in ((), ("--as", "city=category"))
    ]
    for answer in answers:
        assert answer["n_features"] == 2
        assert {row["n_features"] for row in answer["scores"]} == {1, 2}
        scores = [row["mean_score"] for row in answer["scores"]]
        assert scores == [row["mean_score"] for row in answers[0]["scores"]]


def test_compare_refuses_unknown_methods_and_sizes(csv, run):
    base = ("compare", csv, "-t", "group")
    for words, code, says in [
        (("--methods", "peerson"), ExitCode.DATA, "Known names: ccm, "),
        (("--methods", "ccm", "-m", "1,99"), ExitCode.DATA, "99"),
        (("-m", "many"), ExitCode.USAGE, "-m many is not a list"),
    ]:
        result = run(*base, *words)
        assert result.exit_code == code, result.output
        assert says in " ".join(result.stderr.split())


def test_compare_reads_the_task_as_select_does(tmp_path, run):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 3))
    frame = pd.DataFrame(x, columns=list("abc")).assign(price=(1000 * (x[:, 0] + 5)).astype(int))
    frame.to_csv(tmp_path / "houses.csv", index=False)
    result = run("compare", tmp_path / "houses.csv", "-t", "price", "-m", "1", "--methods", "anova")
    assert result.exit_code == 0, result.stderr
    assert "R²" in result.stdout + result.stderr


def test_an_order_of_classes_is_not_scored(csv, run):
    result = run("compare", csv, "-t", "group", "--task", "ordinal")
    assert result.exit_code == ExitCode.USAGE


def test_scoring_and_a_time_limit(csv, run):
    words = ("compare", csv, "-t", "group", "--methods", "pearson,rfe", "-m", "2", "--cv", 2)
    answer = json.loads(run(*words, "--scoring", "balanced_accuracy", "--json").stdout)
    assert answer["score"] == "balanced_accuracy"
    assert answer["unfinished"] == []
    refused = run(*words, "--scoring", "balanced_acuracy")
    assert refused.exit_code == ExitCode.DATA
    assert "balanced_acuracy" in refused.stderr
    late = run(*words, "--seconds", "1e-9")
    assert late.exit_code == ExitCode.DATA
    assert "within seconds=1e-09" in late.stderr
    assert run(*words, "--seconds", "600", "--json").exit_code == 0


def test_methods_that_failed_are_shown_as_such():
    rows = [("ccm", 1, 0.9, 2.0), ("rfe", 1, np.nan, 0.1)]
    names = ["selector", "n_features", "mean_score", "fit_seconds"]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(_table(pd.DataFrame(rows, columns=names)))
    shown = console.export_text()
    assert "failed" in shown
    assert "nan" not in shown


def test_advice_names_options(tmp_path, run):
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal((200, 2)), axis=0)
    frame = pd.DataFrame(walk, columns=["a", "b"]).assign(y=walk[:, 0] + rng.standard_normal(200))
    frame.to_csv(tmp_path / "walk.csv", index=False)
    words = ("compare", tmp_path / "walk.csv", "-t", "y", "--methods", "pearson", "-m", "1")
    said = " ".join(run(*words).output.split())
    assert "are not independent" in said
    assert "pass its name as --time" in said
    assert "groups=" not in said
