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
from covmin.runtime import progress
from covmin.runtime.progress import ProgressBar, is_watched


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
        bar.say("a plan")
        bar.show("path", "stage", 1, 5)
        time.sleep(seconds)
        bar.show("path", "stage", 3, 5, "half of it")


def test_a_bar_shows_when_work_lasts_and_goes_away(soon):
    shown = at_terminal(work, 0.3)
    assert "covmin path" in shown
    assert "1/5" in shown  # though nothing was told while it waited
    assert "a plan" not in shown
    assert shown.split("\r")[-1].strip() == ""


def test_short_work_shows_nothing(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 30.0)
    assert at_terminal(work, 0.0) == ""


def test_nothing_shows_where_nobody_watches(soon, capsys):
    assert not is_watched()
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
    assert ProgressBar._n_open == 0


def test_a_notebook_is_watched(monkeypatch):
    shell = type("ZMQInteractiveShell", (), {})
    module = type("IPython", (), {"get_ipython": staticmethod(shell)})
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert is_watched()


def test_without_tqdm_lines_are_printed(soon, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    shown = at_terminal(work, 0.3)
    assert shown == "covmin path, stage 1/5\ncovmin path, stage 3/5, about 0:00:00 left\n"


@pytest.mark.parametrize(
    ("first", "rest"),
    [(0, ["", ", about 0:03:20 left", ", about 0:01:40 left", ""]), (2, ["", ""])],
)
def test_the_rest_takes_as_long_as_what_is_done(monkeypatch, capsys, first, rest):
    """A unit takes 100 seconds; units of an earlier run took no time of this one."""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    with ProgressBar.shown(1) as bar:
        for done in range(first, 4):
            bar.show("cross-validation", "fold", done, 3)
            now[0] += 100.0
    lines = capsys.readouterr().err.splitlines()
    said = [f"covmin cross-validation, fold {first + k}/3{text}" for k, text in enumerate(rest)]
    assert lines == said


def test_many_units_print_few_lines(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with ProgressBar.shown(1) as bar:
        for done in range(1001):
            bar.show("runs", "unit", done, 1000)
    assert len(capsys.readouterr().err.splitlines()) == 21


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
