"""Full disks, kills, permissions, several processes: nothing is lost, nothing half written."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from covmin import CCMSelector
from covmin.datasets import load, make_shell, make_xor
from covmin.runtime.files import replace_file
from covmin.runtime.log import ResultLog

pytest.importorskip("typer")
from typer.testing import CliRunner

from covmin.cli.app import app
from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.tables import read_table

posix = pytest.mark.skipif(sys.platform == "win32", reason="limits and modes of POSIX")


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *words: runner.invoke(app, [str(word) for word in words])


@pytest.fixture
def csv(tmp_path):
    X, y = make_xor(40, random_state=0, return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]).assign(group=y)
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


# Full disks -----------------------------------------------------------------------------------

# A file may grow to so many bytes, and then the disk is full.
FULL_DISK = """
    import resource, signal, sys
    import numpy as np
    from covmin import CCMSelector
    from covmin.cli.main import main
    {before}
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
    {work}
"""


def on_a_full_disk(work, *words, room=200, before=""):
    code = textwrap.dedent(FULL_DISK.format(work=work, room=room, before=before))
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True
    )


@posix
@pytest.mark.parametrize(
    ("option", "name"),
    [("--report", "out.html"), ("--output", "out.csv"), ("--output", "out.parquet")],
)
def test_a_full_disk_leaves_the_old_file(option, name, csv):
    path = csv.parent / name
    path.write_text("old")
    words = ("select", csv, "-t", "group", "-m", 2, "--max-iter", 5, option, path)
    done = on_a_full_disk("main()", *words)
    assert done.returncode == ExitCode.OUTPUT, done.stderr
    assert "cannot be written: File too large" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert path.read_text() == "old"
    assert sorted(file.name for file in csv.parent.iterdir()) == sorted(["data.csv", name])


@posix
def test_a_full_disk_keeps_finished_units_of_an_experiment(tmp_path):
    words = ["reproduce", "synthetic", "--quick", "--quiet", "--only", "pearson"]
    words += ["--repeats", 3, "--samples", 6, "-o", tmp_path]
    done = on_a_full_disk("main()", *words, room=900)
    assert done.returncode == ExitCode.OUTPUT, done.stderr
    assert "File too large" in done.stderr
    assert "takes it up" in done.stderr
    assert "Traceback" not in done.stderr
    log = tmp_path / "results" / "synthetic-quick.jsonl"
    finished = log.read_bytes().split(b"\n")[:-1]
    assert len(finished) > 1
    assert CliRunner().invoke(app, [str(word) for word in words]).exit_code == 0
    assert log.read_bytes().split(b"\n")[: len(finished)] == finished
    assert len(log.read_bytes().splitlines()) == 1 + 3


@posix
def test_a_full_disk_keeps_the_stages_of_a_fit(tmp_path):
    data = "X, y = np.random.default_rng(0).standard_normal((40, 30)), np.arange(40) % 2"
    work = f"CCMSelector(2, checkpoint={str(tmp_path / 'c')!r}, checkpoint_after=0.0).fit(X, y)"
    done = on_a_full_disk(work, room=3000, before=data)
    assert "the results before this one are kept" in done.stderr.splitlines()[-1], done.stderr
    assert len((tmp_path / "c").read_bytes().split(b"\n")) > 2
    X, y = np.random.default_rng(0).standard_normal((40, 30)), np.arange(40) % 2
    resumed = CCMSelector(2, checkpoint=tmp_path / "c", checkpoint_after=0.0).fit(X, y)
    assert_array_equal(resumed.ranking_, CCMSelector(2).fit(X, y).ranking_)
    assert not (tmp_path / "c").exists()


@posix
def test_a_device_is_written_to_and_not_replaced(csv, run):
    result = run("select", csv, "-t", "group", "-m", 2, "--report", "/dev/full")
    assert result.exit_code == ExitCode.OUTPUT
    assert "No space left" in result.stderr
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
    assert run("select", csv, "-t", "group", "-m", 2, "--report", "/dev/null").exit_code == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


# Kills ----------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="jobs are forked")
@pytest.mark.parametrize("name", ["experiment", "fit", "file"])
def test_killed_jobs_lose_nothing(name):
    kills = pytest.importorskip("experiments.kills")
    assert kills.survive(kills.JOBS[name](), 3)["kills"] == 3


def test_a_log_cut_off_anywhere_keeps_its_whole_lines(tmp_path):
    path = tmp_path / "log.jsonl"
    with ResultLog(path, {"seed": 0}) as log:
        for fold in range(3):
            log.append({"fold": fold}, {"score": fold / 4})
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with ResultLog(path, {"seed": 0}) as log:
            n_whole = max(whole[:length].count(b"\n") - 1, 0)
            assert [{"fold": k} in log for k in range(3)] == [k < n_whole for k in range(3)]
            for fold in range(n_whole, 3):
                log.append({"fold": fold}, {"score": fold / 4})
        assert path.read_bytes() == whole


# Files that are written -----------------------------------------------------------------------


@posix
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o027])
def test_new_files_obey_the_umask(umask, tmp_path):
    before = os.umask(umask)
    try:
        replace_file(tmp_path / "new", b"data")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~umask


@posix
def test_a_replaced_file_keeps_its_mode_and_a_link_its_place(tmp_path):
    path, link = tmp_path / "secret", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o600)
    link.symlink_to(path)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_name_as_long_as_the_file_system_takes(tmp_path):
    path = tmp_path / ("x" * 250 + ".csv")
    replace_file(path, b"data")
    assert path.read_bytes() == b"data"


# Files that are read --------------------------------------------------------------------------


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def test_nothing_is_unpickled(tmp_path, run):
    mark = tmp_path / "mark"
    evil = np.array([Bomb(mark)] * 4, dtype=object)
    np.save(tmp_path / "evil.npy", evil)
    np.savez(tmp_path / "evil.npz", X=np.ones((4, 2)), y=evil)
    (tmp_path / "evil.pkl").write_bytes(pickle.dumps(Bomb(mark)))
    for name in ("evil.npy", "evil.pkl"):
        for fmt in ("csv", "tsv", "npz", "mat", "parquet", "feather"):
            (tmp_path / "disguised").write_bytes((tmp_path / name).read_bytes())
            result = run("select", tmp_path / "disguised", "-t", 0, "--format", fmt)
            assert result.exit_code in (ExitCode.INPUT, ExitCode.COLUMN, ExitCode.DATA)
    result = run("select", tmp_path / "evil.npz", "-t", "y")
    assert result.exit_code == ExitCode.INPUT
    assert "pickle" in result.stderr
    assert not mark.exists()


def test_archives_write_nothing_outside(tmp_path):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../escaped.csv", "a,b\n1,2\n")
    assert list(read_table(str(path))) == ["a", "b"]
    assert [file.name for file in tmp_path.iterdir()] == ["evil.zip"]
    assert not (tmp_path.parents[1] / "escaped.csv").exists()


@pytest.mark.parametrize("name", ["../wine", "/etc/passwd", "wine/../../x", "..\\wine", "wine\0"])
def test_names_of_sets_cannot_leave_the_folder(name, tmp_path):
    with pytest.raises(ValueError, match="No data set is called"):
        load(name, data_home=tmp_path)


# What random input has shown (experiments/fuzz.py) --------------------------------------------


@pytest.mark.parametrize("fmt", ["csv", "tsv", "npz", None])
@pytest.mark.parametrize("name", ["table.zip", "table.csv.zip", "table.tar", "table.csv.zst"])
def test_the_name_of_a_file_does_not_choose_how_it_is_unpacked(name, fmt, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(CommandError) as caught:
        read_table(str(path), fmt=fmt)
    assert caught.value.code == ExitCode.INPUT
    path.write_bytes(b"a,b\n1,2\n")
    assert fmt == "npz" or read_table(str(path), fmt=fmt).size in (1, 2)


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i4", "<f8"])
def test_arrays_of_another_byte_order(dtype, tmp_path, run):
    X, y = make_xor(40, random_state=0, return_X_y=True)
    path = tmp_path / "big.npz"
    np.savez(path, X=(100 * X).astype(dtype), y=y.astype(">i8"))
    words = ("-t", "y", "-m", 2, "--max-iter", 5, "--missing", "rows", "--drop", "x3")
    result = run("select", path, *words)
    assert result.exit_code == 0, result.output
    assert run("select", path, "-t", "-1", "-m", 1).exit_code == 0


@posix
def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    with subprocess.Popen(["sh", "-c", 'printf "a,b\\n1,2\\n" > "$0"', str(path)]):
        assert read_table(str(path)).to_dict("list") == {"a": [1], "b": [2]}


def test_a_damaged_file_in_a_folder_is_an_input_error(tmp_path, run):
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


@pytest.mark.parametrize("words", [["synthetic"], ["real"]])
def test_an_experiment_without_results_says_so(words, tmp_path, run):
    result = run("reproduce", *words, "--quick", "--no-run", "-o", tmp_path)
    assert result.exit_code == ExitCode.INPUT, result.output
    assert "--no-run" in result.stderr


@pytest.mark.parametrize("value", [-1e-300, 0.1, 1e300, 1 / 3])
def test_a_constant_column_of_any_size_is_constant_to_the_report(value, csv, run):
    frame = pd.read_csv(csv).assign(flat=value, tiny=lambda t: 1e-300 * t["x3"])
    frame.assign(huge=1e300 * frame["x4"]).to_csv(csv, index=False)
    report = csv.parent / "r.html"
    words = ("-t", "group", "-m", 3, "--max-iter", 5, "--report", report)
    result = run("select", csv, *words)
    assert result.exit_code == 0, result.output
    assert "flat" in report.read_text("utf-8")


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_names_that_no_file_can_have(option, csv, run):
    name = csv.parent / ("x" * 300 + ".csv")
    result = run("select", csv, "-t", "group", option, name)
    assert result.exit_code == ExitCode.OUTPUT
    assert "too long" in " ".join(result.stderr.split())
    result = run("select", name, "-t", "group")
    assert result.exit_code == ExitCode.INPUT
    assert "too long" in " ".join(result.stderr.split())


def test_an_unknown_set_is_wrong_usage(tmp_path, run):
    result = run("reproduce", "real", "--dataset", "wien", "-o", tmp_path)
    assert result.exit_code == ExitCode.USAGE
    assert "Did you mean 'wine'" in result.stderr


def test_text_cannot_be_regressed_on(csv, run):
    frame = pd.read_csv(csv)
    frame.assign(group="class " + frame["group"].astype(str)).to_csv(csv, index=False)
    for command in ("select", "compare"):
        result = run(command, csv, "-t", "group", "--task", "regression")
        assert result.exit_code == ExitCode.DATA, result.output
        assert "--task regression needs numbers" in " ".join(result.stderr.split())


def test_random_input_ends_well(tmp_path, monkeypatch):
    fuzz = pytest.importorskip("experiments.fuzz")
    monkeypatch.chdir(tmp_path)
    for number in range(60):
        case = fuzz.make_case(8, number)
        folder = tmp_path / str(number)
        folder.mkdir()
        outcome, wrong = fuzz.try_case(case, folder)
        assert wrong is None, f"{case}: {outcome}\n{wrong}"


# Several processes ----------------------------------------------------------------------------


def fitted_ranking(seed):
    X, y = make_shell(80, n_noise=20, random_state=seed, return_X_y=True)
    return CCMSelector(3, random_state=seed).fit(X, y).ranking_


def test_fits_at_once_in_processes():
    from joblib import Parallel, delayed

    expected = [fitted_ranking(seed) for seed in range(3)]
    found = Parallel(n_jobs=2, backend="loky")(
        delayed(fitted_ranking)(seed) for seed in [0, 1, 2] * 2
    )
    assert_array_equal(found, expected * 2)


# Versions -------------------------------------------------------------------------------------


def test_a_pickle_of_another_version_says_so(monkeypatch):
    from covmin import KnockoffSelector, StabilitySelector
    from covmin.baselines import BAHSICSelector

    for selector in (CCMSelector(2), KnockoffSelector(), StabilitySelector(), BAHSICSelector(2)):
        kept = pickle.dumps(selector)
        assert pickle.loads(kept).get_params().keys() == selector.get_params().keys()
        with monkeypatch.context() as patch:
            patch.setattr("covmin.runtime.version.__version__", "9.9")
            with pytest.warns(UserWarning, match=r"pickled by covmin .* loaded by 9\.9.*Fit it"):
                again = pickle.loads(kept)
        assert not hasattr(again, "_covmin_version")


def test_a_pickle_without_a_version_says_so():
    state = CCMSelector(2).__getstate__()
    del state["_covmin_version"]
    with pytest.warns(UserWarning, match="an unknown version"):
        CCMSelector().__setstate__(state)
