"""Cross-validation of the whole selection, to choose m and ε.

The leave-one-out error of a stage is biased, because the selection has seen all samples. Here the
whole path is run on the training folds. A kernel regression on its first m features is then
fitted to the training folds and evaluated on the test fold.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from covmin.constants import SAMPLE_ROWS, STANDARD_ERRORS
from covmin.core.arrays import to_numpy
from covmin.core.path import run_path
from covmin.core.regression import regress_on_sets
from covmin.core.solver import Watch
from covmin.data import Layout, Table
from covmin.data.blocks.array import Blocks, as_blocks
from covmin.data.response import EncodedResponse
from covmin.data.standardize import DistinctRows, PreparedColumns, Standardize, prepare_columns
from covmin.data.survival import martingale_residuals
from covmin.plan import Plan
from covmin.plan.look import FirstLook
from covmin.plan.rules import path_budgets
from covmin.runtime.machine import blas_threads, in_threads, row_threads, worker_threads
from covmin.runtime.run import Run

from .assemble import problem_of, refined
from .measures import class_measures, concordance
from .scoring import estimator_score
from .splits import FEWEST_SAMPLES, Fold, splits

_TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class CrossValidation:
    """Cross-validation results for each ε and number of features; the first size is 0.

    The measures are the squared error, measures of classification, the concordance index for
    survival, and the score of an estimator. An error is divided by that without features on the
    same test samples: with heavy tails, the variance of other samples is a poor guide to theirs.
    """

    sizes: np.ndarray  # (n_sizes,), increasing from 0
    epsilons: np.ndarray
    # By measure, each (n_epsilons, n_sizes, n_folds). Of measures that are means over samples also
    # the covariance between sizes over the test samples, (n_epsilons, n_sizes, n_sizes, n_folds).
    folds: dict[str, np.ndarray]
    # Units selected in each fold, (n_epsilons, n_sizes, largest size, n_folds); -1 after the last.
    members: np.ndarray | None = None

    def frequency(self, epsilon: float, size: int, n_units: int) -> np.ndarray | None:
        """Return the fraction of the folds that select each unit; None for sizes not tried."""
        if self.members is None or size not in self.sizes:
            return None
        row, column = np.abs(self.epsilons - epsilon).argmin(), self.sizes.tolist().index(size)
        found = self.members[row, column]
        return np.bincount(found[found >= 0], minlength=n_units) / found.shape[1]

    def mean(self, measure: str = "error") -> np.ndarray:
        """Return the mean over folds, shape (n_epsilons, n_sizes)."""
        mean = self.folds[measure].mean(axis=2)
        return mean / np.maximum(mean[:, :1], _TINY) if measure == "error" else mean

    def covariance(self, measure: str = "error") -> np.ndarray:
        """Return the covariance of the means of two sizes, shape (n_epsilons, n_sizes, n_sizes).

        It is over independent samples or groups if each of them has a value, otherwise over folds.
        """
        values = self.folds[measure]
        n_folds, mean = values.shape[2], values.mean(axis=2, keepdims=True)
        if f"covariance_{measure}" in self.folds:
            C = self.folds[f"covariance_{measure}"].sum(axis=3) / n_folds**2
        else:  # the time limit may have allowed a single fold
            apart = values - mean
            C = apart @ apart.swapaxes(1, 2) / max(n_folds * (n_folds - 1), 1)
        if measure != "error":
            return C
        first = np.arange(self.sizes.size) == 0
        # A ratio, to first order: the error less the ratio times the error without features.
        T = (np.eye(first.size) - self.mean()[:, :, None] * first) / np.maximum(mean[:, :1], _TINY)
        return T @ C @ T.swapaxes(1, 2)

    def results(self) -> Bunch:
        """Return means and standard errors of all measures, as fitted attribute."""
        found = Bunch(epsilon=self.epsilons, n_features=self.sizes[1:])
        for measure in (name for name in self.folds if not name.startswith("covariance_")):
            variances = np.diagonal(self.covariance(measure), axis1=1, axis2=2)
            mean, spread = names_in_results(measure)
            found[mean] = self.mean(measure)[:, 1:]
            found[spread] = np.sqrt(np.maximum(variances, 0.0))[:, 1:]
        return found

    @property
    def decides(self) -> str:
        """The measure that compares sets of features."""
        return next(name for name in ("score", "concordance", "error") if name in self.folds)

    def choice(self) -> tuple[int, int]:
        """Return the number of the best ε, and the number of features to keep.

        It is the smallest whose difference from the best is at most a standard error of this
        difference: the errors of two sets vary alike over the samples, their difference much less.
        If the best is not clearly better than no features, it is the smallest of all.

        >>> errors = np.array([[[1.0, 1.0], [0.9, 1.1], [0.5, 0.6], [0.45, 0.62]]])
        >>> CrossValidation(np.arange(4), np.array([0.1]), {"error": errors}).choice()
        (0, 2)
        """
        losses = self.mean(self.decides)[:, 1:] * (1.0 if self.decides == "error" else -1.0)
        epsilon, best = np.unravel_index(np.argmin(losses), losses.shape)
        if "score" not in self.folds and not is_found(self.results(), int(epsilon)):
            return int(epsilon), int(self.sizes[1])
        C = self.covariance(self.decides)[epsilon, 1:, 1:]
        spread = np.sqrt(np.maximum(np.diag(C) + C[best, best] - 2.0 * C[best], 0.0))
        enough = losses[epsilon] - losses[epsilon, best] <= spread
        return int(epsilon), int(self.sizes[1:][np.argmax(enough)])


def names_in_results(measure: str) -> tuple[str, str]:
    """Return the names of the mean and the standard error of a measure in ``cv_results_``."""
    mean = f"mean_{measure}" if measure in ("error", "score") else measure
    return mean, "standard_error" if measure == "error" else f"{measure}_standard_error"


def is_found(results: Bunch, epsilon: int) -> bool:
    """Tell whether the set with the lowest error is clearly better than no features."""
    best = int(np.argmin(results.mean_error[epsilon]))
    gain = 1.0 - results.mean_error[epsilon, best]
    return bool(gain > STANDARD_ERRORS[1] * results.standard_error[epsilon, best])


@dataclass(frozen=True)
class _HeldOut:
    """Prepared training samples, and the samples of the test fold."""

    columns: PreparedColumns
    response: EncodedResponse
    layout: Layout
    X: Any  # test samples, unprepared: an array, or a source if they are sparse
    target: np.ndarray
    weight: np.ndarray
    left_out: EncodedResponse  # classes or survival times of the test samples

    def predicted(
        self, sets: list[np.ndarray], Y: np.ndarray, also: np.ndarray | None = None
    ) -> Iterator[np.ndarray]:
        """Predict the test samples by kernel regression on each set of units.

        Given units are always included. The regression uses a limited number of training rows.
        """
        unit = self.layout.unit[self.layout.source[self.columns.index]]
        given, most = self.layout.given[unit], SAMPLE_ROWS
        chosen = [np.flatnonzero(given | np.isin(unit, each)) for each in sets]
        used = np.unique(np.concatenate(chosen))
        p, columns = self.columns.p[:most], self.columns.apply(self.X)
        Z = to_numpy(self.columns.X.take(np.arange(p.size), used))
        weights = self.columns.units.scale[used] ** 2
        places = [np.searchsorted(used, each) for each in chosen]
        also = None if also is None else also[:most]
        regressions = regress_on_sets(Z, Y[:most], p / p.sum(), weights, places, also=also)
        left_out = columns.take(np.arange(columns.shape[0]), used)
        yield from (each.predict(left_out) for each in regressions)

    def predictions(self, sets: list[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Predict the responses of the test samples by each set, and their classes or risks."""
        Y, labels, times, others = self.response.Y, self.response.labels, self.response.times, None
        if times is not None:
            others = martingale_residuals(times[:, 0], times[:, 1], self.columns.p)[:, None]
        elif labels is not None and self.left_out.labels is not None:
            others = np.eye(1 + max(labels.max(), self.left_out.labels.max()))[labels]
        if others is not None and self.layout.given.any():
            # The residual response given some features does not determine classes or risks.
            yield from zip(self.predicted(sets, Y), self.predicted(sets, others), strict=True)
        else:
            for predicted in self.predicted(sets, Y, others):
                yield predicted[:, : Y.shape[1]], predicted[:, Y.shape[1] :]


def cross_validate(
    samples: Table, plan: Plan, sizes: list[int], settings: SimpleNamespace, run: Run
) -> CrossValidation | None:
    """Run the path on training folds and evaluate it on the test folds.

    Standardisation, bandwidths, the ranking and the regression use only the training samples. They,
    and the search for pairs, are the same for all ε. The samples are in memory (sparse if they
    were), in random order and distinct, because a duplicate in the training fold would reveal the
    response. ``n_jobs`` folds, by default as many as there are processors, run in parallel threads,
    and ``run`` saves those that are finished. Returns None if the time was up before any finished.
    """
    n_jobs = settings.n_jobs
    n_workers = max(worker_threads(n_jobs), row_threads() if n_jobs is None else 1)
    plan = replace(plan, n_threads=max(1, plan.n_threads // n_workers))
    watch = Watch()
    watch.stop = run.stop_choosing  # type: ignore[method-assign]
    score = estimator_score(settings.estimator, settings.scoring, samples)

    def scored(fold: Fold) -> dict[str, np.ndarray] | None:
        held = _hold_out(samples, fold, settings.standardize, plan.device)
        chosen = _chosen(held, plan, sizes, watch)
        if run.stop_choosing():  # an unfinished ranking is not comparable
            return None
        members = np.full((len(plan.epsilons), 1 + len(sizes), sizes[-1]), -1)
        for i, j in np.ndindex(len(plan.epsilons), len(sizes)):
            members[i, 1 + j, : chosen[i][j].size] = chosen[i][j]
        found = _measured(held, chosen, None if score is None else lambda c: score(c, fold))
        for name in [name for name in found if name.startswith("covariance_")]:
            D = found.pop(name)
            if samples.groups is not None:  # samples of a group vary together
                of_test = samples.groups[fold[1]]
                order = np.argsort(of_test, kind="stable")
                starts = np.unique(of_test[order], return_index=True)[1]
                D = np.add.reduceat(D[:, :, order], starts, axis=2)
            elif not settings.independent:  # only folds may be
                continue
            found[name] = D @ D.swapaxes(1, 2)
        return {**found, "members": members}

    folds = splits(samples, settings.cv)
    done = run.folds(len(folds))
    with (
        blas_threads(samples.n_samples, n_workers),
        in_threads(scored, folds[len(done) :], n_workers) as results,
    ):
        for result in results:
            if result is None:
                break
            done.append(result)
            run.fold_done(result, len(done), len(folds))
            if run.stop() or run.stop_choosing():
                break
    if len(done) < len(folds):
        run.n_judged = len(done), len(folds)
    if run.interrupted and len(done) < 2:
        raise KeyboardInterrupt("The fit was interrupted before there was a result to keep.")
    if not done:
        return None
    every = {name: np.stack([fold[name] for fold in done], axis=-1) for name in done[0]}
    members, epsilons = every.pop("members"), np.asarray(plan.epsilons)
    return CrossValidation(np.array([0, *sizes]), epsilons, every, members)


def beyond_given(samples: Table, rows: DistinctRows, standardize: Standardize) -> Table:
    """Remove from the response what cross-fitted regression on the given features explains.

    Subtracting a function of the given features does not change the conditional variance of the
    response given these and any others. But the ridge no longer shrinks what they explain, so a
    feature is not selected merely for repeating it.
    """
    if samples.n_samples < FEWEST_SAMPLES:
        return samples
    every = samples.distinct(rows, rows.p.size)
    layout, weight = every.layout, every.weight
    X, columns = every.X, np.flatnonzero(layout.given[layout.unit[layout.source]])
    X = X.take(np.arange(every.n_samples), columns) if isinstance(X, Blocks) else X[:, columns]
    given = replace(every, X=X, layout=layout.restrict(columns))
    residuals = np.empty_like(every.response.Y)
    for fold in splits(every, every_fold=True):
        held = _hold_out(given, fold, standardize)
        [predicted] = held.predicted([np.empty(0, dtype=int)], held.response.Y)
        residuals[fold[1]] = held.target - predicted
    centred = residuals - weight @ residuals / weight.sum()
    # A sample without weight has no kind; its residual does not matter.
    centred = centred[np.minimum(rows.kind, rows.p.size - 1)]
    return replace(samples, response=samples.response.reduced_to(centred, samples.weight))


def held_out_shares(
    samples: Table, cv: Any, sets: list[np.ndarray], standardize: Standardize = True
) -> np.ndarray:
    """Return errors on held-out samples of regression on sets of units, relative to the mean."""
    errors = np.zeros(1 + len(sets))
    for fold in splits(samples, cv, every_fold=True):
        held, weight = _hold_out(samples, fold, standardize), samples.weight[fold[1]]
        predicted = [np.zeros(1), *held.predicted(sets, held.response.Y)]
        errors += [weight @ ((held.target - each) ** 2).sum(axis=1) for each in predicted]
    return errors[1:] / errors[0]


def _hold_out(
    samples: Table, fold: Fold, standardize: Standardize, device: str | None = None
) -> _HeldOut:
    """Prepare the training columns and responses, on a device, and the samples of the test fold.

    Both responses are centred by the mean of the training samples.
    """
    X, Y, weight, layout = samples.X, samples.response.Y, samples.weight, samples.layout
    train, test = fold
    trained = weight[train]
    mean = trained @ Y[train] / trained.sum()
    Y_train = Y[train] - mean
    X_train, X_left = (X.keep(m) if isinstance(X, Blocks) else X[m] for m in fold)
    X_train = as_blocks(X_train, device)
    columns = prepare_columns(X_train, standardize, layout=layout, sample_weight=trained, Y=Y_train)
    response = replace(samples.response.of_rows(train), Y=Y_train)
    left_out, p = samples.response.of_rows(test), weight[test] / weight[test].sum()
    return _HeldOut(columns, response, layout, X_left, Y[test] - mean, p, left_out)


def _measured(
    held: _HeldOut, kept: list[list[np.ndarray]], score: Callable[[np.ndarray], float] | None
) -> dict[str, np.ndarray]:
    """Return the measures on the test samples, each of shape (n_epsilons, 1 + n_sizes).

    For each measure that is a mean over samples, also what each sample adds to it.
    """
    layout, w = held.layout, held.weight
    # The empty set comes first. Evaluate a set only once if several ε select it.
    chosen = [[(), *(tuple(sorted(units.tolist())) for units in row)] for row in kept]
    sets = list(dict.fromkeys(each for row in chosen for each in row))
    places = np.array([[sets.index(each) for each in row] for row in chosen])
    units = [np.array(each, dtype=int) for each in sets]
    rows: list[dict[str, float]] = []
    by_sample: list[dict[str, np.ndarray]] = []
    for members, (predicted, others) in zip(units, held.predictions(units), strict=True):
        errors = ((held.target - predicted) ** 2).sum(axis=1)
        measures = {"error": float(w @ errors)}
        of_samples = {"error": w * (errors - measures["error"])}
        if others.size and held.left_out.times is not None:
            index, of_samples["concordance"] = concordance(held.left_out.times, others[:, 0], w)
            measures["concordance"] = index
        elif others.size and held.left_out.labels is not None:
            measures |= class_measures(others, held.left_out.labels, w, held.columns.p.size)
        if score is not None:
            is_in = np.isin(layout.unit, members) | layout.given[layout.unit]
            measures["score"] = score(np.flatnonzero(is_in)) if members.size else 0.0
        rows.append(measures)
        by_sample.append(of_samples)
    found = {name: np.array([row[name] for row in rows])[places] for name in rows[0]}
    for name in by_sample[0]:
        found[f"covariance_{name}"] = np.array([row[name] for row in by_sample])[places]
    return found


def _chosen(held: _HeldOut, plan: Plan, sizes: list[int], watch: Watch) -> list[list[np.ndarray]]:
    """Return the features kept for each ε and size; constant ones come last."""
    columns, is_path = held.columns, plan.formulation.strategy == "path"
    if columns.units.size == 0:
        return [[columns.constant[:size] for size in sizes] for _ in plan.epsilons]
    data = problem_of(plan, columns, held.response.Y)
    protected = FirstLook(data, plan.task, plan.order).protected
    # A column may be constant on the training fold only.
    usable = [min(size, data.units.size) for size in sizes]
    solved = usable[-1:] * len(usable) if is_path else usable  # one path ranks for all sizes
    rows = []
    for epsilon in plan.epsilons:
        problem = plan.formulation.applied_to(data, epsilon, columns, held.response)
        if problem.effort is not None:  # a ranking of a subset need not be solved tightly
            steps = problem.steps.looser(problem.effort.looseness)
            problem = replace(problem, steps=steps)
        orders: dict[int, np.ndarray] = {}
        for size in dict.fromkeys(solved):
            budgets = path_budgets(problem.units.size, plan.last_budget) if is_path else [size]
            path = run_path(problem, budgets, protected, watch)
            order = columns.unit_index[refined(plan, problem, path, None).order]
            orders[size] = np.concatenate([order, columns.constant])
        rows.append([orders[used][:size] for used, size in zip(solved, sizes, strict=True)])
    return rows
