"""True features that are kept, on tables whose interactions need most of the rows.

Run by ``python -m experiments.hard --found [--draws 6]``. As many features are kept as are true.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from covmin import CCMSelector

Drawn = tuple[np.ndarray, np.ndarray]


def three_signs(rng: np.random.Generator) -> Drawn:
    """A product of three signs and noise: no pair of features tells anything."""
    X = rng.standard_normal((1000, 20))
    return X, np.sign(X[:, :3]).prod(axis=1) + 0.5 * rng.standard_normal(1000)


def three_signs_wrong_labels(rng: np.random.Generator) -> Drawn:
    """Two classes by a product of three signs, one label in twenty wrong."""
    X = rng.standard_normal((1000, 20))
    y = np.sign(X[:, :3]).prod(axis=1)
    return X, np.where(rng.random(1000) < 0.05, -y, y)


def three_way(rng: np.random.Generator) -> Drawn:
    """A product of three among fifty, beyond the rows of a kernel matrix."""
    X = rng.standard_normal((3000, 50))
    return X, X[:, :3].prod(axis=1) + 0.5 * rng.standard_normal(3000)


def madelon(rng: np.random.Generator) -> Drawn:
    """Clusters at the corners of a five-dimensional cube, one label in a hundred wrong."""
    X, y = make_classification(
        2000,
        100,
        n_informative=5,
        n_redundant=0,
        n_clusters_per_class=16,
        flip_y=0.01,
        shuffle=False,
        random_state=int(rng.integers(2**31)),
    )
    return X, y


def weak_singles(rng: np.random.Generator) -> Drawn:
    """Ten weak effects among two hundred."""
    X = rng.standard_normal((2000, 200))
    return X, 0.12 * X[:, :10].sum(axis=1) + rng.standard_normal(2000)


def product_and_lines(rng: np.random.Generator) -> Drawn:
    """A product of two, a wave, a line and a square among five hundred."""
    X = rng.standard_normal((1000, 500))
    y = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + X[:, 3] + 0.5 * X[:, 4] ** 2
    return X, y + 0.5 * rng.standard_normal(1000)


TABLES: dict[str, tuple[Callable[[np.random.Generator], Drawn], int]] = {
    "three signs, 1000 x 20": (three_signs, 3),
    "three signs, wrong labels, 1000 x 20": (three_signs_wrong_labels, 3),
    "product of three, 3000 x 50": (three_way, 3),
    "corners of a cube, 2000 x 100": (madelon, 5),
    "weak effects, 2000 x 200": (weak_singles, 10),
    "product, wave, line, square, 1000 x 500": (product_and_lines, 5),
}


def run(draws: int) -> pd.DataFrame:
    """Mean share of the true features that are kept, and processor seconds of a fit."""
    rows = []
    for name, (draw, n_true) in TABLES.items():
        shares, start = [], time.process_time()
        for seed in range(draws):
            X, y = draw(np.random.default_rng(seed))
            shares.append(CCMSelector(n_true).fit(X, y).support_[:n_true].mean())
        rows.append(
            {
                "table": name,
                "draws": draws,
                "true features kept": float(np.mean(shares)),
                "all kept in": sum(share == 1.0 for share in shares),
                "seconds": (time.process_time() - start) / draws,
            }
        )
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)
