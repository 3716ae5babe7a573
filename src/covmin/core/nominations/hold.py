"""Features that a path is to hold on to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .pairs import Pairs
from .spread import Spread


@dataclass(frozen=True)
class Hold:
    """Features that a path is to hold on to, whatever the criterion, among many features.

    Among few, the criterion decides on those of pairs; those of the spread are free.
    """

    pairs: Pairs
    spread: Spread = field(default_factory=Spread.none)
    above: float = 0.0  # many: more features than this

    @classmethod
    def nothing(cls) -> Hold:
        """No feature."""
        return cls(Pairs.none())

    def while_many(self, members: np.ndarray, budget: int) -> np.ndarray:
        """Units held at a wide stage: members of pairs, and as many others as there is room for."""
        others = self.spread.units[~np.isin(self.spread.units, members)]
        return np.concatenate([members, others])[: budget - 1]
