"""What selected features predict on regression sets, and whether fast effects are found.

Run as ``python -m experiments.regression --data FOLDER`` with a folder of sets, each an ``.npz``
file of ``X`` (n, d) and ``y`` (n,); writes ``experiments/results/regression.csv`` and ``.md`` from
all that has been run so far. Features are ranked on 400 training rows of five random splits; a
kernel ridge regression and extra-trees on the first 1 to 10 of them are judged by R² on up to 1,000
other rows. ``--probes`` adds 100 columns, each a permutation of a random column. ``--fast`` ranks
features of functions that are fast in one of many columns instead, and prints their mean ranks.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from covmin.core.kernels.bandwidth import median_bandwidth
from covmin.evaluation.frames import markdown_table
from covmin.evaluation.runner import rank_features, run_units
from covmin.evaluation.selectors import ccm_spec, named_selectors

RESULTS = Path(__file__).parent / "results"
# Every other set by name: variants of the selector are chosen on the first half alone.
EXPLORE = ("autos", "concrete", "energy", "kin40k", "pumadyn32nm", "stock")
JUDGE = ("bike", "elevators", "housing", "parkinsons", "skillcraft")
SIZES = (1, 2, 3, 5, 7, 10)
N_TRAIN, N_TEST, N_SPLITS, N_PROBES = 400, 1000, 5, 100
# Where there are few rows, so many of five are for training.
_TRAIN_FIFTHS = 4
# Standardised numbers beyond this are cut off.
_CLIP = 10.0
RIDGES = (0.01, 0.1, 1.0)
SELECTORS = {
    **named_selectors(),
    "ccm-rational-quadratic": ccm_spec(
        "ccm-rational-quadratic", "path", kernel="rational-quadratic"
    ),
}


@lru_cache(maxsize=2)
def load(folder: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(Path(folder) / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"]


def split(X: np.ndarray, y: np.ndarray, seed: int, n_probes: int) -> tuple[np.ndarray, ...]:
    """Training and test rows, standardised by the former, with probes beside them."""
    n, d = X.shape
    rng = np.random.default_rng(seed)
    rows = rng.permutation(n)
    n_train = min(N_TRAIN, _TRAIN_FIFTHS * n // 5)
    train, test = rows[:n_train], rows[n_train : n_train + N_TEST]
    probes = [rng.permutation(X[:, rng.integers(d)]) for _ in range(n_probes)]
    X = np.column_stack([X, *probes])
    scaler = StandardScaler().fit(X[train])
    Z = np.clip(scaler.transform(X), -_CLIP, _CLIP)
    return Z[train], y[train], Z[test], y[test]


def kernel_ridge(X: np.ndarray) -> Any:
    """Gaussian kernel ridge regression, its bandwidth by the median rule, its ridge by folds."""
    gamma = 0.5 / median_bandwidth(X, 2) ** 2
    return GridSearchCV(KernelRidge(kernel="rbf", gamma=gamma), {"alpha": RIDGES}, cv=3)


def extra_trees(X: np.ndarray) -> Any:
    return ExtraTreesRegressor(100, random_state=0)


JUDGES = {"kernel ridge": kernel_ridge, "extra-trees": extra_trees}


def scores(unit: Mapping[str, Any]) -> dict[str, Any]:
    """R² of each judge on the first features, mean over their numbers."""
    X, y = load(unit["folder"], unit["dataset"])
    X, y, X_test, y_test = split(X, y, unit["split"], unit["probes"])
    sizes = [m for m in SIZES if m <= X.shape[1]]
    spec = SELECTORS[unit["selector"]]
    order, seconds, error = rank_features(spec, sizes[-1], X, y, unit["split"])
    if order is None:
        raise RuntimeError(f"{unit}: {error}")
    centre = y.mean()
    result: dict[str, Any] = {"seconds": seconds, "first": order[: sizes[-1]].tolist()}
    for name, make in JUDGES.items():
        values = []
        for m in sizes:
            kept = order[:m]
            model = make(X[:, kept]).fit(X[:, kept], y - centre)
            values.append(r2_score(y_test - centre, model.predict(X_test[:, kept])))
        result[name] = float(np.mean(values))
    return result


def run(
    folder: str, selectors: Sequence[str], sets: Sequence[str], probes: int, options: Any
) -> list[dict[str, Any]]:
    """Scores of every set, selector and split."""
    rows = []
    for name in selectors:
        log = options.logs / f"regression-{name}.jsonl"
        if options.tables and not log.exists():
            continue
        units = [
            {"folder": folder, "dataset": each, "selector": name, "split": k, "probes": probes}
            for each in sets
            for k in range(N_SPLITS)
        ]
        settings = {"selector": SELECTORS[name].describe()}
        results = run_units(
            units, scores, log=log, settings=settings, n_jobs=options.jobs, run=not options.tables
        )
        done = zip(units, results, strict=True)
        rows += [{**unit, **result} for unit, result in done if result is not None]
    return rows


def table(frame: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Sets against selectors, with the means of both halves and of all."""
    wide = frame.pivot_table(
        index="dataset", columns=["selector", "probes"], values=judge, sort=False
    )
    wide.columns = [f"{name}, {probes} probes" if probes else name for name, probes in wide.columns]
    means = {"mean, explored": EXPLORE, "mean, judged": JUDGE, "mean": (*EXPLORE, *JUDGE)}
    for label, names in means.items():
        if all(name in wide.index for name in names):
            wide.loc[label] = wide.loc[list(names)].mean()
    return wide.reset_index()


# ------------------------------------------------------------------------------------ fast effects


def fast_wave(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """A fast wave of one of 50 columns, 200 rows."""
    X = rng.standard_normal((200, 50))
    return X, np.sin(4.0 * X[:, 0]) + 0.1 * rng.standard_normal(200), 1


def fast_product(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """A fast wave of one column times another, among 20, 400 rows."""
    X = rng.standard_normal((400, 20))
    return X, np.sin(3.0 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(400), 2


FAST: dict[str, Callable[..., tuple[np.ndarray, np.ndarray, int]]] = {
    "sin(4x₀), 200 × 50": fast_wave,
    "sin(3x₀)·x₁, 400 × 20": fast_product,
}


def fast_ranks(selectors: Sequence[str], draws: int) -> pd.DataFrame:
    """Mean rank of the true features, for as many features as are true."""
    rows = []
    for task, make in FAST.items():
        for name in selectors:
            ranks = []
            for draw in range(draws):
                X, y, n_true = make(np.random.default_rng(draw))
                order, _, error = rank_features(SELECTORS[name], n_true, X, y, draw)
                if order is None:
                    raise RuntimeError(error)
                ranks.append(float(np.mean(np.flatnonzero(order < n_true))) + 1.0)
            rows.append({"task": task, "selector": name, "mean rank": np.mean(ranks)})
    wide = pd.DataFrame(rows).pivot_table(
        index="task", columns="selector", values="mean rank", sort=False
    )
    return wide.reset_index()


def pumadyn(folder: str, selectors: Sequence[str]) -> pd.DataFrame:
    """Splits in which both columns of pumadyn32nm are among the m first."""
    rows = []
    for name in selectors:
        for m in (2, 10):
            found = 0
            for seed in range(N_SPLITS):
                X, y, *_ = split(*load(folder, "pumadyn32nm"), seed, 0)
                order = rank_features(SELECTORS[name], m, X, y, seed)[0]
                found += order is not None and set(order[:m]) >= {4, 15}
            rows.append({"selector": name, "m": m, "both found": f"{found} of {N_SPLITS}"})
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("COVMIN_REGRESSION", "../shared/data/regression")
    parser.add_argument("--data", default=default, help="folder of the sets")
    parser.add_argument("--selectors", nargs="*", default=["ccm"])
    parser.add_argument("--sets", nargs="*", default=[*EXPLORE, *JUDGE])
    parser.add_argument("--probes", action="store_true", help=f"{N_PROBES} of them")
    parser.add_argument("--fast", action="store_true", help="functions of one fast column instead")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--logs", type=Path, default=RESULTS, help="where results are kept")
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    options = parser.parse_args()
    if options.fast:
        print(markdown_table(fast_ranks(options.selectors, options.draws), 2), flush=True)
        print(markdown_table(pumadyn(options.data, options.selectors), 2))
        return
    probes = N_PROBES if options.probes else 0
    if not options.tables:
        run(options.data, options.selectors, options.sets, probes, options)
    options.tables = True
    rows = [
        row
        for each in (0, N_PROBES)
        for row in run(options.data, list(SELECTORS), [*EXPLORE, *JUDGE], each, options)
    ]
    keys = ["dataset", "selector", "probes"]
    frame = pd.DataFrame(rows).groupby(keys, sort=False)[[*JUDGES]].mean().reset_index()
    frame.to_csv(options.logs / "regression.csv", index=False, float_format="%.4f")
    text = "\n\n".join(
        f"## R² of {judge} on the first features, mean over their numbers\n\n"
        + markdown_table(table(frame, judge), 3)
        for judge in JUDGES
    )
    (options.logs / "regression.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
