"""Other selectors to compare with, each a function that scores features.

A baseline is a function ``score(Z, y, question) -> scores`` of standardised columns Z (n, d)
and a response y (n,); larger scores are better. :func:`baseline` makes a selector of it:
scikit-learn's ``SelectKBest`` behind a ``StandardScaler``. To add one, write the function and add
a line to :data:`BASELINES`; the comparison and the command line take their names from there.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import entropy
from sklearn import feature_selection as sklearn_selection
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import lars_path
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from covmin.data.response import encode_response
from covmin.runtime.seeds import seed_of

# mRMR ranks this many features greedily and the rest by relevance, into bins of one standard
# deviation: below the mean, around it and above it (the published choice).
_MRMR_GREEDY = 100
_MRMR_BINS = 3
_N_TREES = 500
# A round of elimination drops this share of the features that remain, at least one.
_STEP = 0.1


@dataclass(frozen=True)
class Question:
    """What is asked of a baseline: the task, the number of features to keep, and a seed."""

    classes: bool
    n_features: int
    seed: int


Score = Callable[[np.ndarray, np.ndarray, Question], np.ndarray]


def baseline(
    score: Score, n_features_to_select: int, random_state: Any = None, task: str = "auto"
) -> Pipeline:
    """Return a selector that keeps the best features by a score.

    After fitting, its last step has the scores of all features in ``scores_``; constant columns
    score −∞.

    >>> from sklearn.datasets import load_wine
    >>> selector = baseline(pearson, 2).fit(*load_wine(return_X_y=True))
    >>> selector[-1].get_support(indices=True)
    array([11, 12])
    """
    keep = partial(_varying_scores, score, n_features_to_select, seed_of(random_state), task)
    return make_pipeline(StandardScaler(), SelectKBest(keep, k=n_features_to_select))


def _varying_scores(
    score: Score, m: int, seed: int, task: str, Z: np.ndarray, y: np.ndarray
) -> np.ndarray:
    """Score the columns that vary, with classes as codes 0..k-1 or numbers of variance 1."""
    response = encode_response(y, task)
    classes = response.labels is not None
    scores = np.full(Z.shape[1], -np.inf)
    varying = np.ptp(Z, axis=0) > 0
    if not varying.any():
        raise ValueError("All features are constant: there is nothing to rank.")
    values = np.asarray(response.labels if classes else response.Y[:, 0])
    scores[varying] = score(Z[:, varying], values, Question(classes, m, seed))
    return scores


def indicators(y: np.ndarray, question: Question) -> np.ndarray:
    """Return the response as columns: one indicator per class, or the standardised numbers."""
    return np.eye(int(y.max()) + 1)[y] if question.classes else y[:, None]


def by_position(order: np.ndarray) -> np.ndarray:
    """Return scores (d,) that give an order (d,) of columns, best first.

    >>> by_position(np.array([2, 0, 1]))
    array([2., 1., 3.])
    """
    return (order.size - np.argsort(order)).astype(float)


def backward_elimination(
    importance: Callable[[np.ndarray], np.ndarray], d: int, step: float = _STEP
) -> np.ndarray:
    """Drop the least important of the remaining columns, a share of them in each round.

    ``importance`` maps the remaining columns (s,) to a number for each. Columns of one round are
    scored by their importance in it.
    """
    remaining, eliminated = np.arange(d), np.arange(0)
    while remaining.size > 1:
        n_kept = remaining.size - max(1, int(step * remaining.size))
        order = remaining[np.argsort(-importance(remaining), kind="stable")]
        eliminated = np.concatenate([order[n_kept:], eliminated])
        remaining = np.sort(order[:n_kept])
    return by_position(np.concatenate([remaining, eliminated]))


def pearson(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Largest absolute correlation with the response, or with the indicator of a class."""
    Y = indicators(y, question)
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    # Rounded, so that the two indicators of a binary response do not differ in the last bits.
    return np.asarray(np.round(np.abs(Z.T @ Y / Z.shape[0]).max(axis=1), 14))


def anova(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """F statistic of the classes, or of the simple regression on each feature."""
    test = sklearn_selection.f_classif if question.classes else sklearn_selection.f_regression
    # Few samples or perfect features make sums of squares vanish: expect inf and nan.
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        return np.nan_to_num(test(Z, y)[0], nan=0.0, posinf=np.inf)


def mutual_information(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Mutual information with the response, estimated from the three nearest neighbours."""
    kind = "classif" if question.classes else "regression"
    estimate = getattr(sklearn_selection, f"mutual_info_{kind}")
    k = min(3, Z.shape[0] - 1)
    return np.asarray(estimate(Z, y, n_neighbors=k, random_state=question.seed))


def rfe(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Recursive elimination of the features with the smallest weights in a linear SVM.

    Unlike scikit-learn's ``RFE``, it drops a share of the features that *remain*, and orders
    those of one round by weight.
    """
    machine = (SVC if question.classes else SVR)(kernel="linear")
    return backward_elimination(
        lambda left: np.sum(machine.fit(Z[:, left], y).coef_ ** 2, axis=0), Z.shape[1]
    )


def lasso(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Penalty at which a feature enters the path of the lasso, the largest over the classes.

    Features that never enter follow by their correlation with the response.
    """
    scores = pearson(Z, y, question) - 2.0
    for column in indicators(y, question).T:
        with warnings.catch_warnings(action="ignore"):  # about columns that are copies of others
            penalties, _, coefficients = lars_path(Z, column - column.mean(), method="lasso")
        entered = coefficients != 0.0
        entry = np.maximum(entered.argmax(axis=1) - 1, 0)
        scores = np.maximum(scores, np.where(entered.any(axis=1), penalties[entry], -np.inf))
    return np.asarray(scores)


def extra_trees(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Decrease of impurity in extremely randomised trees."""
    forest = ExtraTreesClassifier if question.classes else ExtraTreesRegressor
    trees = forest(_N_TREES, random_state=question.seed).fit(Z, y)
    return np.asarray(trees.feature_importances_)


def mrmr(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    r"""Minimum redundancy, maximum relevance (Peng, Long and Ding, 2005).

    Next feature: :math:`\arg\max_j\ I(x_j;y) - \frac1{|S|}\sum_{s\in S} I(x_j;x_s)`, where S are
    the features chosen so far, and the mutual information I is that of variables cut into bins.
    """
    codes = y if question.classes else _bins(y)
    return by_redundancy(_bins(Z), codes, max(question.n_features, _MRMR_GREEDY))


def by_redundancy(bins: np.ndarray, codes: np.ndarray, n_greedy: int) -> np.ndarray:
    """Return the scores of mRMR of bins (n, d) and of the response's codes (n,).

    The first ``n_greedy`` features are chosen in turn; the others follow by their relevance.
    """
    # Single precision holds counts exactly.
    columns, response = (np.eye(x.max() + 1, dtype=np.float32)[x] for x in (bins, codes))
    relevance = _information(response, columns)
    chosen, redundancy = [int(np.argmax(relevance))], np.zeros_like(relevance)
    while len(chosen) < min(n_greedy, relevance.size):
        redundancy += _information(columns[:, chosen[-1]], columns)
        merit = np.round(relevance - redundancy / len(chosen), 10)
        merit[chosen] = -np.inf
        chosen.append(int(np.argmax(merit)))
    rest = np.setdiff1d(np.argsort(-relevance, kind="stable"), chosen, assume_unique=True)
    return by_position(np.concatenate([chosen, rest]))


def _bins(Z: np.ndarray) -> np.ndarray:
    edges = np.arange(1, _MRMR_BINS) - _MRMR_BINS / 2
    # Round, so that a value on an edge falls on the same side whatever the column's scale.
    return np.searchsorted(edges, np.round(Z, 9), side="left")


def _information(U: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the mutual information (d,) of a variable with binned columns, in nats.

    U (n, k) are the indicators of the variable's values, ``columns`` (n, d, b) those of the bins.
    """
    n, d, b = columns.shape
    counts = (U.T @ columns.reshape(n, -1)).reshape(-1, d, b).transpose(1, 0, 2).reshape(d, -1)
    parts = (U.sum(axis=0)[None], columns.sum(axis=0), counts)
    of_variable, of_columns, of_both = (entropy(part.astype(float), axis=1) for part in parts)
    # Clip and round: otherwise differences in the last bits would decide ties.
    return np.round(of_variable + of_columns - of_both, 12).clip(min=0.0)


# Fastest first, so that an interrupted comparison has finished most of the selectors.
BASELINES: dict[str, Score] = {
    "pearson": pearson,
    "anova": anova,
    "mrmr": mrmr,
    "rfe": rfe,
    "lasso": lasso,
    "extra-trees": extra_trees,
    "mi": mutual_information,
}
