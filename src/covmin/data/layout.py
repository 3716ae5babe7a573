"""Which columns of a table belong together, which are given, and what they become."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from numbers import Integral
from typing import Any, Self

import numpy as np

from covmin.remarks import InputError

from .dtypes import is_missing

Names = Sequence[Hashable] | None  # of the columns of a table, if they have any


@dataclass(frozen=True)
class Layout:
    """What is known about the columns before their values are used.

    An input column becomes one encoded column, or one indicator per level, plus an indicator of
    missingness if values are missing. Input columns form units, which are selected together.
    """

    source: np.ndarray  # (n_encoded,), input column of each encoded column
    categorical: np.ndarray  # (n_inputs,) bool, input columns that are encoded by indicators
    unit: np.ndarray  # (n_inputs,), unit of each input column, from 0
    given: np.ndarray  # (n_units,) bool, units that are always included
    # Encoded columns that are indicators of missingness.
    indicators: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))

    @classmethod
    def plain(cls, n_columns: int) -> Self:
        """Return the layout of numeric columns, each its own unit and none given."""
        each = np.arange(n_columns)
        none = np.zeros(n_columns, dtype=bool)
        return cls(each, none, each, none)

    @property
    def n_choices(self) -> int:
        """Number of units to select from."""
        return int((~self.given).sum())

    def restrict(self, encoded: np.ndarray) -> Self:
        """Return the layout for some of the encoded columns, given by increasing numbers."""
        indicators = np.flatnonzero(np.isin(encoded, self.indicators))
        return replace(self, source=self.source[encoded], indicators=indicators)


def units_of(
    feature_groups: Any, is_given: np.ndarray, names: Names
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the unit of each column, a mask of the given units, and the labels of groups, if any.

    ``is_given`` (n_columns,) is a mask of the given columns.
    """
    unit, labels = np.arange(is_given.size), None
    if feature_groups is not None:
        named = _labels(feature_groups, names, is_given.size)
        number = {label: k for k, label in enumerate(dict.fromkeys(named))}
        unit = np.array([number[label] for label in named], dtype=int)
        labels = np.fromiter(number, dtype=object, count=len(number))
        kinds = {type(label) for label in number}
        if len(kinds) == 1 and kinds <= {int, str, np.int64, np.str_}:
            labels = np.array(labels.tolist())
    members, on = np.bincount(unit), np.bincount(unit, is_given)
    partly = np.flatnonzero((on > 0) & (on < members))
    if partly.size:
        label = (partly if labels is None else labels[partly]).tolist()[0]
        text = f"Only some columns of the group {label!r} are in given; include all or none of it."
        raise InputError(text, "given")
    if (on > 0).all():
        raise InputError("All columns are given, so there is nothing left to select.", "given")
    return unit, on > 0, labels


def _labels(groups: Any, names: Names, n_columns: int) -> list[Hashable]:
    """Return the label of each column; a column outside all groups keeps its own name."""
    if not isinstance(groups, Mapping):
        labels = list(groups)
        fits = len(labels) == n_columns and all(isinstance(label, Hashable) for label in labels)
        if not fits or any(map(is_missing, labels)):
            text = "feature_groups must be a flat list with a label for each of the"
            ways = f"{n_columns} columns, none missing, or a dict from a label to its columns"
            got = f"got {len(labels)} entries, such as {labels[:1]}"
            raise InputError(f"{text} {ways}; {got}.", "feature_groups")
        return labels
    labels = list(names) if names is not None else list(range(n_columns))
    owner: dict[int, Hashable] = {}
    for label, columns in groups.items():
        mask = column_mask(columns, names, n_columns, f"feature_groups[{label!r}]")
        for j in np.flatnonzero(mask).tolist():
            if j in owner:
                text = f"Column {labels[j]!r} is in two groups, {owner[j]!r} and {label!r}."
                raise InputError(text, "feature_groups")
            owner[j] = label
    alone = {labels[j] for j in range(n_columns) if j not in owner}
    if clash := alone & set(owner.values()):
        text = f"feature_groups has the label {clash.pop()!r}, which is also the name of a column"
        raise InputError(f"{text} outside that group; use another label.", "feature_groups")
    return [owner.get(j, labels[j]) for j in range(n_columns)]


def column_mask(columns: Any, names: Names, n_columns: int, parameter: str) -> np.ndarray:
    """Return a mask (n_columns,) of columns given by name, by number or by a mask.

    ``parameter`` is the name of ``columns`` in error messages.
    """
    items = [columns] if isinstance(columns, (str, Integral)) else list(columns)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != n_columns:
            text = f"{parameter} as a mask must have one entry for each of the {n_columns} columns"
            raise InputError(f"{text} of X; it has {len(items)}.", parameter)
        return np.array(items, dtype=bool)
    mask = np.zeros(n_columns, dtype=bool)
    mask[[position(item, names, n_columns, parameter) for item in items]] = True
    return mask


def position(item: Any, names: Names, n_columns: int, parameter: str) -> int:
    """Return the number of a column given by name or number."""
    if isinstance(item, str):
        known = [str(name) for name in names or ()]
        if item in known:
            return known.index(item)
        close = get_close_matches(item, known, n=3)
        hint = f"Did you mean {', '.join(map(repr, close))}?" if close else ""
        if names is None:
            hint = "Its columns have no names; pass a data frame, or use column numbers."
        text = f"{parameter} names {item!r}, which is not a column of X. {hint}"
        raise InputError(text.strip(), parameter)
    if not isinstance(item, Integral) or not -n_columns <= int(item) < n_columns:
        allowed = f"column names, column numbers from 0 to {n_columns - 1}, or a mask"
        raise InputError(f"{parameter} must contain {allowed}; got {item!r}.", parameter)
    return int(item) % n_columns
