"""The error of a ranking on samples it has not seen: what chooses m and ε.

The leave-one-out error of a stage has seen, through the selection, the samples it leaves
out. Here the whole path is run on the training folds, and kernel ridge regression on its
first m features is judged on the fold left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from covmin.core.arrays import like
from covmin.core.problem import Problem
from covmin.data.columns import ColumnPlan, PreparedColumns, prepare_columns, row_signatures
from covmin.data.responses import EncodedResponse
from covmin.runtime.threads import IN_THREADS, blas_threads, worker_threads

__all__ = ["CrossFit", "candidate_sizes", "cross_fit", "residuals_beyond_given"]

_N_FOLDS = 5
# Every size up to this one is tried; beyond it sizes grow by a quarter.
_DENSE_SIZES = 10
# Ridges among which the regression on given features is chosen.
_GIVEN_RIDGES = (1e-1, 1e-2, 1e-3, 1e-4)

ProblemFactory = Callable[[PreparedColumns, np.ndarray, float], Problem]
Ranker = Callable[[Problem, list[int]], Iterator[tuple[int, np.ndarray]]]


@dataclass(frozen=True)
class CrossFit:
    """Cross-fitted errors for sets of 1..m features and for each ε.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of features tried, increasing.
    epsilons : ndarray of shape (n_epsilons,)
    errors : ndarray of shape (n_epsilons, n_sizes, n_folds)
        Mean squared error on each fold left out, as a share of the response's variance.
    """

    sizes: np.ndarray
    epsilons: np.ndarray
    errors: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean error over folds, shape (n_epsilons, n_sizes)."""
        return self.errors.mean(axis=2)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean over folds, shape (n_epsilons, n_sizes)."""
        return self.errors.std(axis=2, ddof=1) / np.sqrt(self.errors.shape[2])

    def best_epsilon(self) -> int:
        """Index of the ε that holds the smallest error."""
        return int(np.argmin(self.mean.min(axis=1)))

    def smallest_within_one_standard_error(self, epsilon_index: int) -> int:
        """The smallest size whose error is within one standard error of the best.

        Examples
        --------
        >>> errors = np.array([[[0.9, 1.1], [0.5, 0.6], [0.45, 0.6]]])
        >>> CrossFit(np.array([1, 2, 3]), np.array([0.1]), errors
        ...     ).smallest_within_one_standard_error(0)
        2
        """
        mean = self.mean[epsilon_index]
        best = int(np.argmin(mean))
        limit = mean[best] + self.standard_error[epsilon_index, best]
        return int(self.sizes[np.flatnonzero(mean <= limit)[0]])


def candidate_sizes(n_features: int, largest: int = 100) -> list[int]:
    """Numbers of features worth trying: each up to ten, then a quarter more each time.

    Examples
    --------
    >>> candidate_sizes(14)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14]
    >>> candidate_sizes(5000)[-3:]
    [63, 78, 97]
    """
    top = min(n_features, largest)
    sizes = list(range(1, min(top, _DENSE_SIZES) + 1))
    while sizes[-1] < top and (following := sizes[-1] * 5 // 4) <= top:
        sizes.append(following)
    if top == n_features and sizes[-1] != top:
        sizes.append(top)
    return sizes


def cross_fit(
    X: np.ndarray,
    response: EncodedResponse,
    make_problem: ProblemFactory,
    rank: Ranker,
    epsilons: np.ndarray,
    sizes: list[int],
    *,
    plan: ColumnPlan,
    sample_weight: np.ndarray,
    standardize: bool,
    seed: int,
    n_jobs: int | None = None,
    on_fold: Callable[[int, int], None] | None = None,
    finished: Sequence[np.ndarray] = (),
    keep: Callable[[int, np.ndarray], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> CrossFit:
    """Run the path on training folds and judge it on the fold left out.

    Standardisation, bandwidths and the ranking see the training samples alone.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
    response : EncodedResponse
    make_problem : callable
        From training columns, centred responses and ε to a problem.
    rank : callable
        From a problem and sizes to pairs of a size and the units from best to worst.
    epsilons : ndarray of shape (n_epsilons,)
    sizes : list of int
        Numbers of features to judge, increasing.
    plan : ColumnPlan
    sample_weight : ndarray of shape (n_samples,)
    standardize : bool
    seed : int
        Of the folds.
    n_jobs : int, optional
        Folds judged at once, in threads.
    on_fold : callable, optional
        Called with the number of folds judged and their total after each.
    finished : sequence of ndarray
        Errors of the first folds, where they are known from an earlier run.
    keep : callable, optional
        Called with the number of a fold and its errors once it is judged.
    stop : callable, optional
        Asked after each fold whether to make do with those judged.

    Returns
    -------
    CrossFit
    """
    hold_out = partial(_hold_out, X, response.Y, sample_weight, plan, standardize)

    def judge(epsilon: float, fold: np.ndarray) -> np.ndarray:
        columns, Y, target = hold_out(fold)
        weight = sample_weight[fold] / sample_weight[fold].sum()
        if columns.units.size == 0:  # nothing varies on these folds: the mean is all there is
            return np.full(len(sizes), weight @ (target**2).sum(axis=1))
        problem = make_problem(columns, Y, epsilon)
        return _errors(problem, rank, sizes, columns.apply(X[fold]), target, weight)

    folds = _folds(_unitless_signatures(X, response.Y), response.labels, seed)
    tasks = [(epsilon, fold) for epsilon in epsilons for fold in folds]
    errors = list(finished)
    with blas_threads(X.shape[0], worker_threads(n_jobs)):
        judged = Parallel(n_jobs=n_jobs, return_as="generator", **IN_THREADS)(
            delayed(judge)(*task) for task in tasks[len(errors) :]
        )
        for error in judged:
            errors.append(error)
            if keep is not None:
                keep(len(errors) - 1, error)
            if on_fold is not None:
                on_fold(len(errors), len(tasks))
            if stop is not None and stop():
                break
        judged.close()
    return _gather(errors, np.asarray(sizes), np.asarray(epsilons), len(folds))


def _gather(
    errors: list[np.ndarray], sizes: np.ndarray, epsilons: np.ndarray, n_folds: int
) -> CrossFit:
    """The errors by ε, size and fold; of an early end, what can be compared."""
    complete = len(errors) // n_folds
    if complete == 0:
        if len(errors) < 2:
            raise KeyboardInterrupt("The fit was interrupted before there was anything to keep.")
        complete, n_folds = 1, len(errors)
    cube = np.reshape(errors[: complete * n_folds], (complete, n_folds, sizes.size))
    return CrossFit(sizes, epsilons[:complete], cube.swapaxes(1, 2))


def residuals_beyond_given(
    X: np.ndarray,
    response: EncodedResponse,
    make_problem: ProblemFactory,
    *,
    plan: ColumnPlan,
    sample_weight: np.ndarray,
    standardize: bool,
    seed: int,
) -> np.ndarray:
    """What the given features leave of the responses, by cross-fitted kernel ridge regression.

    Taking a function of the given features off the response leaves its conditional variance
    given these and any others as it is. But the ridge no longer holds back what they explain,
    so that a feature is not chosen for saying the same louder.

    Parameters
    ----------
    X, response, make_problem, plan, sample_weight, standardize, seed
        As for :func:`cross_fit`.

    Returns
    -------
    residuals : ndarray of shape (n_samples, n_responses)
        Centred under the sample weights.
    """
    residuals = {ridge: np.empty_like(response.Y) for ridge in _GIVEN_RIDGES}
    none = np.empty(0, dtype=int)
    for fold in _folds(_unitless_signatures(X, response.Y), response.labels, seed):
        columns, Y, target = _hold_out(X, response.Y, sample_weight, plan, standardize, fold)
        problem = make_problem(columns, Y, _GIVEN_RIDGES[0])
        given = problem.layout.columns(none)
        if given.size == 0:  # the given columns are constant here: the mean is all they say
            for ridge in _GIVEN_RIDGES:
                residuals[ridge][fold] = target
            continue
        operator = problem.gram(none, problem.bandwidth(none)).at(np.empty(0))
        rows = like(columns.apply(X[fold])[:, given], problem.X)
        for ridge in _GIVEN_RIDGES:
            residuals[ridge][fold] = target - operator.predict(rows, ridge)
    best = min(residuals.values(), key=lambda r: float(sample_weight @ (r**2).sum(axis=1)))
    centred: np.ndarray = best - sample_weight @ best / sample_weight.sum()
    return centred


def _hold_out(
    X: np.ndarray,
    Y: np.ndarray,
    sample_weight: np.ndarray,
    plan: ColumnPlan,
    standardize: bool,
    fold: np.ndarray,
) -> tuple[PreparedColumns, np.ndarray, np.ndarray]:
    """Training columns and responses, and the responses of the fold left out.

    Both responses are centred by the mean of the training samples.
    """
    weight = sample_weight[~fold]
    mean = weight @ Y[~fold] / weight.sum()
    Y_train = Y[~fold] - mean
    columns = prepare_columns(X[~fold], standardize, plan=plan, sample_weight=weight, Y=Y_train)
    return columns, Y_train, Y[fold] - mean


def _unitless_signatures(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Signatures of the rows, whatever the units of the columns.

    Examples
    --------
    >>> np.unique(_unitless_signatures(1e-20 * np.arange(4.0)[:, None], np.zeros((4, 1)))).size
    4
    """
    # Else a column of small numbers, which the cosines round away, would tell no rows apart.
    size = np.abs(X).max(axis=0).astype(np.float64)
    size[size == 0.0] = 1.0
    return row_signatures(np.divide(X, size, order="C"), Y)


def _folds(signatures: np.ndarray, labels: np.ndarray | None, seed: int) -> list[np.ndarray]:
    """Masks of the samples each fold leaves out, with the classes spread evenly.

    Equal rows are left out together: a copy of a sample in training would tell its answer.
    Nor does the order of the rows matter, so weighted rows and repeated rows fare alike.

    Examples
    --------
    >>> folds = _folds(np.array([0.1, 0.2, 0.1, 0.3, 0.4]), None, 0)
    >>> len(folds), bool(folds[0][0] == folds[0][2])
    (2, True)
    """
    _, first, row = np.unique(signatures, return_index=True, return_inverse=True)
    classes = np.zeros(first.size, dtype=int)
    if labels is not None:
        # A class whose rows all equal rows of another is not among the first of them.
        classes = np.unique(labels[first], return_inverse=True)[1]
    n_folds = max(2, min(_N_FOLDS, first.size // 2))
    fewest = int(np.bincount(classes).min())
    if fewest >= 2:
        n_folds = min(n_folds, fewest)
    shuffled = np.random.default_rng(seed).permutation(first.size)
    # Dealt out in turn, class after class: sizes differ by one at most, in a class and in all.
    # Classes come in the order they are met, so that their names do not matter.
    met = np.unique(classes[shuffled], return_index=True)[1]
    dealt = shuffled[np.argsort(met[classes[shuffled]], kind="stable")]
    fold = np.empty(first.size, dtype=int)
    fold[dealt] = np.arange(first.size) % n_folds
    return [fold[row] == number for number in range(n_folds)]


def _errors(
    problem: Problem,
    rank: Ranker,
    sizes: list[int],
    X: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
) -> np.ndarray:
    """Error at held-out samples for each size."""
    # A column can be constant on the training fold alone.
    usable = [min(size, problem.n_features) for size in sizes]
    errors = {
        size: float(weight @ _squared_errors(problem, np.sort(order[:size]), X, target))
        for size, order in rank(problem, usable)
    }
    return np.array([errors[size] for size in usable])


def _squared_errors(
    problem: Problem, features: np.ndarray, X: np.ndarray, target: np.ndarray
) -> np.ndarray:
    """Squared errors at the rows of X of kernel ridge regression on some features."""
    operator = problem.gram(features, problem.bandwidth(features)).at(np.ones(features.size))
    columns = problem.layout.columns(features)
    predicted = operator.predict(like(X[:, columns], problem.X), problem.formulation.epsilon)
    squared: np.ndarray = ((target - predicted) ** 2).sum(axis=1)
    return squared
