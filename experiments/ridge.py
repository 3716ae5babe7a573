"""What the ridge ε decides: noisy effects, interactions, weak effects beside strong ones.

Run as ``python -m experiments.ridge``; writes ``experiments/results/ridge.md`` and ``.csv``:
the mean rank of the true features by fixed ridges, by the default one, and, for noisy effects, by
other selectors. An interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from covmin.evaluation.frames import markdown_table
from covmin.evaluation.runner import rank_features, run_units
from covmin.evaluation.selectors import SelectorSpec, ccm_spec, named_selectors

RESULTS = Path(__file__).parent / "results"
RIDGES = (0.001, 0.003, 0.01, 0.03, 0.1)
RIVALS = ("anova", "mrmr", "rfe", "extra-trees", "bahsic", "hsic-lasso")
Sample = tuple[np.ndarray, np.ndarray, int]


def _effects(X: np.ndarray) -> np.ndarray:
    """Four single effects of different strength and form."""
    parabola = (X[:, 3] ** 2 - 1.0) / 1.4
    return X[:, 0] + 0.8 * X[:, 1] + 0.6 * np.tanh(2.0 * X[:, 2]) + 0.6 * parabola


def _labels(log_odds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(log_odds.size) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)


def noisy_classes(n: int, d: int, rng: np.random.Generator) -> Sample:
    """Two classes, by chance, with log-odds of four effects."""
    X = rng.standard_normal((n, d))
    return X, _labels(_effects(X), rng), 4


def noisy_numbers(n: int, d: int, rng: np.random.Generator) -> Sample:
    """The same four effects in a number, with twice as much noise."""
    X = rng.standard_normal((n, d))
    signal = _effects(X)
    return X, signal + np.sqrt(2.0) * signal.std() * rng.standard_normal(n), 4


def product_of_three(n: int, d: int, rng: np.random.Generator) -> Sample:
    """Two classes by the sign of a product: neither one feature nor two say anything."""
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] * X[:, 1] * X[:, 2] > 0.0).astype(int), 3


def checkerboard(n: int, d: int, rng: np.random.Generator) -> Sample:
    """The two colours of a board of four by four squares."""
    X = rng.uniform(-2.0, 2.0, (n, d))
    return X, ((np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2).astype(int), 2


def _strong_and_weak(X: np.ndarray) -> np.ndarray:
    return 1.5 * X[:, 0] + 0.25 * X[:, 1] * X[:, 2] + 0.2 * np.sin(3.0 * X[:, 3])


def weak_classes(n: int, d: int, rng: np.random.Generator) -> Sample:
    """A strong effect and two weak ones in the log-odds of two classes."""
    X = rng.uniform(-2.0, 2.0, (n, d))
    return X, _labels(_strong_and_weak(X), rng), 4


def weak_numbers(n: int, d: int, rng: np.random.Generator) -> Sample:
    """The same in a number, with some noise."""
    X = rng.uniform(-2.0, 2.0, (n, d))
    return X, _strong_and_weak(X) + 0.5 * rng.standard_normal(n), 4


MAKERS: dict[str, Callable[..., Sample]] = {
    "classes, four noisy effects": noisy_classes,
    "classes, product of three": product_of_three,
    "classes, checkerboard": checkerboard,
    "classes, weak beside strong": weak_classes,
    "numbers, four noisy effects": noisy_numbers,
    "numbers, weak beside strong": weak_numbers,
}
# Task, samples, features.
TASKS = (
    ("classes, four noisy effects", 200, 10),
    ("classes, four noisy effects", 400, 30),
    ("classes, four noisy effects", 200, 100),
    ("classes, four noisy effects", 400, 100),
    ("classes, product of three", 200, 10),
    ("classes, product of three", 400, 20),
    ("classes, checkerboard", 600, 30),
    ("classes, checkerboard", 600, 100),
    ("classes, weak beside strong", 4000, 10),
    ("numbers, four noisy effects", 200, 10),
    ("numbers, four noisy effects", 400, 30),
    ("numbers, four noisy effects", 400, 100),
    ("numbers, weak beside strong", 300, 10),
    ("numbers, weak beside strong", 1000, 10),
    ("numbers, weak beside strong", 1000, 30),
    ("numbers, weak beside strong", 4000, 10),
)
NOISY = (
    ("classes, four noisy effects", 100, 30),
    *TASKS[:4],
    ("classes, four noisy effects", 200, 500),
)


def selectors() -> dict[str, SelectorSpec]:
    """The default, fixed ridges, and the rivals."""
    default = {"ccm": ccm_spec("ccm", "path")}
    fixed = {f"ε = {e}": ccm_spec(str(e), "path", epsilon=e) for e in RIDGES}
    return {**default, **fixed, **{name: named_selectors()[name] for name in RIVALS}}


def mean_rank(unit: Mapping[str, Any]) -> float:
    """Mean rank of the true features, which come first, in one draw."""
    n, d, draw = unit["n"], unit["features"], unit["draw"]
    make = MAKERS[unit["task"]]
    X, y, n_true = make(n, d, np.random.default_rng([draw, n, d]))
    order, _, error = rank_features(selectors()[unit["selector"]], n_true, X, y, draw)
    if error is not None:
        raise RuntimeError(f"{unit}: {error}")
    return float(np.mean(np.flatnonzero(order < n_true))) + 1.0


def table(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A row for each task, a column for each selector."""
    keys = ["task", "n", "features"]
    wide = frame.pivot_table(index=keys, columns="selector", values="rank", sort=False)
    wide = wide[["ccm", *names]].dropna().reset_index()
    n_true = [MAKERS[task](8, 8, np.random.default_rng(0))[2] for task in wide["task"]]
    wide.insert(3, "optimum", (np.array(n_true) + 1) / 2)
    return wide


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options = parser.parse_args()
    fixed = [name for name in selectors() if name != "ccm" and name not in RIVALS]
    cells = [(task, name) for name in ("ccm", *fixed) for task in TASKS]
    cells += [(task, name) for name in ("ccm", *RIVALS) for task in NOISY]
    units = [
        {"task": task, "n": n, "features": d, "selector": name, "draw": draw}
        for (task, n, d), name in dict.fromkeys(cells)
        for draw in range(options.draws)
    ]
    ranks = run_units(
        units, mean_rank, log=RESULTS / "ridge.jsonl", n_jobs=options.jobs, progress=True
    )
    frame = pd.DataFrame(units).assign(rank=ranks)
    ridges, noisy = table(frame, fixed), table(frame, RIVALS)
    ridges.merge(noisy, how="outer", sort=False).to_csv(
        RESULTS / "ridge.csv", index=False, float_format="%.3f", lineterminator="\n"
    )
    text = (
        f"Mean rank of the true features, {options.draws} draws:\n\n"
        f"{markdown_table(ridges, 2)}\n\n"
        f"Noisy effects, beside other selectors:\n\n{markdown_table(noisy, 2)}\n"
    )
    (RESULTS / "ridge.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    # By its own name: worker processes cannot be sent what lives in __main__.
    from experiments import ridge

    ridge.main()
