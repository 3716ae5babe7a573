"""The entry point."""

from __future__ import annotations

import sys

import pytest

from covmin.cli.errors import ExitCode
from covmin.cli.main import main


def interrupt(*_, **__):
    raise KeyboardInterrupt


def test_entry_point_without_the_extra_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "covmin.cli.app")
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    assert 'pip install "covmin[cli]"' in capsys.readouterr().err


def test_entry_point_runs_the_application(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["covmin", "--version"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert not caught.value.code
    assert capsys.readouterr().out.startswith("covmin ")


def test_an_early_interrupt_has_its_code_too(monkeypatch, capsys):
    monkeypatch.setattr("covmin.cli.app.app", interrupt)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "Interrupted: nothing was written.\n"
