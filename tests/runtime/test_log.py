"""Results kept as they come: what is lost to a kill or a full disk is the last line at most."""

import pytest

from covmin.runtime.resume import ResultLog

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
        whole = path.read_bytes()
        with (
            full_disk(room=len(whole) + 50),
            pytest.raises(OSError, match="File too large; all earlier results are kept"),
        ):
            log.append({"fold": 1}, "long" * 100)
        assert path.read_bytes() == whole
        log.append({"fold": 1}, "once there is room")
    with ResultLog(path, {"seed": 0}) as log:
        assert log[{"fold": 0}] == "short"
        assert log[{"fold": 1}] == "once there is room"


@posix
def test_a_disk_that_is_full_from_the_start_is_left_without_a_file(tmp_path):
    path = tmp_path / "log.jsonl"
    with full_disk(room=10), pytest.raises(OSError, match="File too large"):
        ResultLog(path, {"seed": 0}).append({"fold": 0}, "short")
    assert not path.exists()
