"""Commands, from the words typed to the exit code."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from covmin.cli.errors import ExitCode
from covmin.cli.main import main


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["{csv}", "-t", "grup"], ExitCode.COLUMN, "Did you mean group?"),
        (["{csv}", "-t", "99"], ExitCode.COLUMN, "from 0 to 10"),
        (["{csv}", "-t", "group", "--drop", "X33"], ExitCode.COLUMN, "Did you mean x3"),
        (["{csv}"], ExitCode.USAGE, "--target"),
        (["{csv}", "-t", "x0", "--set", "column_types=strict"], ExitCode.DATA, "'group'"),
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
    "demo": ("covmin.report.render_report", ["demo", "--report", "{dir}/out.html"]),
    "compare": (
        "covmin.evaluation.curves.rank_features",
        ["compare", "{csv}", "-t", "group", "--methods", "pearson"],
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


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii", "utf-8"])
def test_output_in_any_encoding(encoding, table, tmp_path, monkeypatch):
    path = tmp_path / "ok.csv"
    table.rename(columns={"x0": "größe→"}).to_csv(path, index=False)

    def run_main(*words):
        out = io.TextIOWrapper(io.BytesIO(), encoding)
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding))
        monkeypatch.setattr(sys, "argv", ["covmin", "select", str(path), *words])
        with pytest.raises(SystemExit) as caught:
            main()
        out.flush()
        return caught.value.code, out.buffer.getvalue().decode(encoding)

    code, shown = run_main("-t", "group", "-m", "2")
    assert not code
    assert "selected" in shown
    # Arrows and bars can be read in any of them.
    end, bar = ("e→ ", "━") if encoding == "utf-8" else ("e> ", "==========")
    assert end in shown
    assert bar in shown
    _, shown = run_main("-t", "group", "-m", "2", "--json")
    assert "größe→" in [row["name"] for row in json.loads(shown)["features"]]
    assert run_main("-t", "groß→")[0] == ExitCode.COLUMN
    assert not run_main("--help")[0]


def test_entry_point_without_the_extra_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "covmin.cli.app")
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    assert 'pip install "covmin[cli]"' in capsys.readouterr().err


def test_an_early_interrupt_has_its_code_too(monkeypatch, capsys):
    monkeypatch.setattr("covmin.cli.app.app", interrupt)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "Interrupted: nothing was written.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_control_c_ends_a_running_fit(csv):
    code = (
        "import signal\n"
        "from covmin.cli.main import main\n"
        "from covmin.runtime.run import Run\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "Run.step = lambda *_: signal.raise_signal(signal.SIGINT)\n"
        "main()"
    )
    words = ["select", str(csv), "-t", "group", "--report", str(csv.parent / "report.html")]
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == ExitCode.INTERRUPTED, done.stderr
    assert done.stderr.strip() == "Interrupted: nothing more was written."
    assert list(csv.parent.iterdir()) == [csv]
