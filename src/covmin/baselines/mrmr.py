"""Minimum redundancy, maximum relevance."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy
from sklearn.utils._param_validation import Interval, StrOptions

from .base import COUNT, BaselineSelector, Ranked, Target, chosen_then_rest


@dataclass(eq=False, repr=False, kw_only=True)
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
    criterion : {"mid", "miq"}, default="mid"
        Difference or quotient of relevance and redundancy.
    n_bins : int, default=3
        Bins per variable.
    max_rank : int, default=100
        Number of features ranked greedily (m of them, if that is more). The features after
        them follow by relevance alone.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature in nats; not the greedy criterion, which changes every step.

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
        "max_rank": [COUNT],
    }

    criterion: str = "mid"
    n_bins: int = 3
    max_rank: int = 100

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        tables = BinnedColumns(Z, self.n_bins)
        codes = target.values if target.is_classes else bin_codes(target.values, self.n_bins)
        relevance = tables.mutual_information(_indicators(codes, target.n_classes or self.n_bins))
        n_greedy = min(max(m, self.max_rank), Z.shape[1])
        chosen = greedy_order(tables, relevance, n_greedy, self.criterion)
        return chosen_then_rest(chosen, relevance), relevance


class BinnedColumns:
    r"""Columns (n_samples, d) cut into bins: :math:`I(u;x_j)` for all j from one product."""

    def __init__(self, Z: np.ndarray, n_bins: int):
        # Bins of each column as indicators (n_samples, d, n_bins).
        self.indicators = _indicators(bin_codes(Z, n_bins), n_bins)
        self._entropy = _entropy(self.indicators.sum(axis=0), Z.shape[0])

    def mutual_information(self, U: np.ndarray) -> np.ndarray:
        """Nats (d,) that a variable, as indicators U (n_samples, k), shares with each column."""
        n, d, n_bins = self.indicators.shape
        counts = (U.T @ self.indicators.reshape(n, -1)).reshape(-1, d, n_bins)
        joint = _entropy(counts.transpose(1, 0, 2).reshape(d, -1), n)
        information = _entropy(U.sum(axis=0)[None], n) + self._entropy - joint
        # Clipped and rounded: differences of the last bits would otherwise decide ties.
        return np.round(information, 12).clip(min=0.0)


def bin_codes(Z: np.ndarray, n_bins: int) -> np.ndarray:
    """Bins 0..n_bins-1 of standardised values: one deviation wide, the outer ones open."""
    edges = np.arange(1, n_bins) - n_bins / 2
    # Rounded, so that a value on an edge falls on one side whatever the scale of its column.
    return np.searchsorted(edges, np.round(Z, 9), side="left")


def greedy_order(
    tables: BinnedColumns, relevance: np.ndarray, n_greedy: int, criterion: str
) -> np.ndarray:
    """The first ``n_greedy`` features by relevance (d,) against redundancy."""
    chosen = [int(np.argmax(relevance))]
    redundancy = np.zeros_like(relevance)
    while len(chosen) < n_greedy:
        redundancy += tables.mutual_information(tables.indicators[:, chosen[-1]])
        merit = _merit(relevance, redundancy / len(chosen), criterion)
        merit[chosen] = -np.inf
        chosen.append(int(np.argmax(merit)))
    return np.array(chosen)


def _merit(relevance: np.ndarray, mean_redundancy: np.ndarray, criterion: str) -> np.ndarray:
    if criterion == "mid":
        return np.round(relevance - mean_redundancy, 10)
    # The floor matters only to features exactly independent of all that are chosen.
    return np.round(relevance / mean_redundancy.clip(min=1e-10), 10)


def _entropy(counts: np.ndarray, n: int) -> np.ndarray:
    """Entropy of each row of counts (rows, values) that sum to n."""
    counts = counts.astype(np.float64)
    return np.asarray(np.log(n) - xlogy(counts, counts).sum(axis=1) / n)


def _indicators(codes: np.ndarray, n_values: int) -> np.ndarray:
    """Indicators of the values 0..n_values-1, in single precision: (*codes.shape, n_values)."""
    return np.eye(n_values, dtype=np.float32)[codes]
