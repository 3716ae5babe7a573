"""Collect everything that a report shows, as plain values."""

import platform
import re
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

import covmin
from covmin import kernels
from covmin.constants import SAMPLE_ROWS
from covmin.data.columns import LEFT_OUT
from covmin.data.survival import survival_curve
from covmin.inference.verdicts import verdict_rows
from covmin.plotting.fitted import network_order
from covmin.selection.summary import Explained, measure_text, read_as_fitted, summary
from covmin.text import count_of, percent, printable, with_p_value

from .checks import check_data
from .plots import feature_plots, pair_plot
from .relations import effects, substitutes
from .view import View

# Number of features in each part of the page.
_VERDICTS = 60
_PATH_ROWS = 30
_SLIDER = 100
# Longer than any repr of an estimator, which would otherwise be abbreviated.
_WHOLE = 10**6


def build_report(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    target_name: str = "y",
    source: str | None = None,
    notes: Sequence[str] = (),
    code: str | None = None,
    verdicts: Any = None,
    found: dict[str, Any] | None = None,
    warnings: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Collect the contents of a report on a fitted selector.

    Parameters
    ----------
    selector : CCMSelector
        Fitted on X and y.
    X : array-like of shape (n_samples, n_features), or Table
        The samples of the fit.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        The response of the fit; not needed with a table.
    feature_names : sequence of str, optional
        Names of the columns; by default the selector's.
    target_name : str, default="y"
        Name of the response.
    source : str, optional
        Source of the data, such as a file name.
    notes : sequence of str
        Remarks to show, such as warnings of the fit.
    code : str, optional
        Code that repeats the fit; generated from the parameters by default.
    verdicts : VerdictSelector, optional
        Fitted on X and y too, for a section on which features matter at all.
    found, warnings : optional
        The `summary` of the fit and the ``warnings`` of a report, if they are known already.

    Returns
    -------
    report : dict
        Contains only lists, numbers and strings, for `render_report` or ``json.dumps``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from covmin import CCMSelector
    >>> from covmin.report import build_report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = CCMSelector(n_features_to_select=5, random_state=0).fit(X, y)
    >>> report = build_report(selector, X, y, target_name="cultivar")
    >>> report["data"]["n_samples"], report["choice"]["m"], len(report["ranking"]["order"])
    (178, 5, 13)
    """
    check_is_fitted(selector)
    table = read_as_fitted(selector, X, y)
    view = View(selector, table, feature_names)
    explained = Explained(selector, view.table)
    target = printable(target_name).strip()
    if found is None:
        found = summary(selector, table, target=target, explained=explained)
        alike = [each for each in selector.plan_.decisions if each.topic == "rows"]
        notes = [*notes, *(f"The rows {each.choice}: {each.reason}." for each in alike)]
    rows = found["features"]
    order = [row["column"] for row in rows]
    used = [row["column"] for row in rows if row["kind"] not in LEFT_OUT]
    kept = [row["column"] for row in rows if row["kept"]]
    alone = {row["column"]: row["alone"] for row in rows if row["alone"] is not None}
    pairs = [row["columns"] for row in found["interactions"]]
    n, shown = found["n_samples"], view.table.n_samples
    notes = [*notes, *found["notes"]]
    if shown < n:
        notes.append(f"Warnings and figures use {shown:,} of {n:,} rows.")
    code = code or reproduction_code(selector)
    changes, path = effects(view, explained, kept), selector.path_
    plots = [plot | {"effect": changes.get(plot["feature"])} for plot in feature_plots(view, alone)]
    return {
        "target": target,
        "source": source and printable(source),
        "names": view.names,
        "headline": [printable(part).strip() for part in found["headline_parts"]],
        "data": _data_summary(view, found),
        "plan": [{key: printable(text) for key, text in row.items()} for row in found["plan"]],
        "notes": [printable(" ".join(str(note).split())) for note in notes],
        "warnings": check_data(selector, view, explained) if warnings is None else warnings,
        "choice": _choice(selector, found),
        "ranking": _ranking(rows) | {"about": _about_columns(rows)},
        "path": {
            "sizes": path.n_features.tolist(),
            "features": order[:_PATH_ROWS],
            "weights": np.round(path.weights[:, order[:_PATH_ROWS]], 3).tolist(),
        },
        "plots": plots,
        "pair": pair_plot(view, explained, pairs[0][:2] if pairs else used[:2]),
        "interactions": [
            {"features": row["columns"], "share": round(row["share"], 4)}
            | {"p_value": with_p_value(row["p_value"])}
            for row in found["interactions"]
        ],
        "network": network_order(selector.interactions_.features, selector.ranking_).tolist(),
        "verdicts": None if verdicts is None else _verdicts(verdicts, view.names),
        "substitutes": substitutes(selector, view, explained, kept),
        "described_rows": int(view.rows.size),
        "regression_rows": min(n, SAMPLE_ROWS),
        "code": "\n".join(map(printable, code.split("\n"))),
        "versions": {"covmin": covmin.__version__}
        | {library: version(library) for library in ("numpy", "scipy", "scikit-learn")}
        | {"python": platform.python_version()},
    }


def _ranking(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return columns by rank; where what is lost was not measured, weights stand beside ranks."""
    beside = "weight" if all(row["lost_without"] is None for row in rows) else "lost_without"
    names = {"order": "column", "ranks": "rank", "numbers": beside, "in_folds": "in_folds"}
    return {"beside": beside} | {n: [row[key] for row in rows] for n, key in names.items()}


def _about_columns(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line on each column: what it holds and, if it is passed over, the reason."""
    lines = []
    for row in rows:
        parts = [row["kind"]]
        parts += [] if row["distinct"] is None else [count_of(row["distinct"], "value")]
        parts += [f"{percent(row['missing'])} missing"] if row["missing"] else []
        # That a column ranks lower needs no words.
        parts += [row["reason"]] if row["kind"] in LEFT_OUT or row["reason"] == "constant" else []
        lines.append(printable(" · ".join(parts)))
    return lines


def _choice(selector: Any, found: dict[str, Any]) -> dict[str, Any]:
    m, choices, curve = found["n_selected"], int(selector.ranking_.max()), found["cv_results"]
    measures = [dict(row) for row in found["measures"]]
    error = next((row["value"] for row in measures if row["name"] == "error"), None)
    for row in measures:
        for key in ("value", "standard_error", "without"):
            row[key] = None if row[key] is None else measure_text(row["name"], row[key])
    return {
        "m": m,
        "kept": found["n_kept"],
        "choices": choices,
        "why": found["why"],
        "error": error if curve is not None and found["task"] != "survival" else None,
        "measures": measures,
        "largest": max(m, min(choices, _SLIDER)),
        "curve": curve,
        "rule": next(row["reason"] for row in found["plan"] if row["topic"] == "features"),
        "folds": any(row["in_folds"] is not None for row in found["features"]),
        "scored": selector.estimator is not None,
    }


def _data_summary(view: View, found: dict[str, Any]) -> dict[str, Any]:
    n = found["n_samples"]
    size: dict[str, Any] = {"n_samples": n, "n_features": len(view.names), "task": view.task}
    if view.task == "classification":
        labels, codes = view.classes
        counts = np.bincount(codes, minlength=len(labels)).tolist()
        if view.table.response.labels is not None:
            counts = [row["count"] for row in found["classes"]]
        classes = [{"label": a, "count": n} for a, n in zip(labels, counts, strict=True)]
        return size | {"classes": classes, "imbalance": printable(found["imbalance"])}
    if view.task == "survival":
        event, time = view.responses.T
        times, shares = survival_curve(event, time)
        half = times[shares <= 0.5]  # none where more than half are never seen to have it
        observed = {"events": int(event.sum()), "last": float(time.max())}
        return size | observed | {"median": float(half[0]) if half.size else None}
    values = {name: getattr(np, name)(view.y) for name in ("min", "median", "mean", "max")}
    values["sd"] = view.y.std()
    return size | {"response": {name: float(value) for name, value in values.items()}}


def _verdicts(tests: Any, names: Sequence[str]) -> dict[str, Any]:
    rows = verdict_rows(tests, names)
    return {
        "fdr": float(tests.fdr),
        "counts": Counter(row["verdict"] for row in rows),
        "rows": rows[:_VERDICTS],
        "hidden": max(len(rows) - _VERDICTS, 0),
    }


def reproduction_code(selector: Any) -> str:
    """Return Python code that fits the same selector to samples X and a response y.

    The user imports other objects than those of covmin.
    """
    # Without what does not affect the result.
    same = clone(selector).set_params(long_run=None, verbose="auto")
    made = " ".join(same.__repr__(N_CHAR_MAX=_WHOLE).split())
    names = set(re.findall(r"\b[A-Z]\w*(?=\()", made))
    lines = [
        f"from {module.__name__} import {name}"
        for module in (covmin, kernels)
        for name in sorted(names.intersection(module.__all__))
    ]
    used = ("selector.fit(X, y)", "X_selected = selector.transform(X)")
    return "\n".join([*lines, "", f"selector = {made}", *used])
