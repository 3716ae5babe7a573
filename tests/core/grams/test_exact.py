"""What an exact Gram operator keeps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin.core.grams import ExactGram
from covmin.core.kernels import Linear


@pytest.fixture
def w():
    return np.array([0.9, 0.3, 0.0, 0.6])


def test_restrict_keeps_what_was_prepared(registered, draw, w):
    gram = draw(n=15, d=4).exact(registered.scaled)
    keep = np.array([0, 1, 3])
    narrowed = gram.restrict(keep)
    fresh = ExactGram(registered.scaled, gram.X[:, keep], gram.Y, gram.p)
    assert_array_equal(narrowed.X, gram.X[:, keep])
    assert_allclose(narrowed.at(w[keep]).solve(0.1), fresh.at(w[keep]).solve(0.1), rtol=1e-8)
    # w is zero where columns went
    assert_allclose(narrowed.at(w[keep]).solve(0.1), gram.at(w).solve(0.1), rtol=1e-8)


def test_samples_are_not_held_twice(draw):
    gram = draw().exact(Linear())
    assert gram.prepared is gram.X
    narrowed = gram.restrict(np.array([0, 1]))
    assert narrowed.prepared is narrowed.X
