"""The tables that fits are timed on: five true features, two of them by their product alone."""

from __future__ import annotations

import argparse

import numpy as np

TASKS = ("classes", "numbers")
# True features are the first.
TRUE = 5


def table(n: int, d: int, task: str) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) of normal values and a response, as numbers or as two classes of equal size."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    f = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + X[:, 3] + 0.5 * X[:, 4] ** 2
    f += 0.5 * rng.standard_normal(n)
    return X, (f > np.median(f)).astype(int) if task == "classes" else f


def shape_of(text: str) -> tuple[int, int]:
    """Rows and columns, written as 1000x100."""
    try:
        n, d = (int(part) for part in text.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not like 1000x100") from None
    if d < TRUE:
        raise argparse.ArgumentTypeError(f"{text} has fewer than {TRUE} columns")
    return n, d
