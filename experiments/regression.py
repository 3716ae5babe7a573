"""What selected features predict on regression sets, and whether fast effects are found.

Run as ``python -m experiments.regression --data FOLDER --selectors ccm mrmr`` with a folder of
sets, each an ``.npz`` file of ``X`` (n, d) and ``y`` (n,). They are taken as they are and with 100
probes, columns that are a permutation of a random column each (``--probes 0`` or ``100`` for one of
the two). With ``--other`` the sets are those of :mod:`experiments.regression_sets`. Writes
``experiments/results/regression.csv`` and ``.md`` (``regression-other.*``). Each selector keeps a
log of its own, so an interrupted run goes on where it stopped; selectors without a log keep the
rows that the ``.csv`` has of them.

Features are ranked on 400 training rows (four fifths, of fewer than 500) of random splits; columns
are standardised by these rows and clipped at ±10. Two regressions on the first 1, 2, 3, 5, 7 and 10
features are judged by R² on up to 1,000 other rows, and the figure is the mean over these numbers:

- kernel ridge: Gaussian, σ the median distance over √2, y centred, a ridge of 0.01, 0.1 or 1 on the
  diagonal of the kernel matrix by 3-fold cross-validation;
- extra-trees: 100 trees with at least three samples in a leaf. Fully grown ones fit the noise of a
  single feature; three, of 1, 2, 3 and 5, agreed best with figures of the tree selector from
  elsewhere, and was fixed before any other selector was judged by it.

Splits have the seeds 0, 1, …; five are a repeat. ``--fast`` ranks features of functions that are
fast in one of many columns instead, and prints their mean ranks.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from covmin.core.kernels.bandwidth import median_bandwidth
from covmin.evaluation.curves import rank_features
from covmin.evaluation.runner import run_units
from experiments.regression_sets import OTHER_SETS, load_other
from experiments.regression_tables import EXPLORE, JUDGE, report
from experiments.rivals import selectors
from experiments.tables import markdown_table

RESULTS = Path(__file__).parent / "results"
SIZES = (1, 2, 3, 5, 7, 10)
N_TRAIN, N_TEST, N_SPLITS, N_PROBES = 400, 1000, 15, 100
PROBES = (0, N_PROBES)
SPLITS_OF_A_REPEAT = 5
# Probes are counted among so many features.
N_FIRST = 5
# Where there are few rows, so many of five are for training.
_TRAIN_FIFTHS = 4
# Standardised numbers beyond this are cut off.
_CLIP = 10.0
RIDGES = (0.01, 0.1, 1.0)
LEAF = 3
KEYS = ["dataset", "selector", "probes", "split"]
SELECTORS = selectors()


@lru_cache(maxsize=2)
def load(folder: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in OTHER_SETS:
        return load_other(name)
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


def kernel_ridge(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Predictions of Gaussian kernel ridge regression, its ridge by folds."""
    gamma = 0.5 / median_bandwidth(X, 2) ** 2
    model = GridSearchCV(KernelRidge(kernel="precomputed"), {"alpha": RIDGES}, cv=3)
    model.fit(rbf_kernel(X, gamma=gamma), y - y.mean())
    return y.mean() + model.predict(rbf_kernel(X_test, X, gamma=gamma))


def extra_trees(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Predictions of extra-trees."""
    model = ExtraTreesRegressor(100, min_samples_leaf=LEAF, random_state=0)
    return model.fit(X, y).predict(X_test)


JUDGES = {"kernel ridge": kernel_ridge, "extra-trees": extra_trees}


@lru_cache(maxsize=2)
def rows_of(folder: str, dataset: str, seed: int) -> tuple[np.ndarray, ...]:
    """A split of a set with probes; without them it is the same but for its last columns."""
    return split(*load(folder, dataset), seed, N_PROBES)


@cache
def fit_of(judge: str, folder: str, dataset: str, seed: int, columns: tuple[int, ...]) -> float:
    """R² of a judge on some columns: selectors often agree on the first."""
    X, y, X_test, y_test = rows_of(folder, dataset, seed)
    kept = list(columns)
    return float(r2_score(y_test, JUDGES[judge](X[:, kept], y, X_test[:, kept])))


def scores(folder: str, unit: Mapping[str, Any]) -> dict[str, Any]:
    """R² of each judge on the first features, mean over their numbers; probes among the first."""
    dataset, seed = unit["dataset"], unit["split"]
    d = load(folder, dataset)[0].shape[1]
    X, y, *_ = rows_of(folder, dataset, seed)
    X = X[:, : d + unit["probes"]]
    sizes = [m for m in SIZES if m <= X.shape[1]]
    order, seconds, error = rank_features(SELECTORS[unit["selector"]], sizes[-1], X, y, seed)
    if order is None:
        raise RuntimeError(f"{unit}: {error}")
    first = order[: sizes[-1]].tolist()
    kept = [tuple(sorted(first[:m])) for m in sizes]
    return {
        **{
            judge: float(np.mean([fit_of(judge, folder, dataset, seed, each) for each in kept]))
            for judge in JUDGES
        },
        "probes found": sum(column >= d for column in first[:N_FIRST]),
        "seconds": seconds,
        "first": first,
    }


def run(
    folder: str, name: str, sets: Sequence[str], probes: int, splits: Sequence[int], options: Any
) -> pd.DataFrame:
    """Scores of a selector on every set and split that is done, or after doing them."""
    units = [
        {"dataset": each, "selector": name, "split": k, "probes": probes}
        for start in splits[::SPLITS_OF_A_REPEAT]
        for each in sets
        for k in splits[start : start + SPLITS_OF_A_REPEAT]
    ]
    settings = {"selector": SELECTORS[name].describe(), "leaf": LEAF}
    results = run_units(
        units,
        partial(scores, folder),
        log=log_of(options, name),
        settings=settings,
        n_jobs=options.jobs,
        progress=not options.tables,
        description=name,
        run=not options.tables,
    )
    done = zip(units, results, strict=True)
    return pd.DataFrame([{**unit, **result} for unit, result in done if result is not None])


def log_of(options: Any, name: str) -> Path:
    """Where the splits of a selector are kept."""
    return Path(options.logs / f"{collection_of(options)}-{name}.jsonl")


def collection_of(options: Any) -> str:
    return "regression-other" if options.other else "regression"


def gather(options: Any, sets: Sequence[str]) -> pd.DataFrame:
    """All splits: those of the logs, and those that the table has of selectors without a log."""
    path = RESULTS / f"{collection_of(options)}.csv"
    logged = [name for name in SELECTORS if log_of(options, name).exists()]
    frames = [
        run(options.data, name, sets, probes, range(N_SPLITS), options)
        for name in logged
        for probes in PROBES
    ]
    if path.exists():
        before = pd.read_csv(path)
        frames.append(before[~before["selector"].isin(logged)])
    frame = pd.concat([each for each in frames if len(each)])
    columns = [*KEYS, *JUDGES, "probes found", "seconds"]
    ranks = {name: k for k, name in enumerate((*sets, *SELECTORS))}
    return frame[columns].sort_values(KEYS, key=lambda each: each.replace(ranks), kind="stable")


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
            for seed in range(SPLITS_OF_A_REPEAT):
                X, y, *_ = split(*load(folder, "pumadyn32nm"), seed, 0)
                order = rank_features(SELECTORS[name], m, X, y, seed)[0]
                found += order is not None and set(order[:m]) >= {4, 15}
            rows.append(
                {"selector": name, "m": m, "both found": f"{found} of {SPLITS_OF_A_REPEAT}"}
            )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("COVMIN_REGRESSION", "../shared/data/regression")
    parser.add_argument("--data", default=default, help="folder of the sets")
    parser.add_argument("--selectors", nargs="*", default=["ccm"])
    parser.add_argument("--sets", nargs="*", help="default: all of the collection")
    parser.add_argument("--other", action="store_true", help="sets of other packages")
    parser.add_argument("--probes", nargs="+", type=int, choices=PROBES, default=PROBES)
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="the first so many")
    parser.add_argument("--fast", action="store_true", help="functions of one fast column instead")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--logs", type=Path, default=RESULTS, help="where splits are kept")
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    options = parser.parse_args()
    if options.fast:
        print(markdown_table(fast_ranks(options.selectors, options.draws), 2), flush=True)
        print(markdown_table(pumadyn(options.data, options.selectors), 2))
        return
    sets = tuple(OTHER_SETS) if options.other else (*EXPLORE, *JUDGE)
    if not options.tables:
        for name, probes in product(options.selectors, options.probes):
            run(options.data, name, options.sets or sets, probes, range(options.splits), options)
    options.tables = True
    path = RESULTS / f"{collection_of(options)}.csv"
    gather(options, sets).to_csv(path, index=False, float_format="%.4f", lineterminator="\n")
    # Tables are those of the file, to the last digit.
    text = report(pd.read_csv(path))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    # By its own name: worker processes cannot be sent what lives in __main__.
    from experiments import regression

    regression.main()
