"""The library's messages in the words of options."""

from __future__ import annotations

import json

import pytest

from covmin.cli.errors import ExitCode


def test_constant_response_is_unfit_data(table, tmp_path, run):
    path = tmp_path / "flat.csv"
    table.assign(group="red").to_csv(path, index=False)
    result = run("select", path, "-t", "group", "-m", 3)
    assert result.exit_code == ExitCode.DATA
    assert "one class" in result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-t", "group", "-m", "99"], "-m 99, but the table has 10"),
        (["-t", "x0", "--drop", "group", "--task", "classification"], "target 'x0'"),
        (["-t", "x0", "--drop", "group", "--task", "classification"], "--task regression"),
    ],
)
def test_messages_speak_of_options(words, says, csv, run):
    result = run("select", csv, *words)
    assert result.exit_code == ExitCode.DATA
    text = " ".join(result.stderr.split())
    assert says in text
    assert "task=" not in text
    assert "n_features_to_select" not in text


def test_notes_speak_of_options(csv, run):
    words = ("-t", "group", "--n-features", 3, "--max-iter", 1, "--json")
    notes = json.loads(run("select", csv, *words).stdout)["notes"]
    assert notes == ["A solve stopped after 1 steps, unfinished; allow more with --max-iter."]
