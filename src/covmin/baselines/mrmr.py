"""Minimum redundancy, maximum relevance."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy
from sklearn.utils._param_validation import Interval, StrOptions

from .base import BaselineSelector, Ranked, best_first
from .target import Target, one_hot


class MRMRSelector(BaselineSelector):
    r"""Next feature: :math:`\arg\max_j\ I(x_j;y) - \frac1{|S|}\sum_{s\in S} I(x_j;x_s)`.

    Peng, Long and Ding (2005), the difference form ("mid"); the quotient form ("miq") divides
    the relevance :math:`I(x_j;y)` by the mean redundancy instead. S holds the features ranked
    so far; the first one is the most relevant.

    Mutual information is that of *discretised* variables: a standardised column (and a
    continuous y) is cut into ``n_bins`` bins one standard deviation wide and centred on the
    mean, the outer ones open. Three bins are the published choice, below
    :math:`\mu-\sigma/2`, above :math:`\mu+\sigma/2` and between.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction. None keeps half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" takes continuous numbers as regression, anything else as classes.
    criterion : {"mid", "miq"}, default="mid"
        Difference or quotient of relevance and redundancy.
    n_bins : int, default=3
        Bins per variable.
    max_rank : int, default=100
        Number of features ranked greedily (m of them, if that is more). The features after
        them follow by relevance alone.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 the best, no ties.
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature in nats; not the greedy criterion, which changes every step.
    support_ : ndarray of bool of shape (n_features,)
        The m features kept.
    n_features_ : int
        Number of features kept.

    Notes
    -----
    One matrix product per step gives the contingency tables of the last feature with all
    others: time n·d·n_bins² a step and memory n·d·n_bins, in single precision (counts are
    exact in it).

    Examples
    --------
    Column 1 is almost column 0, so the weaker but independent column 2 comes second.

    >>> import numpy as np
    >>> from covmin.baselines import MRMRSelector
    >>> rng = np.random.default_rng(0)
    >>> a, b, noise = rng.normal(size=(3, 200))
    >>> X = np.column_stack([a, a + 0.01 * noise, b, noise])
    >>> MRMRSelector(2).fit(X, a + 0.6 * b > 0).ranking_
    array([1, 4, 2, 3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaselineSelector._parameter_constraints,
        "criterion": [StrOptions({"mid", "miq"})],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "max_rank": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        task: str = "auto",
        criterion: str = "mid",
        n_bins: int = 3,
        max_rank: int = 100,
    ):
        super().__init__(n_features_to_select, task=task)
        self.criterion = criterion
        self.n_bins = n_bins
        self.max_rank = max_rank

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        tables = BinnedColumns(Z, self.n_bins)
        relevance = tables.mutual_information(response_bins(target, self.n_bins))
        n_greedy = min(max(m, self.max_rank), Z.shape[1])
        chosen = greedy_order(tables, relevance, n_greedy, self.criterion)
        rest = np.setdiff1d(best_first(relevance), chosen, assume_unique=True)
        return np.concatenate([chosen, rest]), relevance


class BinnedColumns:
    r"""Columns cut into bins, as indicators: :math:`I(u;x_j)` for all j from one product.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, d)
        Standardised columns.
    n_bins : int
        Bins per column.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.mrmr import BinnedColumns
    >>> columns = BinnedColumns(np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), 2)
    >>> columns.mutual_information(columns.indicators(0)).round(3)
    array([0.693, 0.   ])
    """

    def __init__(self, Z: np.ndarray, n_bins: int):
        self._bins = bin_codes(Z, n_bins)
        self._n_bins = n_bins
        self._flat = one_hot(self._bins, n_bins, np.float32).reshape(Z.shape[0], -1)
        self._entropy = _entropy(self._flat.sum(axis=0).reshape(-1, n_bins), Z.shape[0])

    def indicators(self, j: int) -> np.ndarray:
        """Bins of column j as indicators (n_samples, n_bins)."""
        return one_hot(self._bins[:, j], self._n_bins, np.float32)

    def mutual_information(self, U: np.ndarray) -> np.ndarray:
        """Mutual information, in nats, of a discrete variable with every column.

        Parameters
        ----------
        U : ndarray of shape (n_samples, k)
            The variable as indicators of its k values.

        Returns
        -------
        information : ndarray of shape (d,)
        """
        n = U.shape[0]
        counts = (U.T @ self._flat).reshape(U.shape[1], -1, self._n_bins)
        joint = _entropy(counts.transpose(1, 0, 2).reshape(counts.shape[1], -1), n)
        information: np.ndarray = _entropy(U.sum(axis=0)[None], n) + self._entropy - joint
        # Clipped and rounded: differences of the last bits would otherwise decide ties.
        return np.round(information, 12).clip(min=0.0)


def bin_codes(Z: np.ndarray, n_bins: int) -> np.ndarray:
    """Bins one standard deviation wide, centred on the mean, the outer ones open.

    Parameters
    ----------
    Z : ndarray
        Standardised values, of any shape.
    n_bins : int
        Number of bins.

    Returns
    -------
    codes : ndarray of int, shape of Z
        Between 0 and n_bins - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.mrmr import bin_codes
    >>> bin_codes(np.array([-2.0, -0.4, 0.4, 0.6]), 3)
    array([0, 1, 1, 2])
    """
    edges = np.arange(1, n_bins) - n_bins / 2
    # Rounded, so that a value on an edge falls on one side whatever the scale of its column.
    return np.searchsorted(edges, np.round(Z, 9), side="left")


def response_bins(target: Target, n_bins: int) -> np.ndarray:
    """Response as indicators (n_samples, k): of its classes, or of its bins."""
    if target.is_classes:
        return one_hot(target.values, target.n_classes, np.float32)
    return one_hot(bin_codes(target.values, n_bins), n_bins, np.float32)


def greedy_order(
    tables: BinnedColumns, relevance: np.ndarray, n_greedy: int, criterion: str
) -> np.ndarray:
    """Order the first ``n_greedy`` features by relevance against redundancy.

    Parameters
    ----------
    tables : BinnedColumns
        The d features.
    relevance : ndarray of shape (d,)
        Mutual information of each with the response.
    n_greedy : int
        Number of features to order, at most d.
    criterion : {"mid", "miq"}
        Difference or quotient.

    Returns
    -------
    chosen : ndarray of int of shape (n_greedy,)
    """
    chosen = np.empty(n_greedy, dtype=np.int64)
    redundancy = np.zeros_like(relevance)
    merit = relevance.copy()
    for i in range(n_greedy):
        chosen[i] = np.argmax(merit)
        if i + 1 == n_greedy:
            break
        redundancy += tables.mutual_information(tables.indicators(chosen[i]))
        merit = _merit(relevance, redundancy / (i + 1), criterion)
        merit[chosen[: i + 1]] = -np.inf
    return chosen


def _merit(relevance: np.ndarray, mean_redundancy: np.ndarray, criterion: str) -> np.ndarray:
    merit: np.ndarray = relevance - mean_redundancy
    if criterion == "miq":
        # The floor matters only to features exactly independent of all that are chosen.
        merit = relevance / mean_redundancy.clip(min=1e-10)
    return merit.round(10)


def _entropy(counts: np.ndarray, n: int) -> np.ndarray:
    """Entropy of each row of counts (rows, values) that sum to n."""
    counts = counts.astype(np.float64)
    entropy: np.ndarray = np.log(n) - xlogy(counts, counts).sum(axis=1) / n
    return entropy
