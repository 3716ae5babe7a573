"""What gaps do to a selection: on them as they are, and after imputation in a pipeline.

Of each set 5, 20 and 50 % of the values are taken out, in training and test rows alike: at random,
or the larger values of a column more often than the smaller ones. Features are ranked on the
training rows in three ways:

- ``gaps``: by ``CCMSelector`` on the table with its gaps,
- ``iterative``: after scikit-learn's ``IterativeImputer``,
- ``mean``: after ``SimpleImputer(add_indicator=True)``; a feature is as good as the better one of
  its values and its indicator.

Two judges score the first m of each ranking on the test rows, for several m: ``machine``, a
Gaussian support vector machine on these columns after iterative imputation of all columns, which is
the pipeline of ``iterative``; and ``trees``, extra trees on the columns with their gaps. Scores are
the accuracy, and R² for numbers. Without gaps the three ways are one.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_friedman1
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from covmin import CCMSelector
from covmin.evaluation.compare import make_splits
from experiments.paper.data import load
from experiments.sets import load_classes
from experiments.study import Study
from experiments.tables import markdown_table

CLASSES = ("glass", "wine", "vowel", "iris", "cancer", "digits", "Yale", "TOX-171")
NUMBERS = ("diabetes", "friedman", "product")
WAYS = ("gaps", "iterative", "mean")
JUDGES = ("machine", "trees")
SHARES = (0.05, 0.2, 0.5)
KINDS = ("at random", "by the value")
SIZES = (1, 2, 3, 5, 10, 20)
# Iterative imputation of more columns takes minutes; of wide sets so many are drawn.
_MOST_COLUMNS = 40
_MOST_ROWS = 500
_N_FOLDS = 3


@lru_cache
def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and response of a set, of wide or long ones a part drawn with a fixed seed."""
    rng = np.random.default_rng(0)
    if name == "friedman":
        X, y = make_friedman1(300, 15, noise=1.0, random_state=0)
    elif name == "product":
        X = rng.standard_normal((300, 10))
        y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(300)
    elif name in ("cancer", "diabetes", "iris"):
        loaders = {"cancer": load_breast_cancer, "diabetes": load_diabetes, "iris": load_iris}
        X, y = loaders[name](return_X_y=True)
    else:
        X, y = load_classes(name) if name == "digits" else load(name)
    columns = np.sort(rng.choice(X.shape[1], min(X.shape[1], _MOST_COLUMNS), replace=False))
    rows = np.sort(rng.choice(len(y), min(len(y), _MOST_ROWS), replace=False))
    X = X[np.ix_(rows, columns)].astype(float)
    return X[:, np.ptp(X, axis=0) > 0], y[rows]


def with_values_taken_out(X: np.ndarray, kind: str, share: float, seed: int) -> np.ndarray:
    """The same table with a share of its values missing.

    By the value, the chance of a value grows with its rank in the column, from none to twice the
    share.
    """
    rng = np.random.default_rng(seed)
    chance = np.full(X.shape, share)
    if kind == "by the value":
        chance = 2.0 * share * (X.argsort(axis=0).argsort(axis=0) + 0.5) / len(X)
    return np.where(rng.random(X.shape) < chance, np.nan, X)


def imputed(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both without gaps, by iterative imputation as it was learned on the first."""
    imputer = IterativeImputer(random_state=0, keep_empty_features=True).fit(train)
    return imputer.transform(train), imputer.transform(test)


def order(way: str, X: np.ndarray, filled: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The features from best to worst."""
    m = min(max(SIZES), X.shape[1])
    if way != "mean":
        ranking = CCMSelector(m).fit(X if way == "gaps" else filled, y).ranking_
        return np.argsort(ranking)
    imputer = SimpleImputer(add_indicator=True, keep_empty_features=True)
    ranking = CCMSelector(m).fit(imputer.fit_transform(X), y).ranking_
    best = ranking[: X.shape[1]].copy()
    marked = imputer.indicator_.features_
    best[marked] = np.minimum(best[marked], ranking[X.shape[1] :])
    return np.argsort(best, kind="stable")


def scores(
    chosen: np.ndarray, raw: list[np.ndarray], filled: list[np.ndarray], y: list[np.ndarray]
) -> dict[str, float]:
    """The score of each judge on some columns; tables are those of training and of test."""
    classes = y[0].dtype.kind not in "f" or np.unique(y[0]).size < 20
    machine = make_pipeline(StandardScaler(), SVC() if classes else SVR())
    trees = (ExtraTreesClassifier if classes else ExtraTreesRegressor)(50, random_state=0)
    found = {}
    for judge, model, (train, test) in (("machine", machine, filled), ("trees", trees, raw)):
        found[judge] = float(model.fit(train[:, chosen], y[0]).score(test[:, chosen], y[1]))
    return found


def work(unit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Scores of every way at every number of features."""
    X, y = table(unit["set"])
    numbers = unit["set"] in NUMBERS
    train, test = make_splits(X, y, cv=_N_FOLDS, classification=not numbers)[0][unit["fold"]]
    if unit["share"]:
        X = with_values_taken_out(X, unit["kind"], unit["share"], unit["fold"])
    raw, responses = [X[train], X[test]], [y[train], y[test]]
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filled = list(imputed(*raw)) if unit["share"] else raw
        for way in WAYS if unit["share"] else WAYS[:1]:
            best = order(way, raw[0], filled[0], responses[0])
            for m in [m for m in SIZES if m <= X.shape[1]]:
                found = scores(best[:m], raw, filled, responses)
                rows += [{"way": way, "m": m, "judge": j, "score": s} for j, s in found.items()]
    return rows


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean scores over numbers of features and folds, in per cent, by set and way."""
    keys = ["judge", "kind", "share", "set", "way"]
    return (100 * frame.groupby(keys, sort=False)["score"].mean()).unstack("way").reset_index()


def without_gaps(table_of_means: pd.DataFrame) -> pd.Series:
    """Scores of each judge on each set as it is."""
    return table_of_means.query("share == 0").set_index(["judge", "set"])["gaps"]


def overview(table_of_means: pd.DataFrame, sets: Sequence[str]) -> pd.DataFrame:
    """Means over sets, and what gaps gain over iterative imputation."""
    whole = without_gaps(table_of_means)
    part = table_of_means.query("share > 0 and set in @sets")
    groups = part.assign(less=part["gaps"] - part["iterative"]).groupby(
        ["judge", "kind", "share"], sort=False
    )
    wide = groups[list(WAYS)].mean().reset_index()
    wide.insert(3, "no gaps", [float(whole.loc[j].reindex(sets).mean()) for j in wide["judge"]])
    wide["gaps less iterative"] = [
        f"{mean:+.1f} ± {sem:.1f}"
        for mean, sem in zip(groups["less"].mean(), groups["less"].sem(), strict=True)
    ]
    wide["share"] = [f"{100 * share:.0f} %" for share in wide["share"]]
    return wide.replace({"judge": {"machine": "SVM"}})


def report(table_of_means: pd.DataFrame) -> str:
    """The tables in Markdown: means over sets, and set by set at 20 % at random."""
    whole = without_gaps(table_of_means)
    some = table_of_means.query("share > 0")
    text = []
    for what, sets in (("Accuracy in per cent", CLASSES), ("R² in per cent", NUMBERS)):
        title = f"## {what}, mean over {len(sets)} sets"
        text += [title, markdown_table(overview(table_of_means, sets), 1)]
    one = some.query("share == 0.2 and kind == 'at random'").drop(columns=["kind", "share"])
    one.insert(2, "no gaps", [whole[j, s] for j, s in zip(one["judge"], one["set"], strict=True)])
    return "\n\n".join([*text, "## Set by set, 20 % taken out at random", markdown_table(one, 1)])


def units() -> list[dict[str, Any]]:
    conditions = [("none", 0.0), *((kind, share) for share in SHARES for kind in KINDS)]
    return [
        {"set": name, "kind": kind, "share": share, "fold": fold}
        for name in (*CLASSES, *NUMBERS)
        for kind, share in conditions
        for fold in range(_N_FOLDS)
    ]


STUDIES = [Study("missing", units, work, 1.0, means, report, by="set", digits=2)]
