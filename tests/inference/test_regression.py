"""Predictions out of fold, as a matrix."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from covmin.inference.regression import out_of_fold_smoother


def test_smoother_never_sees_the_sample_it_predicts():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 2))
    S = out_of_fold_smoother(X, X[:, :1] * X[:, 1:], seed=0)
    assert_array_equal(S.diagonal(), 0.0)
    assert_allclose(S.sum(axis=1), 1.0)  # a constant is predicted as it is
    product = X[:, 0] * X[:, 1]
    assert np.mean((S @ product - product) ** 2) < 0.05 * product.var()
