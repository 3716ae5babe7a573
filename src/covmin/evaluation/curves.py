"""Score of a kernel SVM against the number of features."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from covmin.core.kernels.distances import median_bandwidth
from covmin.runtime.seeds import unit_seed

from .selectors import ComparedTable, Make, order_of_features

PROTOCOLS = ("nested", "paper")
# Training and test rows.
Split = tuple[np.ndarray, np.ndarray]
# Cross-validation folds that calibrate the probabilities of the SVM.
_CALIBRATION_FOLDS = 3
# Of Okabe and Ito, safe for colour-blind readers.
_COLOURS = ("#D55E00", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#999999", "#8C6D1F")


def default_sizes(n_features: int) -> list[int]:
    """Return the numbers of features to evaluate: 5, 10, …, 100 if d > 100, else 1…d."""
    return list(range(5, 101, 5)) if n_features > 100 else list(range(1, n_features + 1))


@dataclass(frozen=True)
class CurveTask:
    """One data set, with everything that determines the scores on it."""

    table: ComparedTable
    y: np.ndarray
    selectors: Mapping[str, Make]
    sizes: Sequence[int]  # numbers of features to score
    splits: list[list[Split]]  # of each repeat and fold
    classification: bool
    random_state: int
    scorer: Any = None  # of scikit-learn

    def units(self, protocol: str) -> list[dict[str, Any]]:
        """Return the units of work: one ranking per fold, or one in all for "paper"."""
        heads = [{"selector": name, "protocol": protocol} for name in self.selectors]
        folds = [{"repeat": repeat, "fold": fold} for repeat, fold in self._folds()]
        return [head | fold for head in heads for fold in (folds if protocol == "nested" else [{}])]

    def _folds(self) -> list[tuple[int, int]]:
        return [(r, f) for r, folds in enumerate(self.splits) for f in range(len(folds))]

    def __call__(self, unit: Mapping[str, Any]) -> dict[str, Any]:
        """Rank the features, and score the ranking on the fold of a unit, or else on all.

        Returns tidy ``rows``, one per fold and number of features, and the ``error``, if any.
        """
        rows, position, folds = np.arange(len(self.y)), "all", self._folds()
        if "fold" in unit:
            folds = [(unit["repeat"], unit["fold"])]
            rows, position = self.splits[unit["repeat"]][unit["fold"]][0], "{}/{}".format(*folds[0])
        make, m, table = self.selectors[unit["selector"]], max(self.sizes), self.table.rows(rows)
        seed = unit_seed(self.random_state, "ranking", position)
        task = "classification" if self.classification else "regression"
        order, seconds, error = rank_features(make, m, table, self.y[rows], seed, task)
        how: Any = {"classification": self.classification, "scorer": self.scorer}
        how |= {"seed": self.random_state}
        head, found = {"selector": unit["selector"], "protocol": unit["protocol"]}, []
        for r, f in folds:
            place = head | {"repeat": r, "fold": f}
            scores = prefix_scores(order, self.sizes, self.table, self.y, self.splits[r][f], **how)
            for m, score in zip(self.sizes, scores, strict=True):
                row = place | {"n_features": m, "score": score, "fit_seconds": round(seconds, 4)}
                found.append(row)
        return {"rows": found, "error": error}


def rank_features(
    make: Make, m: int, table: Any, y: Any, seed: int, task: str = "auto"
) -> tuple[np.ndarray | None, float, str | None]:
    """Return the columns from best to worst by a selector of m features, seconds, and the error.

    The columns are None if there was an error, which does not stop the run.
    """
    selector, start = make(m, random_state=seed, task=task), time.perf_counter()
    order, failure = None, None
    try:
        # Warnings, for example about constant columns, would repeat thousands of times.
        with warnings.catch_warnings(action="ignore"):
            order = order_of_features(selector, table, y)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"[:300]
    return order, time.perf_counter() - start, failure


def prefix_scores(
    order: np.ndarray | None,
    sizes: Sequence[int],
    table: Any,
    y: np.ndarray,
    split: Split,
    *,
    classification: bool,
    seed: int = 0,
    scorer: Any = None,
) -> list[float | None]:
    """Return the scores of a kernel SVM on the first m features of an order, for each m.

    None without an order. Only training samples set scales, missing values and the SVM.
    """
    if order is None:
        return [None] * len(sizes)
    train, test = split
    scorer = scorer or get_scorer("accuracy" if classification else "r2")
    calibrated = getattr(scorer, "_response_method", None) == "predict_proba"
    scores: list[float | None] = []
    for first in (order[:m] for m in sizes):
        Z = table.columns_of(first) if isinstance(table, ComparedTable) else table[:, first]
        prepare = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
        Z_train, Z_test = prepare.fit_transform(Z[train]), prepare.transform(Z[test])
        machine = _machine(Z_train, y[train], classification, seed, calibrated)
        scores.append(round(float(scorer(machine.fit(Z_train, y[train]), Z_test, y[test])), 6))
    return scores


def _machine(Z: np.ndarray, y: np.ndarray, classes: bool, seed: int, calibrated: bool) -> Any:
    """Return an SVM with C = 1 and a Gaussian kernel with σ by the median rule.

    For numbers, the response is standardised and the tube is 0.1.
    """
    gamma = 1.0  # if no selected feature varies, the value does not matter
    if (np.ptp(Z, axis=0) > 0).any():
        gamma = 1.0 / (2.0 * median_bandwidth(Z, 2, seed=seed) ** 2)
    if not classes:
        regression = SVR(C=1.0, gamma=gamma, epsilon=0.1)
        return TransformedTargetRegressor(regression, transformer=StandardScaler())
    machine = SVC(C=1.0, gamma=gamma)
    if not calibrated:
        return machine
    folds = min(_CALIBRATION_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    return CalibratedClassifierCV(machine, cv=folds, ensemble=False)


@dataclass(frozen=True, repr=False)
class CurveResult:
    """Scores of selectors, fold by fold.

    Attributes
    ----------
    frame : pandas.DataFrame
        Tidy, with columns selector, protocol, repeat, fold, n_features, score, fit_seconds.
    score_name : str
        Name of the score: ``"accuracy"``, ``"R²"``, or the requested ``scoring``.
    unfinished : dict of str to (int, int)
        Selectors stopped by the time limit: number of rankings done, and number of all rankings.
    """

    frame: Any
    score_name: str
    unfinished: dict[str, tuple[int, int]]

    def __repr__(self) -> str:
        return (
            f"<CurveResult: {len(self.frame)} scores ({self.score_name}) of "
            f"{', '.join(self.frame['selector'].unique())}; see .summary(), .frame and .plot()>"
        )

    def summary(self) -> Any:
        """Average over repeats and folds, for each selector and number of features.

        Returns
        -------
        summary : pandas.DataFrame
            ``mean_score``, ``standard_deviation`` (over folds), ``fit_seconds``, ``n_folds``
            and ``n_failed``. Failed folds are excluded from the means.
        """
        return summarise(self.frame, ["selector", "protocol", "n_features"])

    def plot(self, ax: Any = None) -> Any:
        """Draw the results.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; created if not given.

        Returns
        -------
        ax : matplotlib axes
        """
        from cycler import cycler

        from covmin.plotting.fitted import new_axes

        looks = cycler(linestyle=("-", "--", ":")) * cycler(color=_COLOURS, marker=list("o^vDPX*<"))
        ax, summary = new_axes(7.2, 4.2) if ax is None else ax, self.summary()
        ax.set_prop_cycle(looks)  # where colours repeat, lines differ
        for name, rows in summary.groupby("selector", sort=False):
            width = 2.2 if name == "ccm" else 1.3
            ax.plot(rows["n_features"], rows["mean_score"], linewidth=width, label=name)
        ranked = {"nested": "training folds", "paper": "all samples"}[summary["protocol"].iloc[0]]
        ax.set_title(f"ranked on {ranked}", fontsize="medium")
        ax.set(xlabel="number of selected features", ylabel=f"cross-validated {self.score_name}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(alpha=0.25)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return ax


def summarise(frame: Any, keys: list[str]) -> Any:
    """Average the scores of a tidy frame over repeats and folds."""
    return frame.groupby(keys, sort=False, as_index=False).agg(
        mean_score=("score", "mean"),
        standard_deviation=("score", "std"),
        fit_seconds=("fit_seconds", "mean"),
        n_folds=("score", "size"),
        n_failed=("score", lambda scores: int(scores.isna().sum())),
    )
