"""A disk that is full after so many bytes of a file."""

import sys
from contextlib import contextmanager

import pytest

posix = pytest.mark.skipif(sys.platform == "win32", reason="limits and modes of POSIX")


@contextmanager
def full_disk(room):
    """No file grows beyond ``room`` bytes while the block runs."""
    import resource

    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
