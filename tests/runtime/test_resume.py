"""Results on disk: a kill or a full disk loses the last line at most; files are written whole."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from covmin.runtime.resume import ResultLog, replace_file

from .full_disk import full_disk, posix


def test_a_log_cut_off_anywhere_keeps_its_whole_lines(tmp_path):
    path = tmp_path / "log.jsonl"
    with ResultLog(path, {"seed": 0}) as log:
        for fold in range(2):
            log.append({"fold": fold}, {"score": fold / 4})
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with ResultLog(path, {"seed": 0}) as log:
            n_whole = max(whole[:length].count(b"\n") - 1, 0)
            assert [{"fold": k} in log for k in range(2)] == [k < n_whole for k in range(2)]
            for fold in range(n_whole, 2):
                log.append({"fold": fold}, {"score": fold / 4})
        assert path.read_bytes() == whole


@posix
def test_a_full_disk_keeps_the_lines_before(tmp_path):
    path = tmp_path / "log.jsonl"
    with ResultLog(path, {"seed": 0}) as log:
        log.append({"fold": 0}, "short")
        with (
            full_disk(room=path.stat().st_size + 50),
            pytest.raises(OSError, match="File too large; all earlier results are kept"),
        ):
            log.append({"fold": 1}, "long" * 100)
    with ResultLog(path, {"seed": 0}) as log:
        assert {"fold": 1} not in log
        log.append({"fold": 1}, "once there is room")
    with ResultLog(path, {"seed": 0}) as log:
        assert log[{"fold": 0}] == "short"
        assert log[{"fold": 1}] == "once there is room"


def test_a_log_of_other_settings_says_what_differs(tmp_path):
    path = tmp_path / "log.jsonl"
    with ResultLog(path, {"seed": 0, "kernel": "gaussian"}) as log:
        log.append({"fold": 0}, 0.5)
    with pytest.raises(ValueError, match="seed: 0 in the file, 1 in this run") as refused:
        ResultLog(path, {"seed": 1, "kernel": "gaussian"})
    assert "kernel" not in str(refused.value)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "log.jsonl"
    with ResultLog(path, {"seed": 0}) as log:
        log.append({"fold": 0}, 0.5)
    path.write_bytes(path.read_bytes() + b"{broken\n")
    with pytest.raises(ValueError, match=r"log\.jsonl is damaged .* delete it"):
        ResultLog(path, {"seed": 0})


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


@posix
def test_a_device_is_written_to_and_not_replaced():
    with pytest.raises(OSError, match="No space left"):
        replace_file("/dev/full", b"data")
    replace_file("/dev/null", b"data")
    assert all(stat.S_ISCHR(os.stat(path).st_mode) for path in ("/dev/full", "/dev/null"))


@posix
def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with full_disk(room=200), pytest.raises(OSError, match="File too large"):
        replace_file(path, bytes(300))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_a_kill_leaves_the_old_file(tmp_path):
    """At the last moment before the new one takes its place."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    script = f"""if True:
        import os, pathlib, signal
        from covmin.runtime.resume import replace_file
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        replace_file(pathlib.Path({str(path)!r}), b"new")
        """
    assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
