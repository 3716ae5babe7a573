"""What is chosen as one: columns that share a weight, and columns that are always on.

A unit is a column or a group of columns. The kernel sees columns; the solver sees one
weight for each unit. Between them stands a gram that spreads the weights of units over
their columns and collects the gradient of the columns over their units, so that neither
side knows of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .grams import Gram, Operator

__all__ = ["ALWAYS_ON", "TiedGram", "Units"]

ALWAYS_ON = -1


@dataclass(frozen=True)
class Units:
    """Which unit each column belongs to.

    Parameters
    ----------
    of_column : ndarray of int of shape (n_columns,)
        Unit of each column, from 0; -1 for a column that is always on.
    scale : ndarray of shape (n_columns,)
        Weight of a column when its unit has weight one.

    Examples
    --------
    >>> units = Units(np.array([0, 1, 1, ALWAYS_ON]), np.array([1.0, 0.7, 0.7, 1.0]))
    >>> units.spread(np.array([0.0, 1.0]))
    array([0. , 0.7, 0.7, 1. ])
    >>> units.collect(np.array([1.0, 2.0, 4.0, 8.0]))
    array([1. , 4.2])
    >>> units.columns(np.array([1]))
    array([1, 2, 3])
    """

    of_column: np.ndarray
    scale: np.ndarray

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

    @property
    def are_columns(self) -> bool:
        """Whether unit j is column j and nothing else."""
        return bool(
            np.array_equal(self.of_column, np.arange(self.of_column.size))
            and (self.scale == 1.0).all()
        )

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


@dataclass(frozen=True)
class TiedGram:
    """A gram of columns as a gram of units.

    Parameters
    ----------
    gram : Gram
        Over the columns.
    units : Units
    """

    gram: Gram
    units: Units

    @property
    def zero_is_absorbing(self) -> bool:
        """Whether a unit at weight zero stays there."""
        return self.gram.zero_is_absorbing

    @property
    def keeps_vectors(self) -> bool:
        """Whether a vector of an operator is one of the operators after :meth:`restrict`."""
        return self.gram.keeps_vectors

    def at(self, w: np.ndarray) -> TiedOperator:
        """The operator at the weights of the units."""
        return TiedOperator(self.gram.at(self.units.spread(w)), self.units)

    def restrict(self, columns: np.ndarray) -> TiedGram:
        """The same problem with some of the units."""
        kept = self.units.columns(columns)
        return TiedGram(self.gram.restrict(kept), self.units.restrict(columns))


class TiedOperator:
    """The operator of the columns, with its gradient collected over units."""

    def __init__(self, operator: Operator, units: Units) -> None:
        self._operator = operator
        self._units = units
        self.Y = operator.Y

    def matmul(self, F: Array) -> Array:
        """``C_w F``."""
        return self._operator.matmul(F)

    def solve(self, ridge: float) -> Array:
        """``(C_w + ridge·I)⁻¹ Y``."""
        return self._operator.solve(ridge)

    def dots(self, P: Array, Q: Array) -> Array:
        """``⟨P, Q⟩`` column by column."""
        return self._operator.dots(P, Q)

    def grad(self, P: Array, Q: Array) -> np.ndarray:
        """``∇_w Σ ⟨P, C_w Q⟩`` in the weights of the units."""
        return self._units.collect(self._operator.grad(P, Q))

    def leave_one_out(self, ridge: float) -> float:
        """Mean squared leave-one-out residual of kernel ridge regression."""
        return self._operator.leave_one_out(ridge)

    def predict(self, X: Array, ridge: float) -> np.ndarray:
        """Kernel ridge prediction at new samples, given by the columns of the units."""
        return self._operator.predict(X, ridge)
