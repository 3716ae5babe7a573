"""Whether a ranking hangs on the number of features asked for.

Run as ``python -m experiments.ranking``; writes ``experiments/results/ranking.md``: of the first
features of ``CCMSelector(10)``, the share that is also first with 2, 5 or 50 asked for. The sets
are the wide ones of :mod:`experiments.accuracy`, and those of :mod:`experiments.regression` with
probes.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd

from covmin import CCMSelector
from covmin.evaluation.frames import markdown_table
from experiments import accuracy, regression

OTHERS = (2, 5, 50)
WIDE = ("ALLAML", "ORL", "orlraws10P", "pixraw10P", "TOX-171", "warpAR10P", "warpPIE10P", "Yale")


def sets(folder: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for name in WIDE:
        X, y, *_ = accuracy.samples(name, 1)
        yield name, X, y
    for name in (*regression.EXPLORE, *regression.JUDGE):
        X, y, *_ = regression.split(*regression.load(folder, name), 0, regression.N_PROBES)
        yield f"{name}, probes", X, y


def overlaps(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Shares of the first features that are first whatever is asked for."""
    order = np.argsort(CCMSelector(10).fit(X, y).ranking_)
    shares = {}
    for m in OTHERS:
        other = np.argsort(CCMSelector(m).fit(X, y).ranking_)
        k = min(m, 10)
        shares[f"m = {m}"] = np.isin(order[:k], other[:k]).mean()
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("COVMIN_REGRESSION", "../shared/data/regression")
    parser.add_argument("--data", default=default, help="folder of the regression sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    frame = pd.DataFrame({"set": name, **overlaps(X, y)} for name, X, y in sets(options.data))
    mean = {"set": "mean", **frame.mean(numeric_only=True)}
    frame = pd.concat([frame, pd.DataFrame([mean])])
    text = (
        "Share of the first m, but ten, features of `CCMSelector(10)` that are also the first with "
        f"m asked for:\n\n{markdown_table(frame, 2)}\n"
    )
    (accuracy.RESULTS / "ranking.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
