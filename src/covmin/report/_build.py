"""Everything a report shows, as plain values."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.utils.validation import check_is_fitted

import covmin

from ._choice import chance, error_curve, explain_choice
from ._code import reproduction_code
from ._relations import correlations, feature_plots, in_units, interacting_pair, substitutes
from ._samples import Samples, as_samples
from ._warnings import data_warnings

__all__ = ["build_report"]

_PLOTTED = 12
_PAIRED = 6
_CORRELATED = 24
_PATH_ROWS = 30
_SLIDER = 100


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
) -> dict[str, Any]:
    """Gather what a report on a fitted selector shows.

    Parameters
    ----------
    selector : CCMSelector
        Fitted on X and y.
    X : array-like of shape (n_samples, n_features)
        The samples it was fitted on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their response.
    feature_names : sequence of str, optional
        Names of the columns; by default the selector's.
    target_name : str, default="y"
        Name of the response.
    source : str, optional
        Where the data came from, such as a file name.
    notes : sequence of str
        Remarks to show, such as warnings of the fit.
    code : str, optional
        Code that repeats the fit; written from the parameters by default.

    Returns
    -------
    report : dict
        Lists, numbers and strings only: what `render_report` takes, or ``json.dumps``.

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
    order = np.argsort(selector.ranking_, kind="stable")
    kept = int(selector.support_.sum())
    top = order[: min(_CORRELATED, order.size)]
    return {
        "target": target_name,
        "source": source,
        "names": samples.names,
        "data": _data_summary(samples),
        "asked": _asked(selector),
        "notes": [*(str(note) for note in notes), *samples.notes],
        "warnings": data_warnings(samples, order),
        "choice": _choice(selector),
        "ranking": _ranking(selector, order),
        "path": _path(selector, order),
        "plots": feature_plots(samples, order[:_PLOTTED]),
        "pair": interacting_pair(samples, order[: max(2, min(kept, _PAIRED))]),
        "interactions": [
            {"features": [int(j) for j in pair], "chance": chance(p_value)}
            for pair, p_value in zip(
                selector.interactions_.features, selector.interactions_.p_value, strict=True
            )
        ],
        "correlation": {
            "features": [int(j) for j in top],
            "percent": correlations(samples, top),
        },
        "substitutes": substitutes(samples, order, kept),
        "described_rows": int(samples.rows.size),
        "code": code or reproduction_code(selector, target_name, source),
        "versions": _versions(),
    }


def _choice(selector: Any) -> dict[str, Any]:
    m, choices = int(selector.n_features_), int(selector.ranking_.max())
    curve = error_curve(selector)
    known = dict(zip(curve["n_features"], curve["error"], strict=True)) if curve else {}
    return {
        "m": m,
        "kept": int(selector.support_.sum()),
        "choices": choices,
        "why": explain_choice(selector),
        "error": known.get(m),
        "largest": max(m, min(choices, _SLIDER)),
        "curve": curve,
    }


def _data_summary(samples: Samples) -> dict[str, Any]:
    n, d = samples.X.shape
    summary: dict[str, Any] = {"n_samples": n, "n_features": d, "task": samples.task}
    if samples.task == "classification":
        labels, counts = np.unique(samples.y, return_counts=True)
        summary["classes"] = [
            {"label": str(label), "count": int(count)}
            for label, count in zip(labels, counts, strict=True)
        ]
    else:
        y, size = in_units(samples.y)
        summary["response"] = {
            name: size * float(value)
            for name, value in zip(
                ("min", "median", "mean", "max", "sd"),
                (y.min(), np.median(y), y.mean(), y.max(), y.std()),
                strict=True,
            )
        }
        summary["n_outputs"] = 1 if samples.responses.ndim == 1 else samples.responses.shape[1]
    return summary


def _asked(selector: Any) -> list[dict[str, str]]:
    asked = selector.n_features_to_select
    rows = [
        ("Features to keep", "chosen by cross-fitting" if asked == "auto" else str(asked)),
        ("Task", selector.task_ + (" (read from the response)" if selector.task == "auto" else "")),
        ("Kernel", f"{selector.kernel_}, bandwidth {_number(selector.bandwidth_)}"),
        (
            "Ridge ε",
            _number(selector.epsilon_)
            + (" (default)" if isinstance(selector.epsilon, str) else ""),
        ),
        (
            "Strategy",
            f"{selector.strategy}, {len(selector.path_.n_features)} stages, "
            f"{selector.n_iter_} steps",
        ),
        ("Converged", "yes" if selector.converged_ else "no: raise max_iter"),
    ]
    return [{"label": label, "value": value} for label, value in rows]


def _ranking(selector: Any, order: np.ndarray) -> dict[str, Any]:
    """Columns from best to worst, ranks other than 1, 2, 3…, and weights that are not zero."""
    weights = selector.weights_[order]
    used = int(np.max(np.flatnonzero(weights), initial=-1)) + 1
    ranks = selector.ranking_[order]
    plain = np.array_equal(ranks, np.arange(1, ranks.size + 1))
    return {
        "order": [int(j) for j in order],
        "ranks": None if plain else [int(rank) for rank in ranks],
        "weights": [round(float(w), 4) for w in weights[:used]],
    }


def _path(selector: Any, order: np.ndarray) -> dict[str, Any]:
    rows = order[:_PATH_ROWS]
    return {
        "sizes": [int(size) for size in selector.path_.n_features],
        "features": [int(j) for j in rows],
        "loo": [round(float(error), 5) for error in selector.path_.optimistic_loo_error],
        "weights": [
            [round(float(w), 3) for w in stage] for stage in selector.path_.weights[:, rows]
        ],
    }


def _versions() -> dict[str, str]:
    return {
        "covmin": covmin.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }


def _number(value: float) -> str:
    return f"{value:.4g}"
