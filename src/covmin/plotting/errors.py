"""Cross-fitted error against the number of features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._shared import ACCENT, LIMIT, get_ax

__all__ = ["ErrorCurveDisplay"]

_WIDE = 25


class ErrorCurveDisplay:
    """Cross-fitted error against the number of features, with the one-standard-error line.

    Parameters
    ----------
    n_features : ndarray of shape (n_sizes,)
    error : ndarray of shape (n_sizes,)
        Mean error over folds, as a share of the variance of the response.
    standard_error : ndarray of shape (n_sizes,)
        Standard error of that mean.
    n_selected : int
        Number of features that the selector keeps.

    Attributes
    ----------
    limit : float
        The smallest error plus its standard error.
    figure_ : matplotlib figure
    ax_ : matplotlib axes
    line_ : matplotlib line

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import ErrorCurveDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> selector = CCMSelector(random_state=0).fit(X, y)
    >>> display = ErrorCurveDisplay.from_estimator(selector)
    >>> bool(display.error.min() <= display.limit)
    True
    """

    def __init__(
        self,
        n_features: np.ndarray,
        error: np.ndarray,
        standard_error: np.ndarray,
        n_selected: int,
    ) -> None:
        self.n_features = n_features
        self.error = error
        self.standard_error = standard_error
        self.n_selected = n_selected

    @property
    def limit(self) -> float:
        """The smallest error plus its standard error."""
        best = int(np.argmin(self.error))
        return float(self.error[best] + self.standard_error[best])

    @classmethod
    def from_estimator(cls, selector: Any, *, ax: Any = None) -> Self:
        """Take the cross-fitted errors of a fitted selector and draw them.

        Parameters
        ----------
        selector : CCMSelector
            Fitted with ``n_features_to_select="auto"``.
        ax : matplotlib axes, optional

        Returns
        -------
        display : ErrorCurveDisplay
        """
        check_is_fitted(selector)
        crossfit = selector.cross_fit_
        if crossfit is None or len(crossfit.n_features) < 2:
            raise ValueError(
                "This selector was given its number of features, so there is no error curve; fit "
                'it with n_features_to_select="auto".'
            )
        row = int(np.argmin(np.abs(np.log(crossfit.epsilon) - np.log(selector.epsilon_))))
        display = cls(
            crossfit.n_features,
            crossfit.mean_error[row],
            crossfit.standard_error[row],
            selector.n_features_,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Made where it is not given.

        Returns
        -------
        self : ErrorCurveDisplay
        """
        from matplotlib.ticker import MaxNLocator, PercentFormatter, ScalarFormatter

        self.ax_ = ax = get_ax(ax, (6.4, 3.8))
        self.figure_ = ax.figure
        low, high = self.error - self.standard_error, self.error + self.standard_error
        ax.fill_between(self.n_features, low, high, color=ACCENT, alpha=0.15, linewidth=0)
        (self.line_,) = ax.plot(
            self.n_features, self.error, "o-", color=ACCENT, markersize=4, label="mean over folds"
        )
        ax.axhline(
            self.limit,
            color=LIMIT,
            linestyle="--",
            linewidth=1.2,
            label="one standard error above the best",
        )
        ax.axvline(self.n_selected, color="black", linewidth=1.0, label=f"{self.n_selected} kept")
        if self.n_features[-1] > _WIDE:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(ScalarFormatter())
        else:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.set(xlabel="features kept", ylabel="error, share of the variance of y")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", alpha=0.25)
        ax.legend(framealpha=1.0, edgecolor="none")
        return self
