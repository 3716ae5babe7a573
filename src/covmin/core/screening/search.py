"""Significance tests for single features and for pairs."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincc, betainccinv

# Functions of the ranks of a column: a line and three cosines, the fastest with two periods.
N_WAVES = 4


@dataclass(frozen=True)
class Search:
    """Parameters of the search for interacting pairs and for features that affect the spread."""

    level: float = 0.05  #: probability of naming any pair, or feature, without dependence
    most: int = 10  #: largest number of pairs, and of features, to name
    fewest_samples: float = 20  #: smallest number of samples for a search
    response_share: float = 0.95  #: fraction of the variance of the response that is used
    least_variance: float = 0.5  #: of a product; about 1 unless the columns are similar
    least_left: float = 0.1  #: fraction of a product not due to its columns or others
    fewest_carriers: float = 10.0  #: effective number of samples that must carry a dependence
    carrier_share: float = 0.1  #: the same as a fraction, for few samples

    def can_tell(self, n_samples: float) -> bool:
        """Tell whether there are enough samples, up to rounding of their effective number."""
        return n_samples >= self.fewest_samples * (1.0 - 1e-9)

    def most_effects(self, n_samples: float) -> int:
        """Return the largest number of single effects to remove; enough samples must remain."""
        return int(min(2 * N_WAVES * self.most, n_samples / 4))


SEARCH = Search()


def prior(n_waves: int) -> np.ndarray:
    """Return the share of the significance level of the line and of each cosine.

    The squared coefficients of a smooth function with two derivatives fall with the fourth power of
    the frequency, so faster cosines need stronger evidence.
    """
    powers = np.arange(1.0, n_waves + 1.0) ** -4
    return powers / powers.sum()


def levels(n_waves: int, n_columns: int, search: Search) -> np.ndarray:
    """Return the significance level of each function of each column."""
    return search.level * prior(n_waves) / n_columns


def chance(share: np.ndarray, n: float, k: int) -> np.ndarray:
    """Return the p-value of a share of association with a k-dimensional response, in n samples."""
    tail: np.ndarray = betaincc(0.5 * k, 0.5 * max(n - 1.0 - k, 1e-9), share)
    return tail


def share_by_chance(probability: np.ndarray, n: float, k: int) -> np.ndarray:
    """Return the share that is exceeded with a given probability; inverse of :func:`chance`."""
    share: np.ndarray = betainccinv(0.5 * k, 0.5 * max(n - 1.0 - k, 1e-9), probability)
    return share
