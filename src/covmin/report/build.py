"""Collect everything that a report shows, as plain values."""

import platform
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import covmin
from covmin.data import TableOptions, read
from covmin.data.survival import survival_curve
from covmin.plotting.network import network_order
from covmin.selection.summary import measure_text, summary
from covmin.text import printable

from .checks import data_warnings
from .code import reproduction_code
from .missing import missing_values
from .plots import drawn_rows, feature_plots, in_units
from .relations import interacting_pair, interactions, shared_information, substitutes
from .samples import Samples, as_samples
from .verdicts import told_verdicts

# Number of leading features in each part of the page.
_PLOTTED = 12
_PAIRED = 6
_CORRELATED = 24
_PATH_ROWS = 30
_SLIDER = 100
_MEASURED = ("value", "standard_error", "without")


def build_report(
    selector: Any,
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | None = None,
    target_name: str = "y",
    source: str | None = None,
    notes: Sequence[str] = (),
    code: str | None = None,
    verdicts: Any = None,
) -> dict[str, Any]:
    """Collect the contents of a report on a fitted selector.

    Parameters
    ----------
    selector : CCMSelector
        Fitted on X and y.
    X : array-like of shape (n_samples, n_features)
        The samples of the fit.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The response of the fit.
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
    samples = as_samples(selector, X, y, feature_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has already issued them
        table = read(X, y, TableOptions.of(selector))
    found = summary(selector, table, target=printable(target_name))
    order = np.argsort(selector.ranking_, kind="stable")
    chosen_from = order[~np.isin(order, list(samples.table.left_out))]
    kept, target = int(selector.support_.sum()), printable(target_name)
    code = code or reproduction_code(selector, target_name, source)
    stand_ins = substitutes(samples, chosen_from, kept)
    return {
        "target": target,
        "source": source and printable(source),
        "names": samples.names,
        "headline": found["headline_parts"],
        "data": _data_summary(samples) | {"imbalance": found["imbalance"]},
        "missing": missing_values(samples),
        "asked": _asked(selector),
        "notes": [printable(" ".join(str(note).split())) for note in notes],
        "warnings": data_warnings(samples, order),
        "choice": _choice(selector, found),
        "ranking": _ranking(selector, order),
        "path": _path(selector, order),
        "plots": feature_plots(samples, chosen_from[:_PLOTTED]),
        "pair": interacting_pair(samples, order[: max(2, min(kept, _PAIRED))]),
        "interactions": interactions(selector),
        "network": network_order(selector.interactions_.features, selector.ranking_).tolist(),
        "verdicts": told_verdicts(verdicts),
        "correlation": shared_information(samples, order[:_CORRELATED].tolist()),
        "substitutes": stand_ins,
        "described_rows": int(samples.rows.size),
        "drawn_rows": int(drawn_rows(samples).size),
        "code": "\n".join(map(printable, code.split("\n"))),
        "versions": {"covmin": covmin.__version__}
        | {library: version(library) for library in ("numpy", "scipy", "scikit-learn")}
        | {"python": platform.python_version()},
    }


def _choice(selector: Any, found: dict[str, Any]) -> dict[str, Any]:
    m, choices, curve = selector.n_features_, int(selector.ranking_.max()), found["cv_results"]
    errors = {row["name"]: row["value"] for row in found["measures"]}
    measures = [
        row | {key: row[key] and measure_text(row["name"], row[key]) for key in _MEASURED}
        for row in found["measures"]
    ]
    return {
        "m": int(m),
        "kept": int(selector.support_.sum()),
        "choices": choices,
        "why": found["why"],
        "error": errors.get("error") if curve and selector.task_ != "survival" else None,
        "measures": measures,
        "largest": int(max(m, min(choices, _SLIDER))),
        "curve": curve,
        "scored": selector.estimator is not None,
    }


def _data_summary(samples: Samples) -> dict[str, Any]:
    n, d = samples.X.shape
    size: dict[str, Any] = {"n_samples": n, "n_features": d, "task": samples.task}
    if samples.task == "classification":
        labels, codes = samples.classes
        counts = zip(labels, np.bincount(codes).tolist(), strict=True)
        classes = [{"label": label, "count": n} for label, n in counts]
        return size | {"classes": classes}
    if samples.task == "survival":
        event, time = samples.responses.T
        times, shares = survival_curve(event, time, np.ones(n))
        half = times[shares <= 0.5]  # none where more than half are never seen to have it
        told = {"events": int(event.sum()), "last": float(time.max())}
        return size | told | {"median": float(half[0]) if half.size else None}
    y, unit = in_units(samples.y)
    values = {"min": y.min(), "median": np.median(y), "mean": y.mean(), "max": y.max()}
    values["sd"] = y.std()
    response = {name: unit * float(value) for name, value in values.items()}
    n_outputs = 1 if samples.responses.ndim == 1 else samples.responses.shape[1]
    return size | {"response": response, "n_outputs": n_outputs}


def _asked(selector: Any) -> list[dict[str, str]]:
    asked, stages = selector.n_features_to_select, len(selector.path_.n_features)
    read = " (inferred from the response)" if selector.task == "auto" else ""
    default = " (default)" if isinstance(selector.epsilon, str) else ""
    rows = {
        "Features to select": "chosen by cross-validation" if asked == "auto" else str(asked),
        "Task": selector.task_ + read,
        "Kernel": f"{selector.kernel_}, bandwidth {selector.bandwidth_:.4g}",
        "Regularisation ε": f"{selector.epsilon_:.4g}{default}",
        "Stages": f"{stages}, {selector.n_iter_} steps",
        "Converged": "yes" if selector.converged_ else "no: increase max_iter",
    }
    return [{"label": label, "value": value} for label, value in rows.items()]


def _ranking(selector: Any, order: np.ndarray) -> dict[str, Any]:
    """Return columns from best to worst, ranks unless they are 1, 2, 3…, and nonzero weights."""
    weights, ranks = selector.weights_[order], selector.ranking_[order]
    used = int(np.max(np.flatnonzero(weights), initial=-1)) + 1
    plain = np.array_equal(ranks, np.arange(1, ranks.size + 1))
    return {
        "order": order.tolist(),
        "ranks": None if plain else ranks.tolist(),
        "weights": np.round(weights[:used], 4).tolist(),
    }


def _path(selector: Any, order: np.ndarray) -> dict[str, Any]:
    path, rows = selector.path_, order[:_PATH_ROWS]
    return {
        "sizes": path.n_features.tolist(),
        "features": rows.tolist(),
        "loo": np.round(path.optimistic_loo_error, 5).tolist(),
        "weights": np.round(path.weights[:, rows], 3).tolist(),
    }
