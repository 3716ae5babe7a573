"""Everything that a fit found, as plain values, for the terminal, JSON, notebooks and pages."""

import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from covmin.constants import SAMPLE_ROWS
from covmin.core.regression import Regression, regress_on_sets
from covmin.data import Table, TableOptions, read
from covmin.data.columns import LEFT_OUT
from covmin.data.columns import summary as read_as
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.seeds import seed_of
from covmin.text import listed, percent

from .headline import error_curve, explain_choice, headline, headline_parts, measures, n_given

# Leading features for which the summary says what they explain alone.
_ALONE = 12
# A class with at least this share of the samples is mentioned next to the accuracy.
_MOST_SAMPLES = 2 / 3


def summary(
    selector: Any, table: Any = None, *, target: str | None = None, explained: Any = None
) -> dict[str, Any]:
    """Return everything that a fit found, as a dict of plain values.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.
    table : Table, default=None
        The samples of the fit. With them, the summary has the number of samples and of those in
        each class, and what each of the leading features explains alone.
    target : str, default=None
        Name of the response; None means "y".
    explained : Explained, default=None
        Of the same table, to share its regressions.

    Returns
    -------
    summary : dict
        Contains only dicts, lists, numbers and strings. Features are in order of their rank, and
        referred to by the numbers of their columns elsewhere.
    """
    check_is_fitted(selector)
    names, target = feature_names(selector), target or "y"
    explained = explained or (table and Explained(selector, table))
    classes = _classes(selector, table)
    rows = feature_rows(selector, explained, _ALONE)
    return {
        "headline": headline(selector, target),
        "headline_parts": list(headline_parts(selector, target)),
        "target": target,
        "task": selector.task_,
        "n_samples": None if table is None else table.n_samples,
        "n_features": int(selector.n_features_in_),
        "n_selected": int(selector.n_features_),
        "n_kept": int(selector.support_.sum()),
        "n_given": n_given(selector),
        "why": explain_choice(selector),
        "features": rows,
        "interactions": _effects(selector.interactions_, names),
        "spread": _effects(selector.spread_, names),
        "cv_results": error_curve(selector),
        "measures": _measures(selector, classes),
        "classes": classes,
        "imbalance": _imbalance(classes),
        "plan": [
            {"topic": d.topic, "choice": str(d.choice), "reason": d.reason}
            for d in selector.plan_.decisions
        ],
        "notes": _reading(selector, rows),
        "left_out": [
            {"name": str(reading.column), "kind": reading.kind, "reason": reading.words}
            for reading in selector.plan_.readings
            if reading.kind in LEFT_OUT
        ],
        "kernel": selector.kernel_,
        "bandwidth": float(selector.bandwidth_),
        "epsilon": float(selector.epsilon_),
        "n_iter": int(selector.n_iter_),
        "converged": bool(selector.converged_),
    }


class Rows(NamedTuple):
    """Prepared rows of a table."""

    X: np.ndarray  # (n, d), standardised
    Y: np.ndarray  # (n, k), centred
    p: np.ndarray  # (n,), weights that sum to one
    weights: np.ndarray  # (d,), of the columns in a kernel
    owner: np.ndarray  # (d,), the table's column of each
    rows: np.ndarray  # (n,), their places in the table


class Explained:
    """The fraction of the variance of y that sets of features explain, on a sample of the rows.

    By leave-one-out prediction of a kernel ridge regression with its own bandwidth and ridge. A set
    is a sequence of column numbers of the table as passed.
    """

    def __init__(self, selector: Any, table: Any) -> None:
        self.table, self._known = table, dict[tuple[int, ...], float]()
        self._standardize = "rank" if selector.standardize == "rank" else True
        self._seed = seed_of(selector.random_state)

    def __call__(self, columns: Iterable[int]) -> float:
        """Return the fraction that some columns explain together."""
        key = tuple(sorted({int(j) for j in columns}))
        if key not in self._known:
            self._known[key] = 1.0 - self.regression(key).unexplained
        return self._known[key]

    def regression(self, columns: Sequence[int], also: np.ndarray | None = None) -> Regression:
        """Return the regression on some columns, which also predicts further responses."""
        used = np.isin(self.sample.owner, columns)
        Z, Y, p, weights = self.sample[:4]
        with one_blas_thread():
            [found] = regress_on_sets(Z[:, used], Y, p, weights[used], also=also)
        return found

    def likeness(self, columns: np.ndarray) -> np.ndarray:
        """Return the mean squared correlation of each column with some of them, given by a mask."""
        Z, _, p, _, owner, _ = self.sample
        Z = np.sqrt(p)[:, None] * (Z - p @ Z)
        Z /= np.maximum(np.sqrt((Z**2).sum(axis=0)), np.finfo(float).tiny)
        squares = ((Z.T @ Z[:, columns[owner]]) ** 2).sum(axis=1) / max(columns[owner].sum(), 1)
        counts = np.bincount(owner, minlength=columns.size)
        return np.bincount(owner, squares, columns.size) / np.maximum(counts, 1)

    @cached_property
    def sample(self) -> Rows:
        """The rows of the regressions."""
        columns = self.table.columns(self._standardize)
        rows = columns.distinct(self._seed)
        first, p = rows.first[:SAMPLE_ROWS], rows.p[:SAMPLE_ROWS]
        p = p / p.sum()
        Z, Y = columns.X.take(first), self.table.response.Y[first]
        owner = self.table.layout.source[columns.index]
        return Rows(Z, Y - p @ Y, p, columns.units.scale**2, owner, first)


def read_as_fitted(selector: Any, X: Any, y: Any = None) -> Table:
    """Return a table, or read X and y as for the fit."""
    with warnings.catch_warnings(action="ignore"):  # the fit has already issued them
        return read(X, y, TableOptions.of(selector))


def feature_names(selector: Any) -> list[str]:
    """Return the names of the features of a fit, or x0, x1 and so on."""
    names = getattr(selector, "feature_names_in_", None)
    return [f"x{j}" for j in range(selector.n_features_in_)] if names is None else list(names)


def _effects(found: Any, names: list[str]) -> list[dict[str, Any]]:
    """Return a dict for each set of features that was found."""
    rows = []
    for members, share, p_value in zip(found.features, found.share, found.p_value, strict=True):
        columns = [int(j) for j in np.atleast_1d(members) if j >= 0]
        of = {"columns": columns, "features": [str(names[j]) for j in columns]}
        p = None if np.isnan(p_value) else float(p_value)
        rows.append(of | {"share": float(share), "p_value": p})
    return rows


def feature_rows(selector: Any, explained: Any, n_alone: int | None = None) -> list[dict[str, Any]]:
    """Return a dict for each feature, best first; given ones precede.

    ``alone`` is what each of the first ``n_alone`` in use explains on its own, or None.
    ``in_folds`` is the fraction of the folds that select it, ``reason`` says why it is left out.
    """
    names, ranking, groups = feature_names(selector), selector.ranking_, selector.feature_groups_
    out = {read.column: read.words for read in selector.plan_.readings if read.kind in LEFT_OUT}
    is_named, frequency = hasattr(selector, "feature_names_in_"), selector.fold_frequency_
    order = np.argsort(ranking, kind="stable").tolist()
    used = [j for j in order if selector.column_kinds_[j] not in LEFT_OUT]
    alone = {j: float(explained([j])) for j in used[:n_alone]} if explained else {}
    counts = explained.table.n_distinct() if explained else selector.n_distinct_
    rows = {}
    for j in order:
        notes, reason = ["given"] if ranking[j] == 0 else [], ""
        if (key := names[j] if is_named else j) in out:
            reason = f"left out: {out[key]}"
        elif selector.constant_[j]:
            reason = "constant"
        elif not selector.support_[j]:
            reason = f"not among the first {m}" if (m := selector.n_features_) > 1 else "not first"
        if groups is not None and ranking[j] > 0:
            label = str(groups[selector.group_of_column_[j]])
            notes += [f"group {label}"] if label != names[j] else []
        rows[j] = {
            "column": j,
            "name": str(names[j]),
            "rank": int(ranking[j]),
            "weight": float(selector.weights_[j]),
            "lost_without": None if np.isnan(lost := selector.lost_without_[j]) else float(lost),
            "kept": bool(selector.support_[j]),
            "in_folds": None if frequency is None or ranking[j] == 0 else float(frequency[j]),
            "kind": str(selector.column_kinds_[j]),
            "distinct": None if np.isnan(counts[j]) else int(counts[j]),
            "missing": float(selector.missing_share_[j]),
            "reason": reason,
            "alone": alone.get(j),
            "notes": notes,
        }
    for columns in selector.interactions_.features:
        members = columns[columns >= 0].tolist()
        for j in members:
            others = " and ".join(str(names[k]) for k in members if k != j)
            rows[j]["notes"].append(f"interacts with {others}")
    for j in selector.spread_.features:
        rows[j]["notes"].append("affects the spread of y")
    return list(rows.values())


def _reading(selector: Any, rows: list[dict[str, Any]]) -> list[str]:
    """Return sentences about how columns and missing values were read."""
    missing = [row["name"] for row in rows if row["missing"] > 0.0]
    said = [f"Missing values in {listed(missing)} are used as information."] if missing else []
    return said + read_as([each for each in selector.plan_.readings if each.kind not in LEFT_OUT])


def beside_the_rank(features: list[dict[str, Any]]) -> tuple[str, str, list[tuple[str, float]]]:
    """Return a title, a sentence, and the text and bar (0 to 1) of the number beside each rank.

    It is what is lost without the feature; the weight if that was not measured.
    """
    lost = [row["lost_without"] for row in features]
    most = max((value for value in lost if value is not None), default=0.0)
    if most <= 0.0:
        said = "weight: from 0 (not used) to 1 (fully used) in the selection"
        return "weight", said, [(f"{row['weight']:.2f}", row["weight"]) for row in features]
    said = (
        "lost without: what the selected features no longer explain, as a share of the variance, "
        "if this one alone is left out; about 0 if others carry the same information"
    )
    shown = [("", 0.0) if v is None else (percent(max(v, 0.0)), max(v, 0.0) / most) for v in lost]
    return "lost without", said, shown


def _measures(selector: Any, classes: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Return all measures of the selected features, and their values without features.

    ``without`` is the value of predicting the mean, the class frequencies, or at random; None if
    it is unknown, as for the score of an estimator.
    """
    without = {"error": 1.0, "concordance": 0.5}
    if classes and classes[0]["count"] is not None:
        counts = np.array([row["count"] for row in classes])
        shares = counts[counts > 0] / counts.sum()
        without |= {
            "accuracy": float(shares.max()),
            "balanced_accuracy": 1.0 / shares.size,
            "log_loss": float(-(shares @ np.log(shares))),
            "roc_auc": 0.5,
        }
    m, rows = selector.n_features_, []
    for name, measure in measures(selector).items():
        value, error = measure.at(m)
        row = {"name": name, "title": measure.title, "value": value, "standard_error": error}
        rows.append(row | {"without": without.get(name)})
    return rows


def measure_text(name: str, value: float) -> str:
    """Format the value of a measure: fractions as percentages, others with three decimals."""
    is_share = name in ("error", "accuracy", "balanced_accuracy")
    return percent(value) if is_share else f"{value:.3f}"


def _classes(selector: Any, table: Any) -> list[dict[str, Any]] | None:
    """Return the classes with the number of samples in each, if the table is at hand."""
    if selector.classes_ is None:
        return None
    labels = [level_text(value) for value in np.asarray(selector.classes_).tolist()]
    codes = None if table is None else table.response.labels
    counts = [None] * len(labels) if codes is None else np.bincount(codes, minlength=len(labels))
    return [
        {"label": label, "count": None if n is None else int(n)}
        for label, n in zip(labels, counts, strict=True)
    ]


def level_text(value: Any) -> str:
    """Return a class or a level as text; whole numbers without a point."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _imbalance(classes: list[dict[str, Any]] | None) -> str:
    """Return a sentence if one class has most of the samples, otherwise an empty string."""
    if not classes or len(classes) < 2 or classes[0]["count"] is None:
        return ""
    most = max(classes, key=lambda row: row["count"])
    share = most["count"] / sum(row["count"] for row in classes)
    if share < _MOST_SAMPLES:
        return ""
    said = f"{percent(share)} of the samples belong to the class “{most['label']}”, so always"
    why = "predicting it is right as often."
    cure = "Look at the balanced accuracy and the area under the ROC curve instead of the accuracy."
    return f"{said} {why} {cure}"


def find_substitutes(
    selector: Any, explained: Explained, n: int, most: int | None = None
) -> list[tuple[tuple[int, int], dict[str, Any]]]:
    """Return, for each selected feature (the first ``most`` of them), the n best substitutes.

    Candidates are the unselected features most like the one that is dropped, and the next ones in
    the ranking; what the set explains decides among them. Each is returned with the numbers of the
    two features, or of their groups if there are groups.
    """
    groups = selector.feature_groups_
    labels = feature_names(selector) if groups is None else list(map(str, groups))
    unit = selector.group_of_column_
    ranking = selector.ranking_[np.unique(unit, return_index=True)[1]]
    order = np.argsort(ranking, kind="stable")
    given, order = order[ranking[order] == 0], order[ranking[order] > 0]
    chosen, others = order[: selector.n_features_], order[selector.n_features_ :]

    def unexplained(features: np.ndarray) -> float:
        return 1.0 - explained(np.flatnonzero(np.isin(unit, [*given, *features])))

    whole, found = unexplained(chosen), []
    for feature in chosen[:most]:
        rest = chosen[chosen != feature]
        likeness = np.bincount(unit, explained.likeness(unit == feature)) / np.bincount(unit)
        alike = np.argsort(-likeness[others], kind="stable")[: 2 * n]
        candidates = others[np.union1d(alike, np.arange(min(n, others.size)))]
        without = unexplained(rest)
        replaced = np.array([unexplained(np.append(rest, k)) for k in candidates])
        for k in np.argsort(replaced, kind="stable")[:n]:
            row = {
                "feature": labels[feature],
                "substitute": labels[candidates[k]],
                "unexplained": whole,
                "unexplained_without": without,
                "unexplained_with": float(replaced[k]),
            }
            found.append(((int(feature), int(candidates[k])), row))
    return found
