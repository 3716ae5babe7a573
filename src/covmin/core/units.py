"""Units of selection: columns that share a weight, and columns that are always included.

A unit is a column or a group of columns, elsewhere in :mod:`covmin.core` called a feature. The
kernel works on columns; the solver has one weight per unit. The objective spreads the weights of
the units over their columns, and collects the gradient of the columns over their units.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

ALWAYS_ON = -1


@dataclass(frozen=True)
class Units:
    """Which unit each column belongs to."""

    of_column: np.ndarray  # (n_columns,), unit of each, from 0; -1 for a column always included
    scale: np.ndarray  # (n_columns,), weight of a column when its unit has weight one

    @classmethod
    def single(cls, n_columns: int) -> Self:
        """Return units of one column each."""
        return cls(np.arange(n_columns), np.ones(n_columns))

    @property
    def size(self) -> int:
        """Number of units to select from."""
        return int(self.of_column.max(initial=-1)) + 1

    @property
    def n_features(self) -> float:
        """Effective number of features, including columns that are always included.

        The squared scales of the columns of a unit sum to one.
        """
        return float((self.scale**2).sum())

    @property
    def sizes(self) -> np.ndarray:
        """Number of columns of each unit."""
        return np.bincount(self.of_column[self.of_column != ALWAYS_ON], minlength=self.size)

    def switched_on(self, units: np.ndarray) -> Self:
        """Return the units with some of them always included; the others keep their numbers."""
        on = np.isin(self.of_column, units)
        return replace(self, of_column=np.where(on, ALWAYS_ON, self.of_column))

    def columns(self, units: np.ndarray) -> np.ndarray:
        """Return the columns of some units and those always included, in increasing order."""
        return np.flatnonzero(np.isin(self.of_column, units) | (self.of_column == ALWAYS_ON))

    def restrict(self, units: np.ndarray) -> Self:
        """Return the units for :meth:`columns` of some units, renumbered in the given order."""
        number = np.full(self.size + 1, ALWAYS_ON)  # the last entry is for ALWAYS_ON
        number[units] = np.arange(units.size)
        columns = self.columns(units)
        return replace(self, of_column=number[self.of_column[columns]], scale=self.scale[columns])

    def spread(self, w: np.ndarray) -> np.ndarray:
        """Return the weights of the columns, given the weights of the units."""
        return np.append(w, 1.0)[self.of_column] * self.scale

    def collect(self, gradient: np.ndarray) -> np.ndarray:
        """Return the gradient in the units' weights, given that in the columns' weights."""
        free = self.of_column != ALWAYS_ON
        slopes = (gradient * self.scale)[free]
        return np.bincount(self.of_column[free], slopes, minlength=self.size)
