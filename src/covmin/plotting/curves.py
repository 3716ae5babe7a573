"""Errors against the number of features."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from covmin.selection.headline import MEASURES, judged_by, measures

from .fitted import ACCENT, Display, legend_under

# With more features than this, the axis is logarithmic.
_WIDE = 25


@dataclass(eq=False, repr=False)
class ErrorCurveDisplay(Display):
    """Cross-validated error against the number of features, with its standard error.

    Parameters
    ----------
    n_features : ndarray of shape (n_sizes,)
    error : ndarray of shape (n_sizes,)
        Mean error over folds as a fraction of the variance of the response, or another measure.
    standard_error : ndarray of shape (n_sizes,)
        Standard error of that mean.
    n_selected : int
        Number of features that the selector keeps.
    metric : str, default="error"
        Measure, as in ``from_estimator``.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import ErrorCurveDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> display = ErrorCurveDisplay.from_estimator(CCMSelector(random_state=0).fit(X, y))
    >>> display.n_selected
    3
    """

    n_features: np.ndarray
    error: np.ndarray
    standard_error: np.ndarray
    n_selected: int
    metric: str = "error"

    @classmethod
    def from_estimator(cls, selector: Any, *, metric: str | None = None, ax: Any = None) -> Self:
        """Create the display from the cross-validated errors of a selector and draw it.

        Parameters
        ----------
        selector : CCMSelector
            Fitted with ``n_features_to_select="auto"``.
        metric : str, default=None
            Measure: "error", "accuracy", "balanced_accuracy", "log_loss", "roc_auc",
            "concordance" or "score". None means the one that chose the number of features: the
            score if the selector has an ``estimator``, the concordance index for survival times,
            otherwise the error.
        ax : matplotlib axes, optional

        Returns
        -------
        display : ErrorCurveDisplay
        """
        cls._check(selector)
        if metric is None:
            metric = judged_by(selector) if selector.estimator is None else "score"
        if selector.cv_results_ is None or len(selector.cv_results_.n_features) < 2:
            text = "Only one number of features was evaluated, so there is no error curve. Fit with"
            raise ValueError(f'{text} n_features_to_select="auto" and several features.')
        found = measures(selector)
        if metric not in found:
            raise ValueError(f"This fit has no {metric!r}; it has {', '.join(found)}.")
        return cls(*found[metric][2:], selector.n_features_, metric).plot(ax)

    def _draw(self, ax: Any) -> None:
        from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, PercentFormatter

        sizes, kept = self.n_features, self.n_selected
        low, high = self.error - self.standard_error, self.error + self.standard_error
        ax.fill_between(sizes, low, high, color=ACCENT, alpha=0.15, linewidth=0)
        style = {"color": ACCENT, "markersize": 4, "label": "mean and standard error"}
        (self.line_,) = ax.plot(sizes, self.error, "o-", **style)
        ax.axvline(kept, color="black", linewidth=1.0, label=f"{kept} kept")
        if sizes[-1] > _WIDE:
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
            ax.xaxis.set_major_formatter("{x:.0f}")
            ax.xaxis.set_minor_locator(NullLocator())
        else:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if self.metric in ("error", "accuracy", "balanced_accuracy"):
            ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.set(xlabel="features kept", ylabel=MEASURES[self.metric])
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", alpha=0.25)
        legend_under(ax)
