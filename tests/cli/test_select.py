"""``covmin select`` and ``covmin demo``."""

from __future__ import annotations

import html as html_module
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.datasets import make_survival
from covmin.report import error_curve

TRUE = ["x0", "x1", "x2"]


def test_select_names_pairs_that_interact(csv, run):
    answer = json.loads(run("select", csv, "-t", "group", "-m", 3, "--json").stdout)
    assert {name for pair in answer["interactions"] for name in pair["features"]} == set(TRUE)
    assert all(0 <= pair["p_value"] <= 0.05 < pair["share"] for pair in answer["interactions"])
    shown = " ".join(run("select", csv, "-t", "group", "-m", 3).stdout.split())
    assert "Interacting pairs: " in shown
    assert "x0 × x1 (p" in shown


def test_classes_stored_in_order_keep_it(tmp_path, run):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    words = ["poor", "fair", "good"]
    grade = np.array(words)[np.digitize(X[:, 0], [-0.5, 0.5])]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(grade=grade)
    frame["grade"] = pd.Categorical(frame["grade"], words, ordered=True)
    path = tmp_path / "grades.parquet"
    frame.to_parquet(path)
    result = run("select", path, "-t", "grade", "--json", "--report", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    fitted = CCMSelector(random_state=0).fit(frame[list("abcd")], frame["grade"])
    assert json.loads(result.stdout)["cv_results"] == error_curve(fitted)


def code_of(report):
    found = re.search(r'<pre id="code"[^>]*>(.*?)</pre>', report.read_text("utf-8"), re.DOTALL)
    return html_module.unescape(re.sub(r"<[^>]+>", "", found[1]))


def test_report_is_written_with_notes_and_command(table, tmp_path, run):
    holes = table.copy()
    holes.loc[3, "x7"] = np.nan
    source, report = tmp_path / "holes.csv", tmp_path / "r.html"
    holes.to_csv(source, index=False)
    words = ("select", source, "-t", "group", "-m", 3, "--missing", "rows", "--drop", "x9")
    result = run(*words, "--report", report)
    assert result.exit_code == 0, result.output
    assert "1 row(s) with missing values were dropped" in result.stdout
    html = report.read_text("utf-8")
    assert "1 row(s) with missing values were dropped" in html
    assert "--drop x9 --missing rows" in html


def test_constant_columns_are_named_once(table, tmp_path, run):
    source, report = tmp_path / "flat.csv", tmp_path / "r.html"
    table.assign(flat=3.0, place="Oslo").to_csv(source, index=False)
    result = run("select", source, "-t", "group", "-m", 3, "--report", report)
    told = " ".join(result.stdout.split())
    assert "2 columns are constant: flat, place." in told
    assert told.count("carry no information") == 1
    page = report.read_text("utf-8")
    assert "2 columns are constant" in page
    assert "constant feature(s)" not in page


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_command_in_a_report_has_every_option_of_the_fit(table, tmp_path, run):
    source, report, again = (tmp_path / name for name in ("data.weird", "r.html", "again.html"))
    table.to_csv(source, index=False)
    words = ("select", source, "-t", "group", "-m", 3, "--format", "csv", "--max-iter", 7)
    assert run(*words, "--report", report).exit_code == 0
    code = code_of(report)
    assert "--format csv" in code
    assert "--max-iter 7" in code
    assert run(*shlex.split(code)[1:], "--report", again).exit_code == 0
    assert code_of(again) == code


def test_the_python_in_a_report_reads_the_table(table, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("semi.csv", index=False, sep=";")
    answer = run("select", "semi.csv", "-t", "group", "-m", 3, "--json", "--report", "r.html")
    scope = {}
    exec(code_of(tmp_path / "r.html"), scope)
    found = scope["selector"].get_feature_names_out()
    assert sorted(found) == sorted(json.loads(answer.stdout)["selected"])


def test_a_row_number_that_tracks_the_response_is_pointed_out(table, tmp_path, run):
    path = tmp_path / "sorted.csv"
    table.sort_values("group").assign(row=range(60)).to_csv(path, index=False)
    words = ("select", path, "-t", "group", "-m", 2)
    result = run(*words, "--as", "row=number")
    assert "Warning: A row number tracks the response: “row” is a row" in result.stdout
    answer = json.loads(run(*words, "--as", "row=number", "--json").stdout)
    assert len(answer["warnings"]) == 1
    assert not json.loads(run(*words, "--json").stdout)["warnings"]  # it is left out, with a note


def test_demo_ends_with_the_path_of_the_report(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert "flavanoids" in result.stdout
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert result.stdout.rstrip().endswith("report.html")


def _wide(csv):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 15))).add_prefix("x")
    frame.assign(y=frame["x0"]).to_csv(csv.with_name("wide.csv"), index=False)
    return csv.with_name("wide.csv")


def test_a_time_limit_gives_the_best_so_far_and_says_so(csv, run):
    words = ("select", csv, "-t", "group", "--json", "--seconds")
    answer = json.loads(run(*words, "0.000001").stdout)
    assert len(answer["ranking"]) == 10
    wide = json.loads(
        run("select", _wide(csv), "-t", "y", "--json", "--seconds", "0.000001").stdout
    )
    assert wide["n_selected"] == 10
    assert "no time to choose a number" in wide["why"]
    assert any("no time to choose" in note and "stopped after" in note for note in answer["notes"])
    enough = json.loads(run(*words, 1000).stdout)
    assert not any("stopped" in note for note in enough["notes"])
    assert "--seconds must be a number > 0" in run(*words, 0).stderr


@pytest.fixture
def trial(tmp_path):
    X, y = make_survival(150, 3, random_state=0, return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)]).assign(**pd.DataFrame(y))
    path = tmp_path / "trial.csv"
    frame.assign(status=frame["event"] + 1).to_csv(path, index=False)
    return path, frame


@pytest.mark.parametrize("event", ["event", "status=2"])
def test_times_to_an_event(trial, run, tmp_path, event):
    path, frame = trial
    other = "status" if event == "event" else "event"
    where = ["--report", tmp_path / "r.html", "-o", tmp_path / "kept.csv"]
    result = run("select", path, "-t", "time", "--event", event, "-d", other, "--json", *where)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    fitted = CCMSelector(random_state=0).fit(
        frame.iloc[:, :6], frame[["event", "time"]].to_records(index=False)
    )
    assert answer["task"] == "survival"
    assert answer["event"] == event.split("=")[0]
    assert (
        answer["selected"] == [f"x{j}" for j in np.argsort(fitted.ranking_)][: fitted.n_features_]
    )
    assert "concordance" in answer["headline"]
    assert f"--event {event}" in answer["code"]
    assert {"time", answer["event"]} < set(pd.read_csv(tmp_path / "kept.csv"))
    shown = run("select", path, "-t", "time", "--event", event, "-d", other).stdout
    assert "(survival)" in shown
    assert "Cross-validated concordance" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--event", "status"], "which of its values (1, 2) means that the event occurred?"),
        (["--task", "survival"], "such as --event died or --event status=2"),
        (["--event", "event", "--task", "regression"], "but --task is regression"),
        (["--event", "evnt"], "Did you mean event?"),
        (["--event", "time"], "--event names the target 'time' itself"),
    ],
)
def test_times_without_an_event_are_refused_in_words(trial, run, words, message):
    result = run("select", trial[0], "-t", "time", *words)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())
