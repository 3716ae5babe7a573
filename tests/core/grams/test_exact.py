"""What an exact Gram operator keeps."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose


@pytest.fixture
def w():
    return np.array([0.9, 0.3, 0.0, 0.6])


def test_restrict_keeps_what_was_prepared(registered, draw, w):
    samples = draw(n=15, d=4)
    gram = samples.exact(registered.scaled)
    keep = np.array([0, 1, 3])
    narrowed = gram.restrict(keep)
    fresh = replace(samples, X=samples.X[:, keep]).exact(registered.scaled)
    assert_allclose(narrowed.at(w[keep]).solve(0.1), fresh.at(w[keep]).solve(0.1), rtol=1e-8)
    # w is zero where columns went
    assert_allclose(narrowed.at(w[keep]).solve(0.1), gram.at(w).solve(0.1), rtol=1e-8)
