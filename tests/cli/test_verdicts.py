"""``covmin select --verdicts`` and ``--fdr``."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def mixed(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((150, 4)), columns=list("abcd"))
    frame["copy"] = frame["a"] + 0.5 * rng.standard_normal(150)
    frame["y"] = 2.0 * frame["a"] + 0.5 * rng.standard_normal(150)
    path = tmp_path / "mixed.csv"
    frame.to_csv(path, index=False)
    return path


def test_verdicts_for_programs(mixed, run):
    words = ("select", mixed, "-t", "y", "-m", 1, "--fdr", 0.01, "--json")
    rows = json.loads(run(*words).stdout)["verdicts"]
    told = {row["feature"]: row for row in rows}
    assert told["a"]["verdict"] == "needed"
    assert told["copy"]["verdict"] == "relevant"
    assert told["copy"]["substitutes"] == ["a"]
    assert told["a"]["needed_p_value"] < 0.01 < told["copy"]["needed_p_value"]


def test_verdicts_on_the_terminal_and_in_the_report(mixed, tmp_path, run):
    report = tmp_path / "r.html"
    result = run("select", mixed, "-t", "y", "-m", 1, "--verdicts", "--report", report)
    assert result.exit_code == 0, result.output
    assert "Verdicts: 1 needed, 1 relevant, of 5." in result.stdout
    assert 'id="verdicts-title"' in report.read_text("utf-8")


def test_no_verdicts_unless_asked_for(mixed, run):
    answer = json.loads(run("select", mixed, "-t", "y", "-m", 1, "--json").stdout)
    assert answer["verdicts"] is None


@pytest.mark.parametrize("rate", ["0", "1"])
def test_a_rate_that_promises_nothing_is_refused(mixed, run, rate):
    result = run("select", mixed, "-t", "y", "--fdr", rate)
    assert result.exit_code == 2
    assert "not between 0 and 1" in result.output
