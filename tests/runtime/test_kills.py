"""Work killed at random moments and started again: nothing is lost, the answer is the same."""

import json
import multiprocessing
import os
import random
import signal
import sys
import time
import zlib

import pytest

from covmin import CCMSelector, LongRun
from covmin.datasets import make_shell
from covmin.runtime.resume import replace_file

N_KILLS = 3


def lines(path):
    """Records of a log; only what follows the last end of a line may be torn."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def fit(folder):
    X, y = make_shell(100, n_noise=40, random_state=0, return_X_y=True)
    long_run = LongRun(folder / "log.jsonl")
    fitted = CCMSelector(long_run=long_run).fit(X, y)
    return [fitted.ranking_.tolist(), fitted.weights_.tolist()]


def versions(path):
    """Versions of a file so far, known by that of a whole file."""
    header, _, body = path.read_bytes().partition(b"\n")
    version, check = map(int, header.split())
    assert zlib.crc32(body) == check
    return list(range(version + 1))


def replacing(folder):
    """A file of a megabyte that is replaced by its next version, 60 times."""
    path = folder / "log.jsonl"
    for version in range(len(versions(path)) if path.exists() else 0, 60):
        body = random.Random(version).randbytes(1 << 20)
        replace_file(path, b"%d %d\n" % (version, zlib.crc32(body)) + body)
    return versions(path)


def quietly(job, folder):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    job(folder)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="jobs are forked")
@pytest.mark.parametrize(("job", "kept"), [(fit, lines), (replacing, versions)])
def test_jobs_killed_at_random_moments_lose_nothing(job, kept, tmp_path):
    calm, folder = tmp_path / "calm", tmp_path / "killed"
    calm.mkdir()
    folder.mkdir()
    start = time.perf_counter()
    expected = job(calm)
    longest = (time.perf_counter() - start) / 3.0
    moments, path, before = random.Random(0), folder / "log.jsonl", []
    for _ in range(N_KILLS):
        process = multiprocessing.get_context("fork").Process(target=quietly, args=(job, folder))
        process.start()
        process.join(moments.uniform(0.0, longest))
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        now = kept(path) if path.exists() else []
        # A fit that ends takes its checkpoint away; anything else may only grow.
        assert now[: len(before)] == before or (job is fit and not now)
        before = now
    assert job(folder) == expected
