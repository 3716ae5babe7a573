"""Score of a kernel SVM against the number of features."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covmin.runtime.seeds import unit_seed

from .encoded import EncodedTable
from .frames import Records, group_means
from .runner import UNFINISHED, rank_features
from .selectors import SelectorSpec
from .splits import Split
from .svm import Scorer, prefix_scores

PROTOCOLS = ("nested", "paper")


def default_sizes(n_features: int) -> list[int]:
    """Return the numbers of features to evaluate: 5, 10, …, 100 if d > 100, else 1…d.

    Parameters
    ----------
    n_features : int

    Returns
    -------
    sizes : list of int

    Examples
    --------
    >>> from covmin.evaluation import default_sizes
    >>> default_sizes(4), default_sizes(2000)[-2:]
    ([1, 2, 3, 4], [95, 100])
    """
    return list(range(5, 101, 5)) if n_features > 100 else list(range(1, n_features + 1))


def check_protocol(protocol: str) -> str:
    """Return the protocol, or raise an error if it is unknown."""
    if protocol not in PROTOCOLS:
        raise ValueError(
            f"protocol={protocol!r} must be one of {', '.join(map(repr, PROTOCOLS))}: 'nested' "
            "ranks features on the training rows of each fold, 'paper' on all rows."
        )
    return protocol


@dataclass(frozen=True)
class CurveTask:
    """One data set, with everything that determines the scores on it.

    ``sizes`` are the numbers of features to score, ``splits`` the rows of each repeat and fold.
    """

    X: np.ndarray
    y: np.ndarray
    specs: Mapping[str, SelectorSpec]
    sizes: Sequence[int]
    splits: list[list[Split]]
    classification: bool
    random_state: int
    table: EncodedTable | None = None
    scorer: Scorer | None = None

    def units(
        self, selectors: Iterable[str], protocol: str, n_repeats: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the units of work: one ranking per fold, or one in all for "paper"."""
        repeats = self.splits[:n_repeats]
        places = [{"n_repeats": len(repeats)}]
        if protocol == "nested":
            folds = [(r, f) for r, folds in enumerate(repeats) for f in range(len(folds))]
            places = [{"repeat": repeat, "fold": fold} for repeat, fold in folds]
        head = {"protocol": protocol}
        return [{"selector": name, **head, **place} for name in selectors for place in places]

    def __call__(self, unit: Mapping[str, Any]) -> dict[str, Any]:
        """Rank the features and score the ranking on each fold of a unit of work."""
        if unit["protocol"] == "paper":
            rows, position = np.arange(len(self.y)), "all"
            repeats = self.splits[: unit["n_repeats"]]
        else:
            split = self.splits[unit["repeat"]][unit["fold"]]
            rows, position = split[0], f"{unit['repeat']}/{unit['fold']}"
            repeats = [[split]]
        spec = self.specs[unit["selector"]]
        m = spec.budget(self.X.shape[1], max(self.sizes))
        seed = unit_seed(self.random_state, "ranking", position)
        table = None if self.table is None else self.table.rows(rows)
        order, seconds, error = rank_features(spec, m, self.X[rows], self.y[rows], seed, table)
        scores = [[self._scores(order, split) for split in folds] for folds in repeats]
        return {"scores": scores, "seconds": round(seconds, 4), "error": error}

    def _scores(self, order: np.ndarray | None, split: Split) -> list[float | None]:
        judge: dict[str, Any] = {
            "seed": self.random_state,
            "table": self.table,
            "scorer": self.scorer,
        }
        return prefix_scores(
            order, self.sizes, self.X, self.y, split, classification=self.classification, **judge
        )


def no_result(n_sizes: int, unit: Mapping[str, Any], n_folds: int) -> dict[str, Any]:
    """Return the result of a unit that did not finish in time."""
    scores = [[[None] * n_sizes] * (1 if "fold" in unit else n_folds)] * unit.get("n_repeats", 1)
    return {"scores": scores, "seconds": np.nan, "error": UNFINISHED}


def curve_rows(
    unit: Mapping[str, Any], result: Mapping[str, Any], sizes: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the tidy rows of a unit: one per repeat, fold and number of features."""
    head, seconds = {key: unit[key] for key in ("selector", "protocol")}, result["seconds"]
    r, f = unit.get("repeat", 0), unit.get("fold", 0)
    return [
        head
        | {"repeat": r + repeat, "fold": f + fold, "n_features": m}
        | {"score": np.nan if score is None else score, "fit_seconds": seconds}
        for repeat, folds in enumerate(result["scores"])
        for fold, scores in enumerate(folds)
        for m, score in zip(sizes, scores, strict=True)
    ]


@dataclass(frozen=True, repr=False)
class CurveResult(Records):
    """Scores of selectors, fold by fold.

    Attributes
    ----------
    records : list of dict
        One record per selector, repeat, fold and number of features.
    score_name : str
        Name of the score: ``"accuracy"``, ``"R²"``, or the requested ``scoring``.
    errors : list of (str, str or None)
        Selector and error message of each ranking; None if it did not fail.
    unfinished : dict of str to (int, int)
        Selectors stopped by the time limit: number of rankings done, and number of all rankings.
    frame : pandas.DataFrame
        Tidy, with columns selector, protocol, repeat, fold, n_features, score, fit_seconds.
    """

    _display = "AccuracyCurveDisplay"

    score_name: str
    errors: list[tuple[str, str | None]]

    @property
    def unfinished(self) -> dict[str, tuple[int, int]]:
        """Selectors that were stopped by the time limit."""
        found: dict[str, tuple[int, int]] = {}
        for name in dict.fromkeys(name for name, error in self.errors if error == UNFINISHED):
            own = [error for other, error in self.errors if other == name]
            found[name] = (sum(error != UNFINISHED for error in own), len(own))
        return found

    def __repr__(self) -> str:
        return self._describe(f"scores ({self.score_name})")

    def summary(self) -> Any:
        """Average over repeats and folds, for each selector and number of features.

        Returns
        -------
        summary : pandas.DataFrame
            ``mean_score``, ``standard_deviation`` (over folds), ``fit_seconds``, ``n_folds``
            and ``n_failed``. Failed folds are excluded from the means.
        """
        return summarise(self.frame, ["selector", "protocol", "n_features"])


def summarise(frame: Any, keys: list[str]) -> Any:
    """Average the scores of a tidy frame over repeats and folds."""
    names = ("mean_score", "standard_deviation", "n_folds")
    return group_means(frame, keys, "score", names, spread="std")
