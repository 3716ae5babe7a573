"""Whole fits beside other selectors, on the paper's sets with a thousand features or more.

Run with ``python -m benchmarks.fits [--sets TOX-171 Yale] [--methods mi mrmr]``; data are
found in ``COVMIN_DATA``, in the cache, or downloaded. Each method ranks or selects 50 features
once, all in one process. ``covmin (m chosen)`` also chooses the number of features by
cross-fitting, which is six fits. LassoNet, Boruta and the mRMR that most people install are timed
where they are found (``pip install lassonet boruta mrmr_selection``). Exit status 1 where mutual
information, mRMR, BAHSIC or the HSIC lasso is faster than covmin on a set.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from covmin.baselines import available_selectors
from experiments.paper.data import list_datasets, load

from benchmarks.tables import FIGURES, machine, save, seconds, show, write
from covmin import CCMSelector

_M = 50
_LEAST_FEATURES = 1000
_SHOULD_BE_SLOWER = ("mi", "mrmr", "bahsic", "hsic-lasso")
_BASELINES = ("mi", "rfe", "mrmr", "bahsic", "hsic-lasso")


def covmin_fit(X: np.ndarray, y: np.ndarray) -> None:
    CCMSelector(_M).fit(X, y)


def covmin_auto(X: np.ndarray, y: np.ndarray) -> None:
    CCMSelector().fit(X, y)


def baseline(name: str) -> Callable[[np.ndarray, np.ndarray], None]:
    def fit(X: np.ndarray, y: np.ndarray) -> None:
        available_selectors()[name](n_features_to_select=_M).fit(X, y)

    return fit


def boruta(X: np.ndarray, y: np.ndarray) -> None:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_jobs=-1, max_depth=5, random_state=0)
    BorutaPy(forest, n_estimators="auto", random_state=0).fit(X, y)


def lassonet(X: np.ndarray, y: np.ndarray) -> None:
    from lassonet import LassoNetClassifier

    labels = np.unique(y, return_inverse=True)[1]
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    LassoNetClassifier(random_state=0, verbose=0).path(Z.astype(np.float32), labels)


def mrmr_selection(X: np.ndarray, y: np.ndarray) -> None:
    import pandas as pd
    from mrmr import mrmr_classif

    frame = pd.DataFrame(X).rename(columns=str)
    mrmr_classif(X=frame, y=pd.Series(y), K=_M, show_progress=False)


def methods() -> dict[str, Callable[[np.ndarray, np.ndarray], None]]:
    """All methods by name."""
    found: dict[str, Callable[[np.ndarray, np.ndarray], None]] = {
        "covmin": covmin_fit,
        "covmin (m chosen)": covmin_auto,
    }
    found |= {name: baseline(name) for name in _BASELINES}
    return found | {"boruta": boruta, "lassonet": lassonet, "mrmr_selection": mrmr_selection}


def wide_sets() -> list[str]:
    """The paper's sets with many features."""
    wide = []
    for name in list_datasets():
        try:
            data = load(name)
        except (OSError, ValueError, ImportError):
            continue
        if data.data.shape[1] >= _LEAST_FEATURES:
            wide.append(name)
    return wide


def time_of(method: Callable[..., None], X: np.ndarray, y: np.ndarray, repeats: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return seconds(lambda: method(X, y), repeats)
        except ImportError:
            return float("nan")


def warm_up(names: list[str]) -> None:
    """Run every method on next to nothing: the first call pays for what it imports."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2 * _M)), np.arange(40) % 2
    for name in names:
        time_of(methods()[name], X, y, 1)


def draw(frame: pd.DataFrame, path: Path) -> None:
    import matplotlib.pyplot as plt

    rows = frame.to_dict("records")
    names = [name for name in rows[0] if name not in ("set", "n", "d")]
    figure, axes = plt.subplots(figsize=(7, 0.5 + 0.9 * len(rows)))
    for i, name in enumerate(names):
        height = 0.8 / len(names)
        places = np.arange(len(rows)) + (i - len(names) / 2) * height
        axes.barh(places, [row[name] for row in rows], height, label=name)
    axes.set_yticks(np.arange(len(rows)), [f"{r['set']}\n{r['n']} × {r['d']}" for r in rows])
    axes.set(xscale="log", xlabel="seconds")
    axes.invert_yaxis()
    axes.legend(fontsize="small", ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    save(figure, path.stem)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", help="default: all with 1000 features or more")
    parser.add_argument("--methods", nargs="+", choices=list(methods()), default=list(methods()))
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    print(machine())
    warm_up(options.methods)
    rows = []
    for name in options.sets or wide_sets():
        data = load(name)
        X, y = data.data, data.target
        row: dict[str, Any] = {"set": name, "n": X.shape[0], "d": X.shape[1]}
        for method in options.methods:
            row[method] = time_of(methods()[method], X, y, options.repeats)
            print(f"{name} {method}: {row[method]:.2f} s", flush=True)
        rows.append(row)
    show(rows)
    write("fits", rows)
    draw(pd.DataFrame(rows), FIGURES / "fits.svg")
    slower = [
        f"{row['set']}: {other}"
        for row in rows
        for other in _SHOULD_BE_SLOWER
        if other in row and "covmin" in row and row["covmin"] > row[other]
    ]
    print("faster than all of them" if not slower else "slower than: " + ", ".join(slower))
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
