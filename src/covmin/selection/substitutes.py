"""Features that could replace the selected ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .summary import Explained, feature_names


class Substitute(NamedTuple):
    """A selected feature, another in its place, and what the sets leave unexplained."""

    feature: int  # number of the feature: of its group if there are groups, or of its column
    substitute: int
    unexplained: float  # by the selected features
    unexplained_without: float  # without the feature
    unexplained_with: float  # with the substitute in its place


def feature_labels(selector: Any) -> list[str]:
    """Return the name of each feature: of its group if there are groups, or of its column."""
    groups = selector.feature_groups_
    return feature_names(selector) if groups is None else list(map(str, groups))


def find_substitutes(
    selector: Any, explained: Explained, n: int, most: int | None = None
) -> list[Substitute]:
    """Return, for each selected feature (the first ``most`` of them), the n best substitutes.

    Candidates are the unselected features most like the one that is dropped, and the next ones in
    the ranking; what the set explains decides among them.
    """
    unit = selector.group_of_column_
    ranking = selector.ranking_[np.unique(unit, return_index=True)[1]]
    order = np.argsort(ranking, kind="stable")
    given, order = order[ranking[order] == 0], order[ranking[order] > 0]
    chosen, others = order[: selector.n_features_], order[selector.n_features_ :]

    def unexplained(features: np.ndarray) -> float:
        return 1.0 - explained(np.flatnonzero(np.isin(unit, [*given, *features])))

    whole, found = unexplained(chosen), list[Substitute]()
    for feature in chosen[:most]:
        rest = chosen[chosen != feature]
        likeness = np.bincount(unit, explained.likeness(unit == feature)) / np.bincount(unit)
        alike = np.argsort(-likeness[others], kind="stable")[: 2 * n]
        candidates = others[np.union1d(alike, np.arange(min(n, others.size)))]
        without = unexplained(rest)
        replaced = np.array([unexplained(np.append(rest, k)) for k in candidates])
        found += [
            Substitute(int(feature), int(candidates[k]), whole, without, float(replaced[k]))
            for k in np.argsort(replaced, kind="stable")[:n]
        ]
    return found
