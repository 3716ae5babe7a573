"""Arrays in files."""

from __future__ import annotations

import numpy as np
import pytest

from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.tables import read_table

TRUE = ["x0", "x1", "x2"]


@pytest.mark.parametrize("name", ["out.npz", "out.mat"])
def test_arrays_go_round(name, csv, table, tmp_path, run):
    path = tmp_path / name
    assert run("select", csv, "-t", "group", "-m", 3, "-o", path).exit_code == 0
    written = read_table(str(path))
    assert list(written) == [*TRUE, "y"]
    np.testing.assert_allclose(written[TRUE], table[TRUE])
    assert written["y"].tolist() == table["group"].tolist()


def test_object_arrays_are_not_unpickled(tmp_path):
    path = tmp_path / "evil.npz"
    np.savez(path, X=np.ones((3, 2)), y=np.array([{}, [], ()], dtype=object))
    with pytest.raises(CommandError, match="npz") as caught:
        read_table(str(path))
    assert caught.value.code == ExitCode.INPUT
