"""Features that a path protects."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .pairs import Pairs
from .spread import Spread


@dataclass(frozen=True)
class Protected:
    """Features that a path protects, whatever the criterion, while many features remain.

    With few features left, the criterion decides about members of pairs, and features that affect
    the spread are no longer protected.
    """

    pairs: Pairs
    spread: Spread = field(default_factory=Spread.none)
    above: float = 0.0  # "many" means more features than this

    @classmethod
    def nothing(cls) -> Protected:
        """Protect no feature."""
        return cls(Pairs.none())

    def while_many(self, members: np.ndarray, budget: int) -> np.ndarray:
        """Return the units protected at a wide stage: members of pairs, then others if they fit."""
        others = self.spread.units[~np.isin(self.spread.units, members)]
        return np.concatenate([members, others])[: budget - 1]
