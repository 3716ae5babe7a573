"""A fit that is followed and interrupted."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

from covmin import CCMSelector, LongRun
from covmin.cli.errors import ExitCode
from covmin.datasets import make_xor


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_control_c_ends_a_running_fit(tmp_path):
    X, y = make_xor(60, random_state=0, return_X_y=True)
    source, report = tmp_path / "data.csv", tmp_path / "report.html"
    pd.DataFrame(X).assign(y=y).to_csv(source, index=False)
    code = (
        "import signal\n"
        "from covmin.cli.main import main\n"
        "from covmin.cli.progress import FitProgress\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "FitProgress.__call__ = lambda *_: signal.raise_signal(signal.SIGINT)\n"
        "main()"
    )
    words = ["select", str(source), "-t", "y", "--report", str(report)]
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == ExitCode.INTERRUPTED, done.stderr
    assert done.stderr.strip() == "Interrupted: nothing more was written."
    assert list(tmp_path.iterdir()) == [source]


def test_progress_follows_folds_and_stages(table):
    class Listener:
        folds, steps = [], 0

        def fold(self, done, total):
            self.folds.append((done, total))

        def __call__(self, step):
            self.steps += 1

    listener = Listener()
    CCMSelector(long_run=LongRun(callback=listener)).fit(
        table.drop(columns="group"), table["group"]
    )
    assert listener.folds == [(k, 5) for k in range(1, 6)]
    assert listener.steps > 0


def test_an_estimate_ends_before_the_fit(csv, run, monkeypatch, tmp_path):
    def never(*_, **__):
        raise AssertionError("nothing is fitted")

    monkeypatch.setattr("covmin.selection.selector.run_path", never)
    monkeypatch.setattr("covmin.selection.selector.cross_fit", never)
    report = tmp_path / "report.html"
    shown = run("select", csv, "-t", "group", "--estimate", "--report", report)
    assert shown.exit_code == 0
    assert "exact kernel matrix" in shown.stdout
    assert "This takes about" in shown.stdout
    assert not report.exists()
    told = json.loads(run("select", csv, "-t", "group", "--estimate", "--json").stdout)
    assert {"topic", "choice", "reason"} == set(told["plan"][0])
    assert told["seconds"] >= 0.0


def test_an_estimate_counts_the_verdicts(csv, run, monkeypatch):
    monkeypatch.setattr("covmin.runtime.workload.products_per_second", lambda: 1e9)
    words = ("select", csv, "-t", "group", "--estimate", "--json")
    plain, with_verdicts = (
        json.loads(run(*words, *more).stdout)["seconds"] for more in ((), ("--verdicts",))
    )
    assert with_verdicts > plain > 0.0
