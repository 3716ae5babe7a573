"""Full disks, odd files, several processes: nothing is lost, nothing half written."""

import os
import pickle
import subprocess
import zipfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from covmin import CCMSelector, LongRun
from covmin.datasets import make_shell, make_xor

from .full_disk import full_disk, posix

pytest.importorskip("typer", reason="pip install 'covmin[cli]'")
from typer.testing import CliRunner

from covmin.cli.app import app
from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.files import FileOptions, read_file


def run(*words):
    """A command in a terminal of 80 columns."""
    return CliRunner(env={"COLUMNS": "80"}).invoke(app, [str(word) for word in words])


def said(result):
    """What went to standard error, on one line."""
    return " ".join(result.stderr.split())


@pytest.fixture
def csv(tmp_path):
    X, y = make_xor(40, random_state=0, return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]).assign(group=y)
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


# Full disks -----------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize(
    ("option", "name"),
    [("--report", "out.html"), ("--output", "out.csv"), ("--output", "out.parquet")],
)
def test_a_full_disk_leaves_the_old_file(option, name, csv):
    path = csv.parent / name
    path.write_text("old")
    with full_disk(room=200):
        result = run(
            "select", csv, "-t", "group", "-m", 2, "--set", "formulation__max_iter=5", option, path
        )
    assert result.exit_code == ExitCode.OUTPUT, result.output
    assert "cannot be written: File too large" in said(result)
    assert path.read_text() == "old"
    assert sorted(file.name for file in csv.parent.iterdir()) == sorted(["data.csv", name])


@posix
def test_a_full_disk_keeps_the_stages_of_a_fit(tmp_path):
    X, y = np.random.default_rng(0).standard_normal((40, 30)), np.arange(40) % 2
    path = tmp_path / "fit.jsonl"
    selector = CCMSelector(2, long_run=LongRun(path))
    with (
        full_disk(room=6000),
        pytest.raises(OSError, match="all earlier results are kept"),
    ):
        selector.fit(X, y)
    assert len(path.read_bytes().split(b"\n")) > 2
    assert_array_equal(selector.fit(X, y).ranking_, CCMSelector(2).fit(X, y).ranking_)
    assert not path.exists()


# Files that are read --------------------------------------------------------------------------


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def test_nothing_is_unpickled(tmp_path):
    mark = tmp_path / "mark"
    evil = np.array([Bomb(mark)] * 4, dtype=object)
    np.save(tmp_path / "evil.npy", evil)
    (tmp_path / "evil.pkl").write_bytes(pickle.dumps(Bomb(mark)))
    for name in ("evil.npy", "evil.pkl"):
        for fmt in ("csv", "tsv", "json", "parquet", "feather"):
            (tmp_path / "disguised").write_bytes((tmp_path / name).read_bytes())
            result = run("select", tmp_path / "disguised", "-t", 0, "--format", fmt)
            assert result.exit_code in (ExitCode.INPUT, ExitCode.COLUMN, ExitCode.DATA)
    assert not mark.exists()


def test_archives_write_nothing_outside(tmp_path):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../escaped.csv", "a,b\n1,2\n")
    assert list(read_file(FileOptions(str(path))).frame) == ["a", "b"]
    assert [file.name for file in tmp_path.iterdir()] == ["evil.zip"]
    assert not (tmp_path.parents[1] / "escaped.csv").exists()


# What random input has shown ----------------------------------------------------------------------


@pytest.mark.parametrize("fmt", ["csv", "tsv", None])
@pytest.mark.parametrize("name", ["table.zip", "table.csv.zip", "table.tar"])
def test_damaged_archives_are_input_errors(name, fmt, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"PK\x03\x04 damaged \x00")
    with pytest.raises(CommandError) as caught:
        read_file(FileOptions(str(path), format=fmt))
    assert caught.value.code == ExitCode.INPUT


@posix
def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    with subprocess.Popen(["sh", "-c", 'printf "a,b\\n1,2\\n" > "$0"', str(path)]):
        assert read_file(FileOptions(str(path))).frame.to_dict("list") == {"a": [1], "b": [2]}


def test_a_damaged_file_in_a_folder_is_an_input_error(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 4)), columns=[*"abcy"])
    frame.to_parquet(tmp_path / "1.parquet", compression="gzip")
    whole = (tmp_path / "1.parquet").read_bytes()
    other = frame.rename(columns={"b": "other"})
    other.to_parquet(tmp_path / "2.parquet")
    for content in (whole[:50], b"", whole[:4] + rng.bytes(600) + whole[604:], None):
        if content is not None:
            (tmp_path / "2.parquet").write_bytes(content)
        result = run("select", tmp_path, "-t", "y", "-m", 1)
        assert result.exit_code in (ExitCode.INPUT, ExitCode.DATA), (content, result.output)
        assert result.stderr
        other.to_parquet(tmp_path / "2.parquet")


@pytest.mark.parametrize("value", [-1e-300, 0.1, 1e300, 1 / 3])
def test_a_constant_column_of_any_size_is_constant_to_the_report(value, csv):
    frame = pd.read_csv(csv).assign(flat=value, tiny=lambda t: 1e-300 * t["x3"])
    frame.assign(huge=1e300 * frame["x4"]).to_csv(csv, index=False)
    report = csv.parent / "r.html"
    words = ("-t", "group", "-m", 3, "--set", "formulation__max_iter=5", "--report", report)
    result = run("select", csv, *words)
    assert result.exit_code == 0, result.output
    assert "flat" in report.read_text("utf-8")


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_names_that_no_file_can_have(option, csv):
    name = csv.parent / ("x" * 300 + ".csv")
    result = run("select", csv, "-t", "group", option, name)
    assert result.exit_code == ExitCode.OUTPUT
    assert "too long" in said(result)
    result = run("select", name, "-t", "group")
    assert result.exit_code == ExitCode.INPUT
    assert "too long" in said(result)


# Several processes ----------------------------------------------------------------------------


def fitted_ranking(seed):
    X, y = make_shell(80, n_noise=20, random_state=seed, return_X_y=True)
    return CCMSelector(3, random_state=seed).fit(X, y).ranking_


@pytest.mark.slow
def test_fits_at_once_in_processes():
    from joblib import Parallel, delayed

    expected = [fitted_ranking(seed) for seed in range(3)]
    found = Parallel(n_jobs=2, backend="loky")(
        delayed(fitted_ranking)(seed) for seed in [0, 1, 2] * 2
    )
    assert_array_equal(found, expected * 2)
