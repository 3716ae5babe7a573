"""A fit that is followed and interrupted."""

from __future__ import annotations

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
        "from covmin.runtime.run import Run\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "Run.step = lambda *_: signal.raise_signal(signal.SIGINT)\n"
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
