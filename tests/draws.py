"""Tables that tests of several packages draw."""

import numpy as np


def gene_like(n=60, d=300, flipped=0.0, seed=0):
    """Two classes that the first six of d features tell, some labels wrong."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, :6] += 1.6 * y[:, None]
    wrong = rng.permutation(n)[: round(flipped * n)]
    y[wrong] = 1 - y[wrong]
    return X, y


def of_two_columns(task, n=40, d=12, seed=0):
    """Columns 3 and 7 carry the signal; the rest is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signal = X[:, 3] + 0.8 * X[:, 7]
    if task == "binary":
        return X, np.where(signal > 0, "yes", "no")
    if task == "multiclass":
        return X, np.digitize(X[:, 3], [0.0]) + 2 * np.digitize(X[:, 7], [0.0])
    return X, signal + 0.1 * rng.normal(size=n)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)
