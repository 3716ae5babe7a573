"""MATLAB files."""

from __future__ import annotations

import numpy as np
import pytest

from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.tables import Source, parse_table, read_table


def damaged_mat():
    """A sparse matrix with numbers of a type that does not exist: scipy's reader crashes."""
    import io

    from scipy.io import savemat
    from scipy.sparse import csc_matrix

    buffer = io.BytesIO()
    savemat(buffer, {"X": csc_matrix(np.eye(5)), "y": np.arange(5.0)})
    return buffer.getvalue().replace(b"\x05\0\0\0\x18\0\0\0", b"\0\0\0\0\x18\0\0\0", 1)


def test_a_mat_file_that_crashes_the_reader_is_an_input_error():
    with pytest.raises(CommandError, match=r"mat file.*damaged") as caught:
        parse_table(damaged_mat(), Source("-"))
    assert caught.value.code == ExitCode.INPUT


def test_a_mat_file_is_read_without_importing_what_lies_beside_it(tmp_path, monkeypatch):
    from scipy.io import savemat

    (tmp_path / "secrets.py").write_text("raise SystemExit(9)")
    savemat(tmp_path / "data.mat", {"X": np.eye(3), "y": np.array(["a", "", "b"], dtype=object)})
    monkeypatch.chdir(tmp_path)
    table = read_table("data.mat")
    assert list(table["y"]) == ["a", "", "b"]
