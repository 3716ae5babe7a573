"""The application, and a table in memory and in a file."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from covmin.datasets import make_xor

# The command line is an extra.
collect_ignore_glob = [] if find_spec("typer") and find_spec("rich") else ["test_*.py"]


@pytest.fixture
def run():
    """Run a command as it would in a terminal of 80 columns, whatever this one has."""
    from typer.testing import CliRunner

    from covmin.cli.app import app

    runner = CliRunner(env={"COLUMNS": "80"})
    return lambda *words, **options: runner.invoke(app, [str(word) for word in words], **options)


@pytest.fixture(scope="session")
def table():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
    frame["group"] = np.array(["red", "green", "blue", "white"])[y]
    return frame


@pytest.fixture
def csv(table, tmp_path):
    path = tmp_path / "data.csv"
    table.to_csv(path, index=False)
    return path
