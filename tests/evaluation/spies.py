"""Selectors that say what they saw, or fail."""

import numpy as np
from sklearn.base import BaseEstimator

SEEN: list[list[int]] = []


class Spy(BaseEstimator):
    """Ranks columns by position and records the rows it was fitted on (column 0 is the row)."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        SEEN.append(sorted(int(row) for row in X[:, 0]))
        self.ranking_ = np.arange(1, X.shape[1] + 1)
        return self


class Widest(BaseEstimator):
    """Ranks columns by their range."""

    def fit(self, X, y):
        self.scores_ = np.ptp(X, axis=0)
        return self


class Broken(BaseEstimator):
    """Fails on fewer than 20 rows."""

    def fit(self, X, y):
        if len(X) < 20:
            raise RuntimeError("too few")
        self.ranking_ = np.arange(1, X.shape[1] + 1)
        return self
