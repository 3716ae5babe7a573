"""Score of a kernel machine against the number of features it is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .categories import Categories
from .frames import describe, require_pandas
from .runner import rank_features, unit_seed
from .selectors import SelectorSpec
from .splits import Split
from .svm import prefix_scores

__all__ = ["PROTOCOLS", "CurveResult", "default_sizes"]

PROTOCOLS = ("nested", "paper")


def default_sizes(n_features: int) -> list[int]:
    """Numbers of features to evaluate: 5, 10, …, 100 of more than 100, else each of 1…d.

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
    """The protocol, if there is one of that name."""
    if protocol not in PROTOCOLS:
        raise ValueError(
            f"protocol={protocol!r} is not one of {', '.join(map(repr, PROTOCOLS))}: 'nested' "
            "ranks features on the training rows of each fold, 'paper' on all rows."
        )
    return protocol


@dataclass(frozen=True)
class CurveTask:
    """One data set, with everything that decides the scores on it.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    specs : mapping of str to SelectorSpec
    sizes : sequence of int
        Numbers of features to score.
    splits : list of list of (train, test)
        For each repeat and fold.
    classification : bool
    random_state : int
    categories : Categories or None, default=None
        Which features hold categories; None where none does.
    """

    X: np.ndarray
    y: np.ndarray
    specs: Mapping[str, SelectorSpec]
    sizes: Sequence[int]
    splits: list[list[Split]]
    classification: bool
    random_state: int
    categories: Categories | None = None

    def units(
        self, selectors: Iterable[str], protocol: str, n_repeats: int | None = None
    ) -> list[dict[str, Any]]:
        """Units of work: a ranking for each fold, or one for all under the paper's protocol."""
        n_repeats = len(self.splits) if n_repeats is None else n_repeats
        if protocol == "paper":
            return [
                {"selector": name, "protocol": protocol, "n_repeats": n_repeats}
                for name in selectors
            ]
        return [
            {"selector": name, "protocol": protocol, "repeat": repeat, "fold": fold}
            for name in selectors
            for repeat, folds in enumerate(self.splits[:n_repeats])
            for fold in range(len(folds))
        ]

    def __call__(self, unit: Mapping[str, Any]) -> dict[str, Any]:
        if unit["protocol"] == "paper":
            everything = np.arange(len(self.y))
            order, seconds, error = self._rank(unit["selector"], everything, "all")
            repeats = self.splits[: unit["n_repeats"]]
            scores = [[self._scores(order, split) for split in folds] for folds in repeats]
        else:
            split = self.splits[unit["repeat"]][unit["fold"]]
            position = f"{unit['repeat']}/{unit['fold']}"
            order, seconds, error = self._rank(unit["selector"], split[0], position)
            scores = [[self._scores(order, split)]]
        return {"scores": scores, "seconds": round(seconds, 4), "error": error}

    def _rank(self, name: str, rows: np.ndarray, position: str) -> Any:
        spec = self.specs[name]
        m = spec.budget(self.X.shape[1], max(self.sizes))
        seed = unit_seed(self.random_state, "ranking", position)
        categories = None if self.categories is None else self.categories.rows(rows)
        return rank_features(spec, m, self.X[rows], self.y[rows], seed, categories)

    def _scores(self, order: np.ndarray | None, split: Split) -> list[float | None]:
        return prefix_scores(
            order,
            self.sizes,
            self.X,
            self.y,
            split,
            classification=self.classification,
            seed=self.random_state,
            categories=self.categories,
        )


def curve_rows(
    unit: Mapping[str, Any], result: Mapping[str, Any], sizes: Sequence[int]
) -> list[dict[str, Any]]:
    """Tidy rows of one unit: one for each repeat, fold and number of features."""
    return [
        {
            "selector": unit["selector"],
            "protocol": unit["protocol"],
            "repeat": unit.get("repeat", 0) + repeat,
            "fold": unit.get("fold", 0) + fold,
            "n_features": m,
            "score": np.nan if score is None else score,
            "fit_seconds": result["seconds"],
        }
        for repeat, folds in enumerate(result["scores"])
        for fold, scores in enumerate(folds)
        for m, score in zip(sizes, scores, strict=True)
    ]


@dataclass(frozen=True, repr=False)
class CurveResult:
    """Scores of selectors, fold by fold.

    Attributes
    ----------
    records : list of dict
        One for each selector, repeat, fold and number of features.
    score_name : str
        What the score is: ``"accuracy"`` or ``"R²"``.
    errors : list of (str, str or None)
        Selector and message of each ranking; None for those that did not fail.
    """

    records: list[dict[str, Any]]
    score_name: str
    errors: list[tuple[str, str | None]]

    def __repr__(self) -> str:
        return describe(self, f"scores ({self.score_name})")

    @property
    def frame(self) -> Any:
        """Tidy frame: selector, protocol, repeat, fold, n_features, score, fit_seconds."""
        return require_pandas().DataFrame(self.records)

    def summary(self) -> Any:
        """Mean over repeats and folds for each selector and number of features.

        Returns
        -------
        summary : pandas.DataFrame
            ``mean_score``, ``standard_deviation`` (over folds), ``fit_seconds``, ``n_folds``
            and ``n_failed``; failed folds are left out of the means.
        """
        return summarise(self.frame, ["selector", "protocol", "n_features"])

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **kwargs
            Passed on to :meth:`covmin.plotting.curves.AccuracyCurveDisplay.plot`.

        Returns
        -------
        display : covmin.plotting.curves.AccuracyCurveDisplay
        """
        from covmin.plotting.curves import AccuracyCurveDisplay

        return AccuracyCurveDisplay.from_results(self).plot(ax, **kwargs)


def summarise(frame: Any, keys: list[str]) -> Any:
    """Means of the scores of a tidy frame over repeats and folds."""
    return (
        frame.groupby(keys, sort=False)
        .agg(
            mean_score=("score", "mean"),
            standard_deviation=("score", "std"),
            fit_seconds=("fit_seconds", "mean"),
            n_folds=("score", "size"),
            n_failed=("score", lambda scores: int(scores.isna().sum())),
        )
        .reset_index()
    )
