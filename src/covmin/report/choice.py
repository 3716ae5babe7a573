"""The error curve, and the reason for the number of features in words."""

from typing import Any

import numpy as np

from covmin.plotting.fitted import cross_fitted, cross_fitted_errors, judged_by, metrics_of

from .headline import found, n_given
from .measures import title_of
from .words import count_of, verb


def error_curve(selector: Any) -> dict[str, Any] | None:
    """Return the cross-validated error against the number of features, at the ε used.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.

    Returns
    -------
    curve : dict or None
        ``measure``, "error" or "concordance", with ``n_features``, ``error`` and
        ``standard_error`` of equal length (errors as fractions of the variance of y, or
        concordance indices); ``best``, the best size; ``limit``, one standard error worse than its
        error; ``found``, whether that size is better than no features on the same samples by more
        than 1.5 standard errors of the difference; and ``measures``, all measures with their
        values. None if several sizes were not cross-validated.
    """
    measure = judged_by(selector)
    errors = cross_fitted_errors(selector, measure)
    if errors is None:
        return None
    sizes, mean, standard_error = errors
    worse = 1.0 if measure == "error" else -1.0
    best = int(np.argmin(worse * mean))
    return {
        "measure": measure,
        "n_features": sizes.tolist(),
        "error": mean.tolist(),
        "standard_error": standard_error.tolist(),
        "best": int(sizes[best]),
        "limit": float(mean[best] + worse * standard_error[best]),
        "found": found(selector),
        "measures": [_measure(selector, name) for name in metrics_of(selector)],
    }


def _measure(selector: Any, name: str) -> dict[str, Any]:
    _, mean, standard_error = cross_fitted(selector, name)
    values = {"mean": mean.tolist(), "standard_error": standard_error.tolist()}
    return {"name": name, "title": title_of(selector, name), **values}


def errors_of(curve: dict[str, Any] | None) -> dict[int, float]:
    """Return the errors of a curve by number of features."""
    return dict(zip(curve["n_features"], curve["error"], strict=True)) if curve else {}


def explain_choice(selector: Any) -> str:
    """Explain in one or two sentences why the selector keeps this number of features.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import explain_choice
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> explain_choice(CCMSelector(n_features_to_select=3).fit(X, y))
    '3 features, as requested (3).'
    """
    m, asked, given = selector.n_features_, selector.n_features_to_select, n_given(selector)
    kept = count_of(m, "feature") + (f" in addition to the {given} given" if given else "")
    if asked != "auto":
        text = f"{asked:.4g} of {selector.ranking_.max()}" if isinstance(asked, float) else asked
        return f"{kept}, as requested ({text})."
    curve = error_curve(selector)
    if curve is None and m < selector.ranking_.max():
        return f"{kept}, the first in the ranking: there was no time to choose a number."
    if curve is None:
        return f"{kept}, all there are: too few samples or features to choose a number."
    if selector.estimator is not None:
        return f"{kept} {_by_score(m, curve, 'score')}"
    error, best = errors_of(curve), curve["best"]
    by_order = curve["measure"] == "concordance"
    lowest = f"{error[best]:.3f}" if by_order else f"{error[best]:.1%}"
    # With given features, errors are fractions of the variance that these leave unexplained.
    whole = "the variance " + (
        "that the given features leave unexplained" if given else "of the response"
    )
    if not curve["found"]:
        told = f"lowest cross-validated error {lowest} of {whole}"
        return (
            "No set of features is clearly better than no features in cross-validation "
            f"({f'highest concordance index {lowest}' if by_order else told}). "
            f"{kept} {verb(m, 'are')} selected, because at least one must be."
        )
    if by_order:
        return f"{kept} {_by_score(m, curve, 'concordance')}"
    if m == best:
        return (
            f"{kept} {verb(m, 'have')} the lowest cross-validated error ({lowest} of {whole}), "
            "and no smaller set comes within one standard error of it."
        )
    return (
        f"{kept} {verb(m, 'are')} the smallest set within one standard error of the best: its "
        f"cross-validated error is {error[m]:.1%} of {whole}. The lowest is {lowest}, with {best}."
    )


def _by_score(m: int, curve: dict[str, Any], name: str) -> str:
    [score] = [each for each in curve["measures"] if each["name"] == name]
    scores = dict(zip(curve["n_features"], score["mean"], strict=True))
    best = max(scores, key=lambda size: (scores[size], -size))
    text = f"{verb(m, 'have')} a cross-validated {score['title']} of {scores[m]:.4g}, "
    if m == best:
        return text + "the best, and no smaller set comes within one standard error of it."
    return text + (
        f"and {verb(m, 'are')} the smallest set within one standard error of the best: "
        f"{scores[best]:.4g}, with {best}."
    )
