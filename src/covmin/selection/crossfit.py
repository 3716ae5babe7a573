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
from covmin.data.columns import ColumnPlan, DistinctRows, PreparedColumns, prepare_columns
from covmin.data.ranks import Standardize
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
    look at pairs, are the same for every ε. The samples are in memory, in random order, and
    differ: a copy of a sample in training would tell its answer. ``n_jobs`` folds are judged at
    once, in threads, and the run keeps those that are done.
    """
    for_each_fold = max(1, plan.n_threads // worker_threads(n_jobs))
    plan = replace(plan, n_threads=for_each_fold)

    def judge(fold: np.ndarray) -> np.ndarray:
        return _errors(_hold_out(samples, samples.plan, standardize, fold), plan, sizes)

    folds = _folds(samples.n_samples, samples.response.labels)
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


def residuals_beyond_given(
    samples: Samples, rows: DistinctRows, plan: Plan, standardize: Standardize
) -> np.ndarray:
    """What the given features leave of the responses, by cross-fitted kernel ridge regression.

    Taking a function of the given features off the response leaves its conditional variance
    given these and any others as it is. But the ridge no longer holds back what they explain,
    so that a feature is not chosen for saying the same louder.

    Returns
    -------
    residuals : ndarray of shape (n_samples, n_responses)
        Centred under the sample weights.
    """
    every = samples.distinct(rows, rows.size)
    layout, weight = every.plan, every.weight
    is_given = layout.given[layout.unit[layout.source]]
    given = replace(every, X=every.X[:, is_given])
    layout = replace(layout, source=layout.source[is_given])
    residuals = {ridge: np.empty_like(every.response.Y) for ridge in REGRESSION_RIDGES}
    for fold in _folds(every.n_samples, every.response.labels):
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
    # A sample without a weight is of no kind that was left out, and has no say.
    return centred[np.minimum(rows.kind, rows.size - 1)]


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


def _folds(n_samples: int, labels: np.ndarray | None) -> list[np.ndarray]:
    """Masks of the samples each fold leaves out, with the classes spread evenly.

    >>> [fold.nonzero()[0].tolist() for fold in _folds(5, None)]
    [[0, 2, 4], [1, 3]]
    """
    classes = np.zeros(n_samples, dtype=int) if labels is None else labels
    # However few members a class has: with as few folds, one of two would be left to train on.
    n_folds = max(2, min(N_FOLDS, n_samples // 2))
    # Dealt out in turn, class after class: sizes differ by one at most, in a class and in all.
    # Classes come in the order they are met, so that their names do not matter.
    met = np.unique(classes, return_index=True)[1]
    fold = np.empty(n_samples, dtype=int)
    fold[np.argsort(met[classes], kind="stable")] = np.arange(n_samples) % n_folds
    return [fold == number for number in range(n_folds)]


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
