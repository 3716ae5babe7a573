"""Commands, from the words typed to the exit code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from covmin.cli.errors import ExitCode


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["{csv}", "-t", "grup"], ExitCode.COLUMN, "Did you mean group?"),
        (["{csv}", "-t", "99"], ExitCode.COLUMN, "from 0 to 10"),
        (["{csv}", "-t", "group", "--drop", "X33"], ExitCode.COLUMN, "Did you mean x3"),
        (["{csv}"], ExitCode.USAGE, "--target"),
        (["{csv}", "-t", "group", "-m", "0"], ExitCode.USAGE, "-m auto"),
        (["{csv}", "-t", "group", "-m", "many"], ExitCode.USAGE, "-m auto"),
        (["{csv}", "-t", "group", "--epsilon", "-1"], ExitCode.USAGE, "positive"),
        (["{csv}", "-t", "group", "--task", "magic"], ExitCode.USAGE, "magic"),
        (["{csv}", "-t", "group", "--drop", "group"], ExitCode.USAGE, "target"),
        (["{csv}", "-t", "x0", "--strict"], ExitCode.DATA, "'group'"),
        (["{csv}", "-t", "group", "-m", "99"], ExitCode.DATA, "99"),
        (["{dir}/dta.csv"], ExitCode.INPUT, "Did you mean data.csv?"),
        (["{dir}/no/data.csv"], ExitCode.INPUT, "folder"),
        (["{csv}", "-t", "group", "-f", "parquet"], ExitCode.INPUT, "--format"),
        (["{csv}", "-t", "group", "--report", "{dir}/no/r.html"], ExitCode.OUTPUT, "folder"),
        (["{csv}", "-t", "group", "--report", "{dir}"], ExitCode.OUTPUT, "folder"),
        (["{csv}", "-t", "group", "-o", "{dir}/out.xyz"], ExitCode.OUTPUT, ".parquet"),
    ],
)
def test_errors_say_what_to_do(words, code, says, csv, run):
    words = [word.format(csv=csv, dir=csv.parent) for word in words]
    result = run("select", *words)
    assert result.exit_code == code, result.output
    assert says in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def interrupt(*_, **__):
    raise KeyboardInterrupt


INTERRUPTED = {
    "fit": ("covmin.CCMSelector.fit", ["select", "{csv}", "-t", "group", "-o", "{dir}/out.csv"]),
    "report": ("os.replace", ["select", "{csv}", "-t", "group", "-m", "2", "-r", "{dir}/out.html"]),
    "table": ("os.replace", ["select", "{csv}", "-t", "group", "-m", "2", "-o", "{dir}/out.csv"]),
    "demo": ("covmin.report.write_report", ["demo", "--report", "{dir}/out.html"]),
    "compare": (
        "covmin.evaluation.curves.rank_features",
        ["compare", "{csv}", "-t", "group", "--methods", "pearson", "-o", "{dir}/out.csv"],
    ),
    "picture": (
        "os.replace",
        ["compare", "{csv}", "-t", "group", "--methods", "pearson", "-p", "{dir}/out.png"],
    ),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupt_leaves_nothing_half_written(name, csv, run, monkeypatch):
    place, words = INTERRUPTED[name]
    monkeypatch.setattr(place, interrupt)
    before = set(csv.parent.iterdir())
    result = run(*(word.format(csv=csv, dir=csv.parent) for word in words))
    assert result.exit_code == ExitCode.INTERRUPTED, result.output
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Interrupted")
    assert "Traceback" not in result.output
    assert set(csv.parent.iterdir()) == before


@pytest.mark.parametrize("words", [["--help"], ["select", "-h"], ["compare", "-h"], ["demo", "-h"]])
def test_help_teaches(words, run):
    result = run(*words)
    assert result.exit_code == 0
    assert "covmin demo" in result.stdout or "Examples" in result.stdout
    assert "Exit codes" in result.stdout


def test_version_and_no_arguments(run):
    import covmin

    assert run("--version").stdout.strip() == f"covmin {covmin.__version__}"
    assert "Usage" in run().output


def test_heavy_parts_are_imported_by_the_commands_that_need_them():
    heavy = {"matplotlib", "jinja2", "covmin.report", "covmin.evaluation"}
    code = f"import sys, covmin.cli.app; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("covmin se", "select"),
        ("covmin select {csv} --tar", "--target"),
        ("covmin select {csv} --target gr", "group"),
        ("covmin compare {csv} --drop x", "x9"),
    ],
)
def test_shell_completion(typed, offered, csv):
    words = typed.format(csv=csv)
    env = {
        **os.environ,
        "_COVMIN_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    command = [sys.executable, "-m", "covmin"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert offered in done.stdout.split(), done.stderr
