"""A small table, and a fresh record of what spies saw."""

import matplotlib
import numpy as np
import pytest

from .spies import SEEN

matplotlib.use("Agg")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(40), rng.normal(size=(40, 4))])
    y = (X[:, 1] > 0).astype(int)
    return X, y


@pytest.fixture(autouse=True)
def _forget():
    SEEN.clear()
