"""When a bar shows."""

from __future__ import annotations

import io
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr

import numpy as np
import pytest

from covmin import CCMSelector, StabilitySelector
from covmin.runtime import run as progress
from covmin.runtime.run import ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def at_terminal(work, *arguments):
    """What some work writes to a terminal; pytest gives fixtures another one."""
    with redirect_stderr(Terminal()) as stream:
        work(*arguments)
    return stream.getvalue()


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.05)


def work(seconds):
    with ProgressBar.shown("auto") as bar:
        bar.show("path", "stage", 1, 5)
        time.sleep(seconds)
        bar.show("path", "stage", 3, 5, "half of it")


def test_a_bar_shows_when_work_lasts_and_goes_away(soon):
    shown = at_terminal(work, 0.3)
    assert "covmin path" in shown
    assert "3/5" in shown
    assert shown.split("\r")[-1].strip() == ""


def test_short_work_shows_nothing(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 30.0)
    assert at_terminal(work, 0.0) == ""


def test_nothing_shows_where_nobody_watches(soon, capsys):
    work(0.2)
    assert capsys.readouterr().err == ""


def test_nothing_shows_in_other_threads(soon):
    with ThreadPoolExecutor(1) as pool:
        assert at_terminal(lambda: pool.submit(work, 0.2).result()) == ""


def test_work_inside_of_other_work_shows_nothing(soon):
    def inside():
        with ProgressBar.shown(0):
            work(0.2)

    assert at_terminal(inside) == ""
    assert "covmin path" in at_terminal(work, 0.2)  # on its own again


def test_a_notebook_is_watched(monkeypatch):
    with ProgressBar.shown("auto") as bar:
        assert bar.silent
    shell = type("ZMQInteractiveShell", (), {})
    module = type("IPython", (), {"get_ipython": staticmethod(shell)})
    monkeypatch.setitem(sys.modules, "IPython", module)
    with ProgressBar.shown("auto") as bar:
        assert not bar.silent


def test_without_tqdm_lines_are_printed(soon, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert at_terminal(work, 0.3) == "covmin path, stage 3/5\n"


def test_a_fit_shows_its_bar_by_default(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 1e-6)
    X = np.random.default_rng(0).standard_normal((150, 8))
    assert "covmin path" in at_terminal(CCMSelector().fit, X, X[:, 0])
    assert at_terminal(CCMSelector(verbose=0).fit, X, X[:, 0]) == ""


def test_many_fits_have_one_bar(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 1e-6)
    X = np.random.default_rng(0).standard_normal((60, 5))
    shown = at_terminal(StabilitySelector(CCMSelector(1), n_pairs=2).fit, X, X[:, 0])
    assert "covmin stability" in shown
    assert "stage" not in shown
