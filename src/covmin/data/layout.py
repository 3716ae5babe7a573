"""Which columns of a table belong together, which are given, and what they become."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np

from covmin.remarks import InputError

from .dtypes import is_missing


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
    def plain(cls, n_columns: int) -> Layout:
        """Return the layout of numeric columns, each its own unit and none given."""
        each = np.arange(n_columns)
        none = np.zeros(n_columns, dtype=bool)
        return cls(each, none, each, none)

    @property
    def n_choices(self) -> int:
        """Number of units to select from."""
        return int((~self.given).sum())

    @property
    def with_missing(self) -> np.ndarray:
        """Input columns with missing values."""
        return self.source[self.indicators]

    def restrict(self, encoded: np.ndarray) -> Layout:
        """Return the layout for some of the encoded columns, given by increasing numbers."""
        indicators = np.flatnonzero(np.isin(encoded, self.indicators))
        return replace(self, source=self.source[encoded], indicators=indicators)


def grouped_columns(
    feature_groups: Any, names: Sequence[Hashable] | None, n_columns: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the unit of each column and the label of each unit."""
    if feature_groups is None:
        return np.arange(n_columns), None
    if isinstance(feature_groups, Mapping):
        labels = _labels_of_mapping(feature_groups, names, n_columns)
    else:
        labels = list(feature_groups)
        if not all(isinstance(label, Hashable) for label in labels):
            raise InputError(
                "feature_groups must be a flat list or array with one label for each column, or a "
                f"dict from a label to its columns; its first entry is {labels[0]!r}.",
                "feature_groups",
            )
        if len(labels) != n_columns:
            raise InputError(
                f"feature_groups has {len(labels)} labels, but X has {n_columns} columns; give one "
                "label for each column, or a dict from a label to its columns.",
                "feature_groups",
            )
        if any(map(is_missing, labels)):
            raise InputError(
                "feature_groups contains a missing label; give every column a label.",
                "feature_groups",
            )
    number = {label: unit for unit, label in enumerate(dict.fromkeys(labels))}
    unit = np.array([number[label] for label in labels], dtype=int)
    return unit, _as_labels(number)


def _as_labels(labels: Iterable[Hashable]) -> np.ndarray:
    labels = list(labels)
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {int, str, np.int64, np.str_}:
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _labels_of_mapping(
    groups: Mapping[Hashable, Any], names: Sequence[Hashable] | None, n_columns: int
) -> list[Hashable]:
    """Return the label of each column; a column outside all groups keeps its own name."""
    labels: list[Hashable] = list(names) if names is not None else list(range(n_columns))
    owner: dict[int, Hashable] = {}
    for label, columns in groups.items():
        for j in np.flatnonzero(
            column_mask(columns, names, n_columns, f"feature_groups[{label!r}]")
        ):
            if (earlier := owner.get(int(j))) is not None:
                raise InputError(
                    f"Column {labels[j]!r} is in two groups, {earlier!r} and {label!r}.",
                    "feature_groups",
                )
            owner[int(j)] = label
    alone = {labels[j] for j in range(n_columns) if j not in owner}
    if clash := alone & set(owner.values()):
        raise InputError(
            f"feature_groups has the label {clash.pop()!r}, which is also the name of a column "
            "outside that group; use another label.",
            "feature_groups",
        )
    return [owner.get(j, labels[j]) for j in range(n_columns)]


def given_features(unit: np.ndarray, given: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    """Return a mask of the features whose columns are given; refuse half a group."""
    n_units = int(unit.max()) + 1
    members = np.bincount(unit, minlength=n_units)
    on = np.bincount(unit, given, minlength=n_units)
    partly = np.flatnonzero((on > 0) & (on < members))
    if partly.size:
        label = (partly if labels is None else labels[partly]).tolist()[0]
        raise InputError(
            f"Only some columns of the group {label!r} are in given; "
            "include the whole group or none of it.",
            "given",
        )
    if (on > 0).all():
        raise InputError("All columns are given, so there is nothing left to select.", "given")
    return np.asarray(on > 0)


def column_mask(
    columns: Any, names: Sequence[Hashable] | None, n_columns: int, parameter: str
) -> np.ndarray:
    """Return a mask (n_columns,) of columns given by name, by number or by a mask.

    ``parameter`` is the name of ``columns`` in error messages.
    """
    items = [columns] if isinstance(columns, (str, Integral)) else list(columns)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != n_columns:
            raise InputError(
                f"{parameter} as a mask must have one entry for each of the {n_columns} columns of "
                f"X; it has {len(items)}.",
                parameter,
            )
        return np.array(items, dtype=bool)
    mask = np.zeros(n_columns, dtype=bool)
    mask[[position(item, names, n_columns, parameter) for item in items]] = True
    return mask


def position(item: Any, names: Sequence[Hashable] | None, n_columns: int, parameter: str) -> int:
    """Return the number of a column given by name or number."""
    if isinstance(item, str):
        if names is None:
            raise InputError(
                f"{parameter} names the column {item!r}, but the columns of X have no names; "
                "pass X as a data frame, or use column numbers.",
                parameter,
            )
        if item not in names:
            close = get_close_matches(item, [str(name) for name in names], n=3)
            hint = f" Did you mean {', '.join(map(repr, close))}?" if close else ""
            raise InputError(
                f"{parameter} names {item!r}, which is not a column of X.{hint}",
                parameter,
            )
        return list(names).index(item)
    if not isinstance(item, Integral):
        raise InputError(
            f"{parameter} must contain column names, column numbers, or a mask; got {item!r}.",
            parameter,
        )
    if not -n_columns <= int(item) < n_columns:
        raise InputError(
            f"{parameter} contains column {item}, but X has {n_columns} columns, "
            f"numbered from 0 to {n_columns - 1}.",
            parameter,
        )
    return int(item) % n_columns
