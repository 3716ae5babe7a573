"""``covmin select`` and ``covmin demo``."""

from __future__ import annotations

import html as html_module
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

import covmin.data
from covmin import CCMSelector
from covmin.cli.errors import ExitCode
from covmin.datasets import make_survival

TRUE = ["x0", "x1", "x2"]


def test_select_names_pairs_that_interact(csv, run):
    answer = json.loads(run("select", csv, "-t", "group", "-m", 3, "--json").stdout)
    assert {name for pair in answer["interactions"] for name in pair["features"]} == set(TRUE)
    assert all(0 <= pair["p_value"] <= 0.05 < pair["share"] for pair in answer["interactions"])
    shown = " ".join(run("select", csv, "-t", "group", "-m", 3).stdout.split())
    assert "Interactions: " in shown
    assert "x0 × x1 (p" in shown


def test_a_command_reads_its_table_once(csv, tmp_path, run, monkeypatch):
    read_matrix, frames = covmin.data.table.read_matrix, []

    def counted(X, *args):
        frames.extend([X] if isinstance(X, pd.DataFrame) else [])
        return read_matrix(X, *args)

    monkeypatch.setattr("covmin.data.table.read_matrix", counted)
    words = ("select", csv, "-t", "group", "--report", tmp_path / "r.html", "--verdicts")
    assert run(*words).exit_code == 0
    assert len(frames) == 1


def test_classes_stored_in_order_keep_it(tmp_path, run):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    words = ["poor", "fair", "good"]
    grade = np.array(words)[np.digitize(X[:, 0], [-0.5, 0.5])]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(grade=grade)
    path = tmp_path / "grades.parquet"
    frame.to_parquet(path)
    refused = run("select", path, "-t", "grade", "--task", "ordinal")
    assert refused.exit_code == ExitCode.DATA
    assert "The option for this is --task." in refused.stderr
    frame["grade"] = pd.Categorical(frame["grade"], words, ordered=True)
    frame.to_parquet(path)
    result = run("select", path, "-t", "grade", "--json", "--report", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    fitted = CCMSelector(random_state=0).fit(frame[list("abcd")], frame["grade"])
    weights = {row["name"]: row["weight"] for row in json.loads(result.stdout)["features"]}
    assert [weights[name] for name in "abcd"] == pytest.approx(fitted.weights_)


def code_of(report):
    found = re.search(r'<pre id="code"[^>]*>(.*?)</pre>', report.read_text("utf-8"), re.DOTALL)
    return html_module.unescape(re.sub(r"<[^>]+>", "", found[1]))


def test_report_is_written_with_notes_and_command(table, tmp_path, run):
    holes = table.copy()
    holes.loc[3, "x7"] = np.nan
    source, report = tmp_path / "holes.csv", tmp_path / "r.html"
    holes.to_csv(source, index=False)
    words = ("select", source, "-t", "group", "-m", 3, "--drop", "x9")
    result = run(*words, "--report", report)
    assert result.exit_code == 0, result.output
    assert "Missing values in 'x7' are used as information." in " ".join(result.stdout.split())
    assert "Missing values in &#39;x7&#39; are used" in report.read_text("utf-8")
    assert shlex.split(code_of(report)) == ["covmin", *map(str, words), "--report", str(report)]


def test_constant_columns_are_named_once(table, tmp_path, run):
    source, report = tmp_path / "flat.csv", tmp_path / "r.html"
    table.assign(flat=3.0, place="Oslo").to_csv(source, index=False)
    result = run("select", source, "-t", "group", "-m", 3, "--report", report)
    told = " ".join(result.stdout.split())
    assert "2 columns are constant. Without information, so ranked last: 'flat', 'place'." in told
    page = report.read_text("utf-8")
    assert "2 columns are constant" in page
    assert "constant feature" not in page


def test_demo_ends_with_the_path_of_the_report(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert "flavanoids" in result.stdout
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert result.stdout.rstrip().endswith("report.html")


def test_a_time_limit_gives_the_best_so_far_and_says_so(tmp_path, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 15))).add_prefix("x")
    path = tmp_path / "wide.csv"
    frame.assign(y=frame["x0"]).to_csv(path, index=False)
    words = ("select", path, "-t", "y", "--json", "--seconds")
    answer = json.loads(run(*words, "0.000001").stdout)
    assert len(answer["features"]) == 15
    assert "no time to choose a number" in answer["why"]
    assert any("no time to choose" in note and "stopped after" in note for note in answer["notes"])
    enough = json.loads(run(*words, 1000).stdout)
    assert not any("stopped" in note for note in enough["notes"])


@pytest.fixture
def trial(tmp_path):
    X, y = make_survival(120, 3, random_state=0, return_X_y=True)
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
    order = [f"x{j}" for j in np.argsort(fitted.ranking_)]
    assert answer["selected"] == order[: fitted.n_features_]
    assert "concordance" in answer["headline"]
    assert f"--event {event}" in answer["code"]
    assert {"time", answer["event"]} < set(pd.read_csv(tmp_path / "kept.csv"))
    shown = run("select", path, "-t", "time", "--event", event, "-d", other).stdout
    assert "(survival)" in shown
    assert "Cross-validated concordance" in shown
    assert "in brackets" not in shown  # the reason for the number has said it


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--event", "status"], "which of its values (1, 2) means that the event occurred?"),
        (["--task", "survival"], "The option for this is --task."),
        (["--event", "event", "--task", "regression"], "survival times are not supported"),
        (["--event", "evnt"], "Did you mean event?"),
        (["--event", "time"], "--event names 'time', which is the target"),
    ],
)
def test_times_without_an_event_are_refused_in_words(trial, run, words, message):
    result = run("select", trial[0], "-t", "time", *words)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())


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
    told = {row["name"]: row for row in json.loads(run(*words).stdout)["verdicts"]}
    assert told["a"]["verdict"] == "needed"
    assert told["copy"]["verdict"] == "relevant"
    assert told["copy"]["substitutes"] == ["a"]
    assert told["a"]["needed_p"] < 0.01 < told["copy"]["needed_p"]
    answer = json.loads(run("select", mixed, "-t", "y", "-m", 1, "--json").stdout)
    assert answer["verdicts"] is None


def test_verdicts_on_the_terminal_and_in_the_report(mixed, tmp_path, run):
    report = tmp_path / "r.html"
    result = run("select", mixed, "-t", "y", "-m", 1, "--verdicts", "--report", report)
    assert result.exit_code == 0, result.output
    assert "Verdicts: 1 needed, 1 relevant, of 5." in result.stdout
    assert 'id="verdicts-title"' in report.read_text("utf-8")


def test_an_interrupted_fit_says_where_it_goes_on(csv, run, monkeypatch):
    def interrupt(self, *_):
        kept.write_text("")
        raise KeyboardInterrupt

    kept = csv.parent / "fit.jsonl"
    monkeypatch.setattr(CCMSelector, "fit", interrupt)
    result = run("select", csv, "-t", "group", "--set", f"long_run__checkpoint={kept}")
    assert result.exit_code == ExitCode.INTERRUPTED
    assert f"The same command resumes from {kept}." in result.stderr


@pytest.fixture
def patients(tmp_path):
    """Forty patients with six rows each, and labels that have nothing to do with them."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 6)
    X = rng.standard_normal((40, 5))[patient] + 0.01 * rng.standard_normal((240, 5))
    frame = pd.DataFrame(X, columns=[*"abcde"])
    frame["patient"], frame["y"] = patient, rng.permutation(np.repeat(["ill", "well"], 20))[patient]
    frame.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def accuracy(answer):
    return next(row["value"] for row in answer["measures"] if row["name"] == "accuracy")


def test_rows_of_a_group_are_held_out_together(patients, run):
    words = ("select", patients, "-t", "y", "--json")
    apart = json.loads(run(*words, "--drop", "patient").stdout)
    assert any("--row-groups" in note for note in apart["notes"])
    together = json.loads(run(*words, "--row-groups", "patient").stdout)
    assert accuracy(apart) > 0.9
    assert accuracy(together) < 0.7
    assert "patient" not in [row["name"] for row in together["features"]]
    compared = ("compare", patients, "-t", "y", "--methods", "pearson", "-m", 5, "--json")
    scores = [
        json.loads(run(*compared, option, "patient").stdout)["scores"][0]["mean_score"]
        for option in ("--drop", "--row-groups")
    ]
    assert scores[0] > scores[1] + 0.1
    assert scores[1] < 0.7


def test_verdicts_on_rows_that_are_said_to_be_independent(patients, run):
    words = ("select", patients, "-t", "y", "--drop", "patient", "-m", 1, "--verdicts")
    refused = run(*words)
    assert refused.exit_code == ExitCode.DATA
    assert "--row-groups none" in refused.stderr
    assert "groups=" not in refused.stderr  # which is Python
    assert run(*words, "--row-groups", "none").exit_code == 0


def test_the_past_does_not_know_the_future(tmp_path, run):
    """A random walk: neighbours in time are alike, which says nothing about later rows."""
    rng = np.random.default_rng(0)
    walk = rng.standard_normal((400, 3)).cumsum(axis=0)
    frame = pd.DataFrame(walk, columns=["a", "b", "y"])
    frame["day"] = pd.date_range("2020-01-01", periods=400).strftime("%Y-%m-%d")
    shuffled = tmp_path / "walk.csv"
    frame.sample(frac=1.0, random_state=0).to_csv(shuffled, index=False)
    words = ("select", shuffled, "-t", "y", "--json")
    errors = {
        option: json.loads(run(*words, option, "day").stdout)["measures"][0]["value"]
        for option in ("--drop", "--time")
    }
    assert errors["--drop"] < 0.5
    assert errors["--time"] > 0.7
    compared = run("compare", shuffled, "-t", "y", "--methods", "pearson", "-m", 2, "--time", "day")
    assert compared.exit_code == 0, compared.output
    assert "from earlier rows" in run("select", shuffled, "-t", "y", "--time", "day").output.lower()
    both = run("select", shuffled, "-t", "y", "--time", "day", "--row-groups", "a")
    assert both.exit_code == ExitCode.USAGE
    frame.assign(day="soon").to_csv(shuffled, index=False)
    assert "no time in 400 rows, such as 'soon'" in run(*words, "--time", "day").stderr
