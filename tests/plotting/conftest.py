"""A fitted selector to draw, and figures closed after each test."""

from __future__ import annotations

import pytest
from matplotlib import pyplot as plt

from covmin import CCMSelector
from covmin.datasets import make_xor

plt.switch_backend("Agg")


@pytest.fixture(scope="module")
def fixed():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    return CCMSelector(3, random_state=0).fit(X, y)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")
