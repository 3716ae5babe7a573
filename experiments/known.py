"""Published tables whose true features are known: whether a selector puts them first.

- ``python -m experiments passemiers``: four functions of uniform columns (Passemiers and others,
  *Scientific Reports* 2024), of 2, 4, …, 1,024 columns. The score is theirs, "best p": the share of
  the p relevant columns among the first p. A selector sees five sixths of the rows.
- ``python -m experiments known``: tables in the folder ``COVMIN_TRUTH``, with the columns shuffled
  and four fifths of the rows.
- ``python -m experiments blankets``: each variable of two Bayesian networks there is predicted from
  the others. True are its parents, its children and their other parents: the Markov blanket.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from covmin import CCMSelector
from covmin.runtime.seeds import unit_seed
from experiments.rivals import ranked
from experiments.study import Study, Unit, every
from experiments.tables import by_selector, each, markdown_table

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("COVMIN_TRUTH", ROOT.parent / "shared" / "data" / "truth"))
QUICK = ("ccm", "extra-trees", "mi", "mrmr-8", "lightgbm")
METHODS = (*QUICK, "lightgbm-shap", "xrfm", "multisurf")
METHODS += ("conditional", "boruta", "lassonet")

# The four functions of Passemiers and others ------------------------------------------------------


def ring(x: np.ndarray, half_width: float) -> np.ndarray:
    return np.abs(np.hypot(x[0] - 0.5, x[1] - 0.5) - 0.35) <= half_width


def together(x: np.ndarray, least: float) -> np.ndarray:
    return (x[0] - 0.5) * (0.5 - x[1]) >= least


# The number of relevant columns, and the function of the columns and of standard noise.
FUNCTIONS: dict[str, tuple[int, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "ring": (2, lambda x, _: ring(x, 0.1151)),
    "xor": (2, lambda x, _: together(x, 0.0)),
    "ring+xor": (4, lambda x, _: ring(x, 0.0704) | together(x[2:], 0.0337)),
    "ring+xor+sum": (
        6,
        lambda x, e: ring(x, 0.0479) | together(x[2:], 0.0598) | (x[4] + x[5] + 0.2 * e >= 1.4074),
    ),
}
N_FOLDS, FOLDS_RUN = 6, 2
WIDTHS = tuple(2**k for k in range(1, 11))


def passemiers(unit: Unit) -> dict[str, Any]:
    """The share of the p relevant columns among the first p."""
    p, function = FUNCTIONS[unit["task"]]
    n, d = unit["n"], unit["columns"]
    rng = np.random.default_rng(unit_seed(0, "passemiers", unit["task"], n, d))
    X, noise = rng.random((n, d)), rng.standard_normal(n)
    y, shuffled = function(X.T, noise).astype(int), rng.permutation(d)
    train, _ = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))[unit["fold"]]
    order, seconds = ranked(unit["selector"], p, X[train][:, shuffled], y[train])
    return {"best p": float(np.mean(shuffled[order[:p]] < p)), "seconds": seconds}


# Published shares in per cent for 1,000 and for 250 rows, where they are given.
PUBLISHED = {
    "forest": ((100.0, 54.5, 88.8, 85.3), (87.9, 47.7, 38.3, 51.4)),
    "TreeSHAP": ((100.0, 40.2, 81.7, 78.3), ()),
    "LassoNet": ((34.8, 81.8, 44.6, 64.2), (17.4, 63.6, 31.2, 45.3)),
}


def published_beside(frame: pd.DataFrame) -> str:
    """Mean shares of ours and of others, and those that the authors have published."""
    wide = by_selector(frame, "best p", ["n", "task"])
    for name, sizes in PUBLISHED.items():
        for n, shares in zip((1000, 250), sizes, strict=True):
            for task, share in zip(FUNCTIONS, shares, strict=False):
                wide.loc[(n, task), f"published: {name}"] = share / 100
    return markdown_table(wide.reset_index(), 2)


def passemiers_units() -> list[dict[str, Any]]:
    choices = {"columns": WIDTHS, "n": (1000, 250), "task": FUNCTIONS, "selector": QUICK}
    units = every(fold=range(FOLDS_RUN), **choices)
    return [unit for unit in units if unit["columns"] >= FUNCTIONS[unit["task"]][0]]


# Tables -------------------------------------------------------------------------------------------

_PAIR, _BITS = ["P1", "P2"], [f"Bit {k}" for k in (2, 3, 4, 6, 8)]
_FRIEDMAN = [f"oz{k}" for k in range(1, 6)]
TABLES: dict[str, tuple[str, list[str]]] = {
    "GAMETES, pair": ("GAMETES_Epistasis_2_Way_20atts_0.1H_EDM_1_1", _PAIR),
    "GAMETES, pair, wide": ("GAMETES_Epistasis_2_Way_1000atts_0.4H_EDM_1_EDM_1_1", _PAIR),
    "GAMETES, three": ("GAMETES_Epistasis_3_Way_20atts_0.2H_EDM_1_1", [*_PAIR, "P3"]),
    "GAMETES, two halves": (
        "GAMETES_Heterogeneity_20atts_1600_Het_0.4_0.2_50_EDM_2_001",
        ["M0P0", "M0P1", "M1P0", "M1P1"],
    ),
    "monk1": ("monk1", ["Head shape", "Body shape", "Jacket color"]),
    "monk3": ("monk3", ["Body shape", "Holding", "Jacket color"]),
    "parity5+5": ("parity5+5", _BITS),
    "corral": ("corral", ["A0", "A1", "B0", "B1"]),
    "led24": ("led24", [f"attribute#{k}" for k in range(1, 8)]),
    "Friedman, 25": ("586_fri_c3_1000_25", _FRIEDMAN),
    "Friedman, 50": ("616_fri_c4_500_50", _FRIEDMAN),
}
N_DRAWS, SLOW = 5, ("conditional", "boruta", "lassonet")


def known(unit: Unit) -> dict[str, Any]:
    """The share of the p true columns among the first p."""
    file, names = TABLES[unit["table"]]
    frame = pd.read_csv(FOLDER / f"{file}.tsv.gz", sep="\t")
    frame = frame.sample(frac=0.8, random_state=unit["draw"])
    y, X = frame.pop("target").to_numpy(), frame.sample(frac=1, axis=1, random_state=unit["draw"])
    true = X.columns.isin(names)
    order, seconds = ranked(unit["selector"], len(names), X.to_numpy(float), y)
    found, (n, d) = float(true[order[: len(names)]].mean()), X.shape
    return {"rows": n, "columns": d, "true": len(names), "found": found, "seconds": seconds}


def known_units() -> list[dict[str, Any]]:
    found = every(draw=range(N_DRAWS), selector=METHODS, table=TABLES)
    return [u for u in found if "wide" not in u["table"] or u["selector"] not in SLOW]


# Networks -----------------------------------------------------------------------------------------

NETWORKS, NETWORK_ROWS = {"child": 20, "alarm": 37}, 1000  # variables


@cache
def parents(name: str) -> dict[str, set[str]]:
    """The parents of each variable of a network."""
    arrows = re.findall(r"(\w+) --> (\w+)", (FOLDER / f"{name}.graph.txt").read_text())
    variables = [f"X{k + 1}" for k in range(NETWORKS[name])]
    return {child: {a for a, b in arrows if b == child} for child in variables}


def blanket(of: dict[str, set[str]], variable: str) -> tuple[set[str], set[str]]:
    """A Markov blanket: parents and children; other parents of the children."""
    children = {child for child, those in of.items() if variable in those}
    near = of[variable] | children
    return near, set().union(*(of[child] for child in children)) - near - {variable}


def blankets(unit: Unit) -> dict[str, Any] | None:
    """Of the blanket of a variable, what is among the chosen; and how many are chosen."""
    near, others = blanket(parents(unit["network"]), unit["variable"])
    if not near:
        return None
    frame = pd.read_csv(FOLDER / f"{unit['network']}.data.txt.gz", sep=r"\s+")
    rows = frame.sample(NETWORK_ROWS, random_state=0)
    y, X = rows.pop(unit["variable"]).to_numpy(), rows.astype(str)
    if unit["number"] == "auto":
        chosen = CCMSelector().fit(X, y).get_feature_names_out()
    else:
        m, values = len(near | others), X if unit["selector"] == "ccm" else rows.to_numpy(float)
        chosen = X.columns[ranked(unit["selector"], m, values, y)[0][:m]]
    found = {"true": len(near | others), "kept": len(chosen)}
    found |= {"found": len((near | others) & set(chosen)), "others": len(others)}
    return found | {"others found": len(others & set(chosen))}


def blanket_units() -> list[dict[str, Any]]:
    runs = [*((name, "given") for name in QUICK), ("ccm", "auto")]
    return [
        {"network": name, "variable": f"X{k + 1}", "selector": selector, "number": number}
        for (selector, number), (name, d) in product(runs, NETWORKS.items())
        for k in range(d)
    ]


def shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Precision and recall over all variables of a network."""
    keys, counts = ["network", "selector", "number"], ["true", "kept", "found", "others"]
    groups = frame.groupby(keys, sort=False)
    sums = groups[[*counts, "others found"]].sum().assign(variables=groups.size())
    sums["precision"], sums["recall"] = sums["found"] / sums["kept"], sums["found"] / sums["true"]
    return sums.reset_index()


def network_report(frame: pd.DataFrame) -> str:
    """Markov blankets: precision and recall of a given number and of a chosen one."""
    found = frame["others found"] / frame["others"]
    columns = ["network", "selector", "number", "precision", "recall"]
    return markdown_table(frame[columns].assign(**{"other parents found": found}), 2)


_IN: dict[str, Any] = {"folder": FOLDER}
_SHARES = each("found", "table", "rows", "columns")
_RING: dict[str, Any] = {"task": "ring+xor", "selector": "ccm", "n": 250, "columns": 16}
_BITS_CELL = {"table": "parity5+5", "selector": "ccm"}
_CHILD = {"network": "child", "selector": "ccm", "number": "given"}
STUDIES = [
    Study(
        *("passemiers", passemiers_units, passemiers, 0.2),
        report=published_beside,
        cell=_RING,
        value="best p",
    ),
    Study("known", known_units, known, 0.4, report=_SHARES, cell=_BITS_CELL, value="found", **_IN),
    Study(
        *("blankets", blanket_units, blankets, 0.2, shares, network_report),
        **_IN,
        cell=_CHILD,
        value="recall",
    ),
]
