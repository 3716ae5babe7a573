"""Why these features: the error curve and the reasons in words."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["chance", "error_curve", "explain_choice"]


def error_curve(selector: Any) -> dict[str, Any] | None:
    """The cross-fitted error against the number of features, at the ε used.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.

    Returns
    -------
    curve : dict or None
        ``n_features``, ``error`` and ``standard_error`` of equal length (errors as shares of
        the variance of y), the size ``best``, and ``limit``, one standard error above its
        error; None where nothing was cross-fitted over several sizes.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import error_curve
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> curve = error_curve(CCMSelector(random_state=0).fit(X, y))
    >>> curve["n_features"][:3]
    [1, 2, 3]
    """
    crossfit = selector.cross_fit_
    if crossfit is None or len(crossfit.n_features) < 2:
        return None
    row = int(np.argmin(np.abs(np.log(crossfit.epsilon) - np.log(selector.epsilon_))))
    mean, se = crossfit.mean_error[row], crossfit.standard_error[row]
    best = int(np.argmin(mean))
    return {
        "n_features": [int(size) for size in crossfit.n_features],
        "error": [float(value) for value in mean],
        "standard_error": [float(value) for value in se],
        "best": int(crossfit.n_features[best]),
        "limit": float(mean[best] + se[best]),
    }


def explain_choice(selector: Any) -> str:
    """One or two sentences on why the selector keeps as many features as it does.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.

    Returns
    -------
    str

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import explain_choice
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> explain_choice(CCMSelector(n_features_to_select=3).fit(X, y))
    '3 features, as asked for (3).'
    """
    m, asked = selector.n_features_, selector.n_features_to_select
    kept = f"{_count(m)}{_besides(selector)}"
    if asked != "auto":
        text = f"{asked:.4g} of {selector.ranking_.max()}" if isinstance(asked, float) else asked
        return f"{kept}, as asked for ({text})."
    curve = error_curve(selector)
    if curve is None:
        return f"{kept}, all there are: too few samples, or features, to choose a number."
    sizes, error = curve["n_features"], curve["error"]
    lowest = f"{error[sizes.index(curve['best'])]:.1%}"
    whole = _whole(selector)
    if error[sizes.index(curve["best"])] >= 1.0:
        return (
            f"Nothing was found: no set of features does better than no features at all (lowest "
            f"cross-fitted error {lowest} of {whole}). {kept} {_are(m)} kept, because some must be."
        )
    if m == curve["best"]:
        return (
            f"{kept} {_have(m)} the lowest cross-fitted error ({lowest} of {whole}), and no "
            "smaller set comes within one standard error of it."
        )
    return (
        f"{kept} {_are(m)} the smallest set within one standard error of the best: its "
        f"cross-fitted error is {error[sizes.index(m)]:.1%} of {whole}; "
        f"the lowest, {lowest}, takes {curve['best']}."
    )


def chance(p_value: float) -> str:
    """A p-value in as many digits as mean something.

    Parameters
    ----------
    p_value : float

    Returns
    -------
    str

    Examples
    --------
    >>> chance(0.03124), chance(1e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def _whole(selector: Any) -> str:
    """What errors are shares of: with given features, of what these leave."""
    if (selector.ranking_ == 0).any():
        return "the variance that the given features leave"
    return "the variance of the response"


def _besides(selector: Any) -> str:
    given = int((selector.ranking_ == 0).sum())
    return f" besides the {given} given" if given else ""


def _count(m: int) -> str:
    return f"{m} feature{'' if m == 1 else 's'}"


def _have(m: int) -> str:
    return "has" if m == 1 else "have"


def _are(m: int) -> str:
    return "is" if m == 1 else "are"
