"""How often an interaction is named, or a feature of the spread, where there is none.

Only the search runs, over pairs and over pairs and triples, on tables read as a fit reads them. The
designs of :data:`EFFECTS_OF_SINGLES` have effects, none of them an interaction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from covmin.core.kernels import Gaussian
from covmin.core.problem import Problem
from covmin.core.rows import Sample
from covmin.data import TableOptions, read
from covmin.plan.look import FirstLook
from covmin.runtime.seeds import unit_seed
from experiments.study import Unit, results

from .simulation import gaussian_design, simulation

LEVEL = 0.05
N_TABLES, ORDERS = 500, (2, 3)
Draw = Callable[[np.random.Generator, int, int], Any]

# --- features -------------------------------------------------------------------------------------


def blocks(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    shared = np.repeat(rng.standard_normal((n, -(-d // 5))), 5, axis=1)[:, :d]
    return np.sqrt(0.8) * shared + np.sqrt(0.2) * rng.standard_normal((n, d))


def near_copies(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Two of each, which differ by a tenth of their deviation."""
    shared = np.repeat(rng.standard_normal((n, -(-d // 2))), 2, axis=1)[:, :d]
    return shared + 0.1 * rng.standard_normal((n, d))


def bent(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """The third is about the absolute value of the second."""
    X = rng.standard_normal((n, d))
    X[:, 2] = np.abs(X[:, 1]) + 0.1 * rng.standard_normal(n)
    return X


def counts(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Counts that go up and down together."""
    means = rng.gamma(1.0, 1.0, d) * np.exp(0.5 * rng.standard_normal((n, 1)))
    return rng.poisson(means).astype(float)


def with_categories(rng: np.random.Generator, n: int, d: int) -> pd.DataFrame:
    """Every second column has six levels, of which the last is in 2 % of the samples."""
    shares = (0.4, 0.3, 0.15, 0.08, 0.05, 0.02)
    return pd.DataFrame(
        {
            f"x{j}": pd.Categorical(rng.choice(list("abcdef"), n, p=shares))
            if j % 2
            else rng.standard_normal(n)
            for j in range(d)
        }
    )


FEATURES: dict[str, Draw] = {
    "independent": lambda rng, n, d: rng.standard_normal((n, d)),
    "AR(0.8)": lambda rng, n, d: gaussian_design(rng, 0.8, n, d),
    "blocks of 0.8": blocks,
    "near-copies": near_copies,
    "t, 2 degrees": lambda rng, n, d: rng.standard_t(2.0, (n, d)),
    "lognormal": lambda rng, n, d: np.exp(1.5 * gaussian_design(rng, 0.5, n, d)),
    "0 or 1": lambda rng, n, d: (rng.random((n, d)) < rng.uniform(0.05, 0.5, d)) * 1.0,
    "three values": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),
    "80 % zeros": lambda rng, n, d: np.where(
        rng.random((n, d)) < 0.8, 0.0, rng.exponential(1.0, (n, d))
    ),
    "counts": counts,
    "categories": with_categories,
    "a bent copy": bent,
}

# --- responses ------------------------------------------------------------------------------------


def classes(*shares: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: rng.choice(len(shares), n, p=shares).astype(str)


NOISE: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "70 % zeros": lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, rng.exponential(1.0, n)),
    "two classes": classes(0.5, 0.5),
    "a class of 10 %": classes(0.9, 0.1),
    "ten classes": classes(*[0.1] * 10),
    "uneven classes": classes(0.6, 0.2, 0.1, 0.06, 0.04),
}
# Sums of functions of single features; noise of half a deviation is added.
EFFECTS_OF_SINGLES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "x₁²": lambda X: X[:, 1] ** 2,
    "sin 6x₁": lambda X: np.sin(6.0 * X[:, 1]),
    "four bent effects": lambda X: X[:, 1] - X[:, 3] + np.abs(X[:, 5]) + np.sin(2.0 * X[:, 7]),
    "three squares": lambda X: (X[:, [1, 2, 6]] ** 2).sum(axis=1),
    "x₁ + x₂, two classes": lambda X: X[:, 1] + X[:, 2],
}


def draw(unit: Unit) -> tuple[Any, np.ndarray]:
    """Features and a response in which nothing interacts."""
    features, response, n = unit["features"], unit["response"], unit["n"]
    seed = unit_seed(0, "interactions", features, response, n, unit["d"], unit["run"])
    rng = np.random.default_rng(seed)
    X = FEATURES[features](rng, n, unit["d"])
    if response in NOISE:
        return X, NOISE[response](rng, n)
    y = EFFECTS_OF_SINGLES[response](X) + 0.5 * rng.standard_normal(n)
    return X, (y > 0.0).astype(str) if "classes" in response else y


def problem_of(X: Any, y: np.ndarray) -> Problem:
    """What a fit would look at first."""
    table = read(X, y, TableOptions(task="regression" if y.dtype.kind == "f" else "classification"))
    columns = table.columns(True)
    rows = columns.distinct(0)
    Y = table.response.Y[rows.first]
    sample = Sample(columns.X.take(rows.first), Y - rows.p @ Y, rows.p)
    return Problem(sample, sample, Gaussian(), 1.0, columns.units)


# --- runs -----------------------------------------------------------------------------------------

SHAPE, SMALL, LARGE = (100, 30), (30, 10), ((500, 20), (200, 100))


def cells() -> list[tuple[str, str, int, int]]:
    """Features, response, samples and columns."""
    noise = [(features, "normal", *SHAPE) for features in list(FEATURES)[:-1]]
    few = ("independent", "blocks of 0.8", "lognormal", "0 or 1", "three values")
    noise += [(features, "normal", *SMALL) for features in few]
    noise += [(f, "normal", *shape) for f in ("independent", "AR(0.8)") for shape in LARGE]
    noise += [("independent", response, *SHAPE) for response in list(NOISE)[1:]]
    rare = ("lognormal", "80 % zeros", "categories")
    noise += [(features, "a class of 10 %", *SHAPE) for features in rare]
    effects = [
        (features, response, *LARGE[0])
        for features in ("independent", "near-copies", "lognormal")
        for response in EFFECTS_OF_SINGLES
    ]
    return [*noise, *effects, ("a bent copy", "sin 6x₁", *LARGE[0])]


def work(unit: Unit) -> list[dict[str, Any]]:
    """Whether an interaction and a feature of the spread are named, by the order."""
    X, y = draw(unit)
    problem, task = problem_of(X, y), "regression" if y.dtype.kind == "f" else "classification"
    rows: list[dict[str, Any]] = []
    for order in ORDERS:
        named = FirstLook(problem, task, order).protected
        sizes = {"found": named.interactions.share.size, "spread": named.spread.share.size}
        rows.append({"order": order, **{what: float(size > 0) for what, size in sizes.items()}})
    return rows


# --- tables ---------------------------------------------------------------------------------------


def with_error(rate: float) -> str:
    """A rate with its standard error; bold above the level and two standard errors of it."""
    text = f"{rate:.3f} ± {np.sqrt(rate * (1.0 - rate) / N_TABLES):.3f}"
    limit = LEVEL + 2.0 * np.sqrt(LEVEL * (1.0 - LEVEL) / N_TABLES)
    return f"**{text}**" if rate > limit else text


def page_rates() -> pd.DataFrame:
    """Highest rates over responses, sizes and orders, for each kind of features."""
    frame = results("guarantees-interactions")
    noise = frame["response"].isin(list(NOISE))
    frame["what"] = noise.map({True: "noise", False: "single effects"})
    # Classes have no spread.
    frame["spread"] = frame["spread"].mask(frame["response"].str.contains("class"))
    highest = frame.groupby(["what", "features"], sort=False)[["found", "spread"]].max()
    shown = highest.map(with_error).reset_index()
    return shown.rename(columns={"what": "response", "found": "interaction"})


_CELL: dict[str, Any] = {"features": "independent", "response": "two classes"}
_KEYS = ("features", "response", "n", "d")
CELLS = [dict(zip(_KEYS, cell, strict=True)) | {"runs": N_TABLES} for cell in cells()]
_STUDY: dict[str, Any] = {"cell": _CELL, "value": "found"}
STUDIES = [
    simulation("guarantees-interactions", CELLS, work, "features", ("search",), "order", **_STUDY)
]
TABLES = {"interactions": (page_rates, 3)}
