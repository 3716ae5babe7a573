"""The error of a ranking on samples it has not seen: what chooses m and ε.

The leave-one-out error of a stage has seen, through the selection, the samples it leaves
out. Here the whole path is run on the training folds, and kernel ridge regression on its
first m features is judged on the fold left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from covmin.core.arrays import like
from covmin.core.nominations import Hold
from covmin.core.path import run_path
from covmin.core.problem import Problem
from covmin.data.columns import (
    ColumnPlan,
    PreparedColumns,
    normal_scores,
    prepare_columns,
    row_signatures,
)
from covmin.data.ranks import Standardize, goes_by_rank
from covmin.data.responses import EncodedResponse
from covmin.data.samples import Samples
from covmin.plan import Plan
from covmin.plan.budgets import path_budgets
from covmin.plan.constants import N_FOLDS, REGRESSION_RIDGES
from covmin.runtime.repeats import in_threads
from covmin.runtime.run import Run
from covmin.runtime.threads import blas_threads, worker_threads


@dataclass(frozen=True)
class CrossFit:
    """Cross-fitted errors for sets of 1..m features and for each ε."""

    sizes: np.ndarray  # numbers of features tried, increasing
    epsilons: np.ndarray
    errors: np.ndarray  # (n_epsilons, n_sizes, n_folds), as shares of the response's variance

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

        >>> errors = np.array([[[0.9, 1.1], [0.5, 0.6], [0.45, 0.6]]])
        >>> CrossFit(np.array([1, 2, 3]), np.array([0.1]), errors
        ...     ).smallest_within_one_standard_error(0)
        2
        """
        mean = self.mean[epsilon_index]
        best = int(np.argmin(mean))
        limit = mean[best] + self.standard_error[epsilon_index, best]
        return int(self.sizes[np.flatnonzero(mean <= limit)[0]])


@dataclass(frozen=True)
class _HeldOut:
    """Samples to train on, made ready, and those left out."""

    columns: PreparedColumns
    response: EncodedResponse
    X: np.ndarray
    target: np.ndarray
    weight: np.ndarray


def cross_fit(
    samples: Samples,
    plan: Plan,
    sizes: list[int],
    *,
    standardize: Standardize,
    run: Run,
    n_jobs: int | None = None,
) -> CrossFit:
    """Run the path on training folds and judge it on the fold left out.

    Standardisation, bandwidths and the ranking see the training samples alone. They, and the
    look at pairs, are the same for every ε. The samples are in memory; ``n_jobs`` folds are
    judged at once, in threads, and the run keeps those that are done.
    """
    for_each_fold = max(1, plan.n_threads // worker_threads(n_jobs))
    plan = replace(plan, n_threads=for_each_fold)

    def judge(fold: np.ndarray) -> np.ndarray:
        return _errors(_hold_out(samples, samples.plan, standardize, fold), plan, sizes)

    folds = _folds_of(samples, standardize, plan.wishes.seed)
    errors = run.folds()
    with (
        blas_threads(samples.n_samples, worker_threads(n_jobs)),
        in_threads(judge, folds[len(errors) :], n_jobs) as results,
    ):
        for error in results:
            errors.append(error)
            run.fold_done(len(errors) - 1, error, len(errors), len(folds))
            if run.stop():
                break
    if len(errors) < 2:
        raise KeyboardInterrupt("The fit was interrupted before there was anything to keep.")
    judged = np.stack(errors, axis=-1)  # (n_epsilons, n_sizes, n_ridges, n_folds)
    best = judged.mean(axis=-1, keepdims=True).argmin(axis=2, keepdims=True)
    judged = np.take_along_axis(judged, best, axis=2)[:, :, 0]
    return CrossFit(np.asarray(sizes), np.asarray(plan.epsilons), judged)


def residuals_beyond_given(samples: Samples, plan: Plan, standardize: Standardize) -> np.ndarray:
    """What the given features leave of the responses, by cross-fitted kernel ridge regression.

    Taking a function of the given features off the response leaves its conditional variance
    given these and any others as it is. But the ridge no longer holds back what they explain,
    so that a feature is not chosen for saying the same louder.

    Returns
    -------
    residuals : ndarray of shape (n_samples, n_responses)
        Centred under the sample weights.
    """
    samples = samples.in_memory()
    layout, weight = samples.plan, samples.weight
    is_given = layout.given[layout.unit[layout.source]]
    given = replace(samples, X=samples.X[:, is_given])
    layout = replace(layout, source=layout.source[is_given])
    residuals = {ridge: np.empty_like(samples.response.Y) for ridge in REGRESSION_RIDGES}
    for fold in _folds_of(samples, standardize, plan.wishes.seed):
        held = _hold_out(given, layout, standardize, fold)
        predict = None
        if held.columns.index.size:  # else they are constant here: the mean is all they say
            problem = plan.problem(held.columns, held.response.Y)
            predict = problem.operator(np.empty(0, dtype=int), np.empty(0)).predict
        for ridge, left in residuals.items():
            left[fold] = held.target - (
                0.0 if predict is None else predict(like(held.X, problem.sample.X), ridge)
            )
    best = min(residuals.values(), key=lambda r: float(weight @ (r**2).sum(axis=1)))
    centred: np.ndarray = best - weight @ best / weight.sum()
    return centred


def _hold_out(
    samples: Samples, layout: ColumnPlan, standardize: Standardize, fold: np.ndarray
) -> _HeldOut:
    """Training columns and responses, and the samples of the fold left out.

    Both responses are centred by the mean of the training samples.
    """
    X, Y, weight = samples.X, samples.response.Y, samples.weight
    train = weight[~fold]
    mean = train @ Y[~fold] / train.sum()
    Y_train = Y[~fold] - mean
    columns = prepare_columns(X[~fold], standardize, plan=layout, sample_weight=train, Y=Y_train)
    return _HeldOut(
        columns,
        replace(samples.response, Y=Y_train),
        columns.apply(X[fold]),
        Y[fold] - mean,
        weight[fold] / weight[fold].sum(),
    )


def _folds_of(samples: Samples, standardize: Standardize, seed: int) -> list[np.ndarray]:
    X = samples.X
    if goes_by_rank(standardize):  # beside a far value others would count as equal
        X = normal_scores(X, samples.weight, samples.plan).apply(X)
    signatures = _unitless_signatures(X, samples.response.Y)
    return _folds(signatures, samples.response.labels, seed)


def _unitless_signatures(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Signatures of the rows, whatever the units of the columns.

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

    >>> folds = _folds(np.array([0.1, 0.2, 0.1, 0.3, 0.4]), None, 0)
    >>> len(folds), bool(folds[0][0] == folds[0][2])
    (2, True)
    """
    _, first, row = np.unique(signatures, return_index=True, return_inverse=True)
    classes = np.zeros(first.size, dtype=int)
    if labels is not None:
        # A class whose rows all equal rows of another is not among the first of them.
        classes = np.unique(labels[first], return_inverse=True)[1]
    # However few members a class has: with as few folds, one of two would be left to train on.
    n_folds = max(2, min(N_FOLDS, first.size // 2))
    shuffled = np.random.default_rng(seed).permutation(first.size)
    # Dealt out in turn, class after class: sizes differ by one at most, in a class and in all.
    # Classes come in the order they are met, so that their names do not matter.
    met = np.unique(classes[shuffled], return_index=True)[1]
    dealt = shuffled[np.argsort(met[classes[shuffled]], kind="stable")]
    fold = np.empty(first.size, dtype=int)
    fold[dealt] = np.arange(first.size) % n_folds
    return [fold[row] == number for number in range(n_folds)]


def _errors(held: _HeldOut, plan: Plan, sizes: list[int]) -> np.ndarray:
    """Errors at the samples left out for each ε, size and ridge of the judge."""
    columns = held.columns
    if columns.units.size == 0:  # nothing varies on these folds: the mean is all there is
        nothing = held.weight @ (held.target**2).sum(axis=1)
        return np.full((len(plan.epsilons), len(sizes), len(REGRESSION_RIDGES)), nothing)
    table = plan.problem(columns, held.response.Y)
    hold = plan.hold(table)
    # A column can be constant on the training fold alone.
    usable = [min(size, table.n_features) for size in sizes]
    rows = []
    for epsilon in plan.epsilons:
        problem = plan.formulated(table, columns, held.response, epsilon)
        errors = {
            size: _judged(problem, np.sort(order[:size]), held)
            for size, order in _rankings(plan, problem, hold, usable)
        }
        rows.append([errors[size] for size in usable])
    return np.array(rows)


def _rankings(
    plan: Plan, problem: Problem, hold: Hold, sizes: list[int]
) -> Iterator[tuple[int, np.ndarray]]:
    """For each size, the units from best to worst: one path for all, or a solve for each."""
    if plan.wishes.formulation.is_path:
        order = run_path(problem, path_budgets(problem.n_features), hold).order
        yield from ((size, order) for size in set(sizes))
    else:
        for size in set(sizes):
            yield size, run_path(problem, [size]).order


def _judged(problem: Problem, features: np.ndarray, held: _HeldOut) -> list[float]:
    """Errors at the samples left out of kernel ridge regression on some features, by its ridge."""
    operator = problem.operator(features, np.ones(features.size))
    X = like(held.X[:, problem.units.columns(features)], problem.sample.X)
    return [
        float(held.weight @ ((held.target - operator.predict(X, ridge)) ** 2).sum(axis=1))
        for ridge in REGRESSION_RIDGES
    ]
