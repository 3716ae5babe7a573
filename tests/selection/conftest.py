"""Small problems, and selectors that differ in one thing."""

import pytest

from covmin.datasets import make_additive, make_xor


@pytest.fixture
def xor():
    """Three features tell four classes apart, each useless by itself."""
    return make_xor(60, random_state=0, return_X_y=True)


@pytest.fixture
def additive():
    """A real response of four effects among six features."""
    X, y = make_additive(60, random_state=0, return_X_y=True)
    return X[:, :6], y
