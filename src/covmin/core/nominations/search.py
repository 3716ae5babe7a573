"""When a feature or a pair of features stands out."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincc, betainccinv

# A line, and three waves: the fastest goes up and down twice over the samples.
N_WAVES = 4


@dataclass(frozen=True)
class Search:
    """When a feature or a pair of features stands out."""

    level: float = 0.05  #: the chance that independent samples name any pair, or any feature
    most: int = 10  #: pairs, and features, named at most
    fewest_samples: float = 20  #: from which on anything is looked for
    response_share: float = 0.95  #: of its variance that is looked at: the rest is spread thin
    least_variance: float = 0.5  #: of a product of waves: about 1, unless its columns are alike
    least_left: float = 0.1  #: share of a product beyond its columns, or beyond other products
    fewest_carriers: float = 10.0  #: samples that must carry a dependence: some may fall together
    carrier_share: float = 0.1  #: the same as a share, where there are few samples

    def can_tell(self, n_samples: float) -> bool:
        """Whether there are samples enough; they are worth a sum of rounded shares."""
        return n_samples >= self.fewest_samples * (1.0 - 1e-9)

    def most_effects(self, n_samples: float) -> int:
        """Waves of single columns that are taken off at most: samples are left for pairs."""
        return int(min(2 * N_WAVES * self.most, n_samples / 4))


SEARCH = Search()


def prior(n_waves: int) -> np.ndarray:
    """Shares of the level for the line and each wave: those of a function that is smooth.

    The squared coefficients of a function with two derivatives fall as the fourth power of the
    frequency, so that faster waves have to stand out more.
    """
    powers = np.arange(1.0, n_waves + 1.0) ** -4
    return powers / powers.sum()


def levels(n_waves: int, n_columns: int, search: Search) -> np.ndarray:
    """The level of each wave of each of so many columns."""
    return search.level * prior(n_waves) / n_columns


def chance(share: np.ndarray, n: float, k: int) -> np.ndarray:
    """The chance that a number goes with as much of a response of k dimensions, in n samples."""
    tail: np.ndarray = betaincc(0.5 * k, 0.5 * max(n - 1.0 - k, 1e-9), share)
    return tail


def share_by_chance(probability: np.ndarray, n: float, k: int) -> np.ndarray:
    """The share that is exceeded with such a probability: the inverse of :func:`chance`."""
    share: np.ndarray = betainccinv(0.5 * k, 0.5 * max(n - 1.0 - k, 1e-9), probability)
    return share
