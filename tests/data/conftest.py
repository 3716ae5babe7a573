"""An array as a file that is mapped into memory."""

import numpy as np
import pytest


@pytest.fixture
def mapped(tmp_path):
    def saved(array):
        np.save(tmp_path / "X.npy", array)
        return np.load(tmp_path / "X.npy", mmap_mode="r")

    return saved
