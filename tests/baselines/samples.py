"""Data with a known signal, and the selectors that every promise is tested on."""

import numpy as np
import pytest
from sklearn.base import clone

from covmin.baselines import available_selectors

# Few trees: what is tested here does not depend on how good the forest is.
SELECTORS = [
    selector(n_estimators=30) if name == "extra-trees" else selector()
    for name, selector in available_selectors().items()
]
# Score and elimination do not depend on the order of the columns (but for rounding).
EQUIVARIANT = [s for s in SELECTORS if not hasattr(s, "random_state")]
every_selector = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
every_task = pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])


def make_data(task, n=40, d=12, seed=0):
    """Columns 3 and 7 carry the signal; the rest is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signal = X[:, 3] + 0.8 * X[:, 7]
    if task == "binary":
        return X, np.where(signal > 0, "yes", "no")
    if task == "multiclass":
        return X, np.digitize(X[:, 3], [0.0]) + 2 * np.digitize(X[:, 7], [0.0])
    return X, signal + 0.1 * rng.normal(size=n)


def clone_of(selector, **parameters):
    """Fresh copy, with some parameters changed."""
    return clone(selector).set_params(**parameters)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)
