"""How well the selected features predict, against a prediction without features."""

from __future__ import annotations

from typing import Any

import numpy as np

from covmin.plotting.fitted import METRICS, cross_fitted, judged_by, metrics_of
from covmin.selection.scoring import scoring_name

from .reading import gaps_in, leveled
from .words import percent

# A class with at least this share of the samples is mentioned next to the accuracy.
_MOST_SAMPLES = 2 / 3
_SHARES = {"error", "accuracy", "balanced_accuracy"}


def title_of(selector: Any, measure: str) -> str:
    """Return the title of a measure of a cross-validated selector."""
    if measure == "score":
        return scoring_name(selector.estimator, selector.scoring)
    if measure == "error" and judged_by(selector) == "concordance":
        return "error, fraction of the variance of the martingale residuals"
    return METRICS[measure]


def held_out_measures(selector: Any, y: Any) -> list[dict[str, Any]]:
    """Return all measures of the selected features, and their values without features, as text.

    Empty without cross-validation. Each measure has a ``name``, a ``title``, its ``value`` and
    ``standard_error``, and ``without``: the value of predicting the mean, the class frequencies,
    or at random; None for the score of an estimator, where it is unknown.
    """
    if selector.cv_results_ is None:
        return []
    nothing = {"error": 1.0, "concordance": 0.5}
    if "accuracy" in metrics_of(selector):
        nothing |= _of_shares_alone(_class_shares(y)[1])
    found = []
    for name in metrics_of(selector):
        sizes, means, errors = cross_fitted(selector, name)
        at = int(np.flatnonzero(sizes == selector.n_features_)[0])
        written = percent if name in _SHARES else "{:.3f}".format
        without = written(nothing[name]) if name in nothing else None
        values = {"value": written(means[at]), "standard_error": written(errors[at])}
        found.append(
            {"name": name, "title": title_of(selector, name), **values, "without": without}
        )
    return found


def imbalance(y: Any) -> str:
    """Return a sentence if one class has most of the samples, otherwise an empty string."""
    labels, shares = _class_shares(y)
    most = int(shares.argmax())
    if len(labels) < 2 or shares[most] < _MOST_SAMPLES:
        return ""
    return (
        f"{percent(shares[most])} of the samples belong to the class “{labels[most]}”, so always "
        "predicting it is as often correct. Use the balanced accuracy and the area under the ROC "
        "curve instead."
    )


def _class_shares(y: Any) -> tuple[list[str], np.ndarray]:
    values = np.asarray(y)
    labels, codes = leveled(values[~gaps_in(values)])
    return labels, np.bincount(codes) / codes.size


def _of_shares_alone(shares: np.ndarray) -> dict[str, float]:
    """Return the measures of predicting the most frequent class, or the class frequencies."""
    return {
        "accuracy": float(shares.max()),
        "balanced_accuracy": 1.0 / shares.size,
        "log_loss": float(-(shares @ np.log(shares))),
        "roc_auc": 0.5,
    }
