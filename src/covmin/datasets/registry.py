"""The registry of real data sets: sizes, checksums, sources, notes and terms of use."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Record:
    """One entry of ``registry.json``."""

    name: str
    n_samples: int
    n_features: int
    class_counts: Sequence[int]  # samples in each class
    target_names: Sequence[str]  # the label of each class in the source
    # Where the data come from, what to watch out for, and the terms of use.
    origin: str
    notes: str
    terms: str
    # The public file, and the addresses of identical copies, the preferred one first.
    source_file: str
    source_urls: Sequence[str]
    source_checksum: str  # "sha256:<hex>" or "git-blob:<hex>"
    npz_sha256: str | None = None  # of the file <name>.npz, if one is registered
    values_sha256: str | None = None  # of the values, whichever file they come from
    skip_columns: int = 0  # leading columns of a text source that are not features
    feature_names: Sequence[str] = ()  # empty if the source has none
    rows_per_group: int | None = None  # consecutive rows that form a group, such as a speaker
    bundled: str | None = None  # function of sklearn.datasets that returns the same values
    derived_from: str | None = None  # the set that this one is a variant of
    drop_features: Sequence[str] = ()  # features of that set to leave out

    @property
    def columns(self) -> list[str]:
        """Feature names; ``x0``, ``x1``, … if the source has none."""
        return list(self.feature_names) or [f"x{j}" for j in range(self.n_features)]

    @property
    def file_names(self) -> list[str]:
        """Names of the files that may hold this set, the preferred one first."""
        packed = [] if self.npz_sha256 is None else [f"{self.name}.npz"]
        return [*packed, self.source_file]

    def describe(self) -> str:
        """Describe the origin of the set, what to watch out for, and the terms of use."""
        counts = ", ".join(map(str, self.class_counts))
        return (
            f"{self.name}: {self.n_samples} samples, {self.n_features} features, "
            f"{len(self.class_counts)} classes ({counts} samples)\n\n"
            f"Origin: {self.origin}.\n\n"
            f"Notes: {self.notes}\n\n"
            f"Terms: {self.terms}\n\n"
            f"Source: {self.source_urls[0]}\n"
        )


@cache
def records() -> dict[str, Record]:
    """Return all registered sets by name: first the paper's table, in its order."""
    text = files(__package__).joinpath("registry.json").read_text(encoding="utf-8")
    entries: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in json.loads(text)}
    return {name: Record(**_inherit(entry, entries)) for name, entry in entries.items()}


def find_record(name: str) -> Record:
    """Return the record of a set; case, ``-`` and ``_`` in the name are ignored."""
    if not isinstance(name, str):
        raise TypeError(
            f"The name of a data set must be a string such as 'wine', got {name!r} "
            f"of type {type(name).__name__}."
        )
    by_key = {_key(known): record for known, record in records().items()}
    key = _key(name)
    if key not in by_key:
        near = [repr(by_key[k].name) for k in get_close_matches(key, by_key, n=3, cutoff=0.5)]
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(
            f"There is no data set called {name!r}.{hint} Known names: {', '.join(records())}."
        )
    return by_key[key]


def list_datasets(*, variants: bool = False) -> list[str]:
    """Return the names of the real data sets that `load` knows.

    Parameters
    ----------
    variants : bool, default=False
        Also list sets derived from those of the paper: ``"glass-no-id"`` is ``"glass"`` without
        the row number that gives the class away.

    Returns
    -------
    names : list of str
        The paper's twelve sets in the order of its table, then the variants if requested.

    Examples
    --------
    >>> from covmin.datasets import list_datasets
    >>> list_datasets()[:4]
    ['ALLAML', 'CLL-SUB-111', 'glass', 'ORL']
    >>> sorted(set(list_datasets(variants=True)) - set(list_datasets()))
    ['glass-no-id']
    """
    return [record.name for record in records().values() if variants or record.derived_from is None]


def _key(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


def _inherit(entry: dict[str, Any], entries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Complete the entry of a derived set from the set it is derived from."""
    if "derived_from" not in entry:
        return entry
    whole = entries[entry["derived_from"]]
    kept = [name for name in whole["feature_names"] if name not in entry["drop_features"]]
    return {**whole, **entry, "feature_names": kept}
