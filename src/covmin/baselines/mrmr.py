"""Minimum redundancy, maximum relevance."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from covmin.runtime.compat import Interval, StrOptions

from .base import COUNT, BaselineSelector, Ranked, Target, chosen_then_rest


@dataclass(eq=False, repr=False, kw_only=True)
class MRMRSelector(BaselineSelector):
    r"""Next feature: :math:`\arg\max_j\ I(x_j;y) - \frac1{|S|}\sum_{s\in S} I(x_j;x_s)`.

    Peng, Long and Ding (2005), in the difference form ("mid"). The quotient form ("miq") divides
    the relevance :math:`I(x_j;y)` by the mean redundancy instead. S is the set of features ranked
    so far; the first feature is the most relevant one.

    Mutual information is computed from *discretised* variables. Each standardised column, and a
    continuous y, is cut into ``n_bins`` bins one standard deviation wide and centred on the
    mean; the outer bins are open. Three bins are the published choice: below
    :math:`\mu-\sigma/2`, above :math:`\mu+\sigma/2`, and between.

    Parameters
    ----------
    criterion : {"mid", "miq"}, default="mid"
        Difference or quotient of relevance and redundancy.
    n_bins : int, default=3
        Number of bins per variable.
    max_rank : int, default=100
        Number of features to rank greedily, or m if that is larger. The remaining features are
        ranked by relevance alone.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature in nats (not the greedy criterion, which changes in each step).

    Notes
    -----
    One matrix product per step gives the contingency tables of the last feature with all others.
    A step takes time n·d·n_bins² and memory n·d·n_bins, in single precision, which represents
    the counts exactly.

    Examples
    --------
    Column 1 nearly duplicates column 0, so the weaker but independent column 2 ranks second.

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
    r"""Columns (n_samples, d) cut into bins, for the mutual information with every column."""

    def __init__(self, Z: np.ndarray, n_bins: int):
        # Bins of each column as indicators (n_samples, d, n_bins).
        self.indicators = _indicators(bin_codes(Z, n_bins), n_bins)
        self._entropy = _entropy(self.indicators.sum(axis=0), Z.shape[0])

    def mutual_information(self, U: np.ndarray) -> np.ndarray:
        """Return the mutual information (d,) of a variable with each column, in nats.

        The variable is given by the indicators U (n_samples, k) of its values.
        """
        n, d, n_bins = self.indicators.shape
        counts = (U.T @ self.indicators.reshape(n, -1)).reshape(-1, d, n_bins)
        joint = _entropy(counts.transpose(1, 0, 2).reshape(d, -1), n)
        information = _entropy(U.sum(axis=0)[None], n) + self._entropy - joint
        # Clip and round: otherwise differences in the last bits would decide ties.
        return np.round(information, 12).clip(min=0.0)


def bin_codes(Z: np.ndarray, n_bins: int) -> np.ndarray:
    """Return bins 0..n_bins-1 of standardised values, one standard deviation wide."""
    edges = np.arange(1, n_bins) - n_bins / 2
    # Round, so that a value on an edge falls on the same side whatever the column's scale.
    return np.searchsorted(edges, np.round(Z, 9), side="left")


def greedy_order(
    tables: BinnedColumns, relevance: np.ndarray, n_greedy: int, criterion: str
) -> np.ndarray:
    """Return the first ``n_greedy`` features by relevance (d,) against redundancy."""
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
    # The lower limit affects only features that are independent of all chosen ones.
    return np.round(relevance / mean_redundancy.clip(min=1e-10), 10)


def _entropy(counts: np.ndarray, n: int) -> np.ndarray:
    """Return the entropy of each row of counts (rows, values) that sum to n."""
    counts = counts.astype(np.float64)
    return np.asarray(np.log(n) - xlogy(counts, counts).sum(axis=1) / n)


def _indicators(codes: np.ndarray, n_values: int) -> np.ndarray:
    """Return indicators (*codes.shape, n_values) of the values 0..n_values-1, as float32."""
    return np.eye(n_values, dtype=np.float32)[codes]
