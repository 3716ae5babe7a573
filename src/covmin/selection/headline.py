"""What cross-validation says about a fit: the error curve, the headline, and the reason for m."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from covmin.data.columns import LEFT_OUT
from covmin.text import count_of, percent, verb

from .crossval import is_found, names_in_results
from .scoring import scoring_name

#: Measures of feature sets and their titles.
MEASURES = {
    "error": "error, fraction of the variance of y",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss",
    "roc_auc": "area under the ROC curve",
    "concordance": "concordance index",
    "score": "score",
}
# From these fractions on, features explain a little of a response, part of it, most, or nearly all:
# the ends round to 0 and 100 per cent.
_NOTHING, _PART, _MOST, _ALL = 0.005, 0.25, 0.5, 0.995


def headline(selector: Any, target: str = "y") -> str:
    """Say how much of the response the selected features explain, by cross-validation.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.
    target : str, default="y"
        Name of the response.

    Returns
    -------
    headline : str
        Features "explain part" of the response if the cross-validated fraction is at least a
        quarter, of its ranks if far values are most of its variance; for survival times they
        "predict" it, with the concordance index. Without cross-validation, the sentence only says
        which features come first.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import headline
    >>> X, y = make_xor(120, random_state=0, return_X_y=True)
    >>> headline(CCMSelector(3).fit(X, y), "quadrant")
    'The 3 of 10 features most relevant to quadrant'
    """
    return " ".join(part for part in headline_parts(selector, target) if part)


def headline_parts(selector: Any, target: str) -> tuple[str, str, str, str]:
    """Return who does what to the response, its name, and how much; the last may be empty."""
    given, found = n_given(selector), measures(selector)
    kept, d = int(selector.n_features_), int(selector.ranking_.max())
    who = f"{kept:,} of {count_of(d, 'feature')}"
    if not found:
        if kept == d:
            return "The features", "ranked by relevance to", target, ""
        first = f"The one of {count_of(d, 'feature')}" if kept == 1 else f"The {who}"
        return first, "most relevant to", target, ""
    left = f"what the {count_of(given, 'given feature')} {verb(given, 'leave')} unexplained of"
    of = f" {left}" if given else ""
    if any(d.choice == "normal scores of its ranks" for d in selector.plan_.decisions):
        of = f"{of} the ranks of"
    if not is_found(selector.cv_results_, row_used(selector)):
        # Interacting pairs, and features that affect the spread, have their own p-values.
        p_values = [*selector.interactions_.p_value, *selector.spread_.p_value]
        associated = np.isfinite(p_values).any()
        how = "in cross-validation, although some are associated with it"
        return "No feature", f"predicts{of}", target, how if associated else "better than chance"
    if selector.task_ == "survival":
        who += f" with the {given} given" if given else ""
        how = f"(concordance {found['concordance'].at(kept)[0]:.2f}; 0.50 by chance)"
        return who, verb(kept + given, "predict"), target, how
    explained = 1.0 - found["error"].at(kept)[0]
    amounts = {_NOTHING: "almost nothing", _PART: "a little", _MOST: "part", _ALL: "most"}
    amount = next((words for limit, words in amounts.items() if explained < limit), "nearly all")
    how = f"({percent(explained)})" if _NOTHING <= explained < _ALL else ""
    return who, f"{verb(kept, 'explain')} {amount} of{of}", target, how


def explain_choice(selector: Any) -> str:
    """Explain in one or two sentences why the selector keeps this number of features."""
    m, asked, given = selector.n_features_, selector.n_features_to_select, n_given(selector)
    kept = count_of(m, "feature") + (f" in addition to the {given} given" if given else "")
    if isinstance(asked, Real):
        share = f" ({asked:.4g} of {selector.ranking_.max()})" if isinstance(asked, float) else ""
        return f"{kept}, as requested{share}."
    curve = error_curve(selector)
    unused = selector.constant_ | np.isin(selector.column_kinds_, LEFT_OUT)
    usable = selector.ranking_.max() - np.count_nonzero(unused)
    if curve is None and m < usable:
        return f"{kept}, the first in the ranking: there was no time to choose a number."
    if curve is None:
        return f"{kept}, all that vary: too few samples or features to choose a number."
    judge = measures(selector)[judged_by(selector) if selector.estimator is None else "score"]
    best, title, of, form = judge.best, judge.title, "", "{:.4g}".format
    if judge.name == "error":
        # With given features, errors are fractions of the variance that these leave unexplained.
        left = "that the given features leave unexplained" if given else "of the response"
        title, of, form = "error", f" of the variance {left}", "{:.1%}".format
    lowest = form(judge.at(best)[0])
    if selector.estimator is None and not curve["found"]:
        none = "No set of features is clearly better than no features in cross-validation"
        why = f"{kept} {verb(m, 'are')} selected, because at least one must be."
        return f"{none} (best {title}: {lowest}{of}). {why}"
    own = f"{kept} {verb(m, 'have')} a cross-validated {title} of {form(judge.at(m)[0])}{of}"
    if m == best:
        smaller = "; every smaller set that was tried is clearly worse"
        larger = ", and no larger one was tried" if m == judge.n_features[-1] < usable else ""
        return f"{own}, the best of all{smaller if m > judge.n_features[0] else ''}{larger}."
    smallest = f"{verb(m, 'are')} the smallest set that is not clearly worse than the best"
    return f"{own}, and {smallest}: {lowest}, with {best}."


class Measure(NamedTuple):
    """A cross-validated measure of sets of features, at the ε used."""

    name: str
    title: str
    n_features: np.ndarray  # (n_sizes,)
    mean: np.ndarray
    standard_error: np.ndarray

    def at(self, n_features: int) -> tuple[float, float]:
        """Return its mean and standard error for a number of features that was tried."""
        place = self.n_features.tolist().index(n_features)
        return float(self.mean[place]), float(self.standard_error[place])

    @property
    def best(self) -> int:
        """The number of features with the best mean."""
        better = np.argmin if self.name in ("error", "log_loss") else np.argmax
        return int(self.n_features[better(self.mean)])


def measures(selector: Any) -> dict[str, Measure]:
    """Return the measures of a cross-validated selector by name; none without cross-validation."""
    results: Any = selector.cv_results_ or {}
    found = {}
    titles = MEASURES | {"score": scoring_name(selector.estimator, selector.scoring)}
    if selector.task_ == "survival":
        titles["error"] = "error, fraction of the variance of the martingale residuals"
    for name, title in titles.items():
        mean, spread = names_in_results(name)
        if mean in results:
            values = (results[key][row_used(selector)] for key in (mean, spread))
            found[name] = Measure(name, title, results.n_features, *values)
    return found


def row_used(selector: Any) -> int:
    """Return the row of ``cv_results_`` of the ε used."""
    return int(np.argmin(np.abs(np.log(selector.cv_results_.epsilon / selector.epsilon_))))


def judged_by(selector: Any) -> str:
    """Return the measure that compares feature sets, apart from the score of an estimator."""
    return "concordance" if selector.task_ == "survival" else "error"


def error_curve(selector: Any) -> dict[str, Any] | None:
    """Return the cross-validated error or concordance index of each size, at the ε used.

    ``best`` is the size with the best value; ``found`` tells whether a set is clearly better than
    no features. None if several sizes were not cross-validated.
    """
    if selector.cv_results_ is None or len(selector.cv_results_.n_features) < 2:
        return None
    found = measures(selector)
    judge = found[judged_by(selector)]
    return {
        "measure": judge.name,
        "n_features": judge.n_features.tolist(),
        "error": judge.mean.tolist(),
        "standard_error": judge.standard_error.tolist(),
        "best": judge.best,
        "found": is_found(selector.cv_results_, row_used(selector)),
        "measures": [
            {
                "name": each.name,
                "title": each.title,
                "mean": each.mean.tolist(),
                "standard_error": each.standard_error.tolist(),
            }
            for each in found.values()
        ],
    }


def n_given(selector: Any) -> int:
    """Return the number of given columns."""
    return int((selector.ranking_ == 0).sum())
