"""What is chosen as one: columns that share a weight, and columns that are always on.

A unit is a column or a group of columns. The kernel sees columns; the solver sees one
weight for each unit. Between them an objective spreads the weights of units over their
columns and collects the gradient of the columns over their units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ALWAYS_ON = -1


@dataclass(frozen=True)
class Units:
    """Which unit each column belongs to."""

    of_column: np.ndarray  # (n_columns,), unit of each, from 0; -1 for a column that is always on
    scale: np.ndarray  # (n_columns,), weight of a column when its unit has weight one

    @classmethod
    def single(cls, n_columns: int) -> Units:
        """Every column by itself."""
        return cls(np.arange(n_columns), np.ones(n_columns))

    @property
    def size(self) -> int:
        """Number of units to choose from."""
        return int(self.of_column.max(initial=-1)) + 1

    @property
    def n_features(self) -> float:
        """How many features the columns amount to, those always on included.

        Squared scales sum to one over the columns of a unit.
        """
        return float((self.scale**2).sum())

    @property
    def sizes(self) -> np.ndarray:
        """Columns of each unit."""
        return np.bincount(self.of_column[self.of_column != ALWAYS_ON], minlength=self.size)

    def switched_on(self, units: np.ndarray) -> Units:
        """The same with some of the units always on; the others keep their numbers."""
        on = np.isin(self.of_column, units)
        return Units(np.where(on, ALWAYS_ON, self.of_column), self.scale)

    def columns(self, units: np.ndarray) -> np.ndarray:
        """The columns of some units and those always on, in increasing order."""
        return np.flatnonzero(np.isin(self.of_column, units) | (self.of_column == ALWAYS_ON))

    def restrict(self, units: np.ndarray) -> Units:
        """The same for :meth:`columns` of some units, numbered anew in the order given."""
        number = np.full(self.size + 1, ALWAYS_ON)  # the last entry answers for ALWAYS_ON
        number[units] = np.arange(units.size)
        columns = self.columns(units)
        return Units(number[self.of_column[columns]], self.scale[columns])

    def spread(self, w: np.ndarray) -> np.ndarray:
        """Weights of the columns from weights of the units."""
        return np.append(w, 1.0)[self.of_column] * self.scale

    def collect(self, gradient: np.ndarray) -> np.ndarray:
        """Gradient in the weights of the units from that in the weights of the columns."""
        free = self.of_column != ALWAYS_ON
        slopes = (gradient * self.scale)[free]
        return np.bincount(self.of_column[free], slopes, minlength=self.size)


class EachColumn:
    """:class:`Units` where every column is chosen by itself, however many there are."""

    def spread(self, w: np.ndarray) -> np.ndarray:
        return w

    def collect(self, gradient: np.ndarray) -> np.ndarray:
        return gradient

    def columns(self, units: np.ndarray) -> np.ndarray:
        return units

    def restrict(self, units: np.ndarray) -> EachColumn:
        return self


EACH_COLUMN = EachColumn()
