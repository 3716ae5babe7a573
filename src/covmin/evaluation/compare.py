"""Compare feature selectors on a user's own table."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils import column_or_1d

from covmin.data import Table, TableOptions, read
from covmin.data.columns import LEFT_OUT, summary
from covmin.data.independence import check_independence
from covmin.remarks import required, warn
from covmin.runtime.machine import one_thread
from covmin.runtime.run import ProgressBar
from covmin.runtime.seeds import global_state_restored, seed_of, unit_seed
from covmin.selection.scoring import scoring_name

from .curves import PROTOCOLS, CurveResult, CurveTask, Split, default_sizes
from .selectors import ComparedTable, resolve_selectors

Unit = Mapping[str, Any]  # a piece of work, as plain values


def compare_selectors(
    X: Any,
    y: Any = None,
    selectors: Iterable[str] | Mapping[str, Any] | None = None,
    *,
    protocol: str = "nested",
    n_features: Iterable[int] | None = None,
    cv: Any = 5,
    n_repeats: int = 1,
    groups: Any = None,
    task: str = "auto",
    column_types: Any = "auto",
    scoring: Any = None,
    seconds: float | None = None,
    n_jobs: int | None = None,
    random_state: int | None = None,
    progress: bool = False,
) -> CurveResult:
    """Compare selectors by the score of a kernel SVM on the features they choose.

    Each selector ranks the features. For each number m, a support vector machine with a Gaussian
    kernel (C = 1, σ by the median rule) is trained on the first m features, standardised on the
    training rows, and scored on held-out rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, in any form that :meth:`~covmin.CCMSelector.fit` accepts.
    y : array-like of shape (n_samples,), optional
        Class labels, scored by the accuracy of a support vector classifier; or numbers, scored by
        the R² of support vector regression.
    selectors : iterable of str or mapping of str to estimator, optional
        Names from :func:`named_selectors`; or a mapping from names of your choice to estimators,
        which are used unchanged and must have ``ranking_``, ``scores_`` or ``get_support`` after
        fitting. By default CCM and five quick baselines.
    protocol : {"nested", "paper"}, default="nested"
        "nested" ranks on the training rows of each fold. "paper" ranks once on all rows, test rows
        included, as in the paper; its scores are too high, most of all with few samples.
    n_features : iterable of int, optional
        Numbers of features m to score. By default 5, 10, …, 100 for more than 100 features, and
        1…d otherwise.
    cv : int, splitter or iterable of (train, test), default=5
        Cross-validation folds. A number means shuffled folds, stratified for classes.
    n_repeats : int, default=1
        Number of times to shuffle and split.
    groups : array-like of shape (n_samples,), optional
        Group of each sample; a group is never split between training and test rows.
    task : {"auto", "classification", "regression"}, default="auto"
        How to split and score; "auto" reads y as the selectors do.
    column_types : {"auto", "strict"} or dict, default="auto"
        How to read the columns, as for :class:`~covmin.CCMSelector`. The SVM, and selectors that
        accept only numbers, get one indicator per level of a category, which takes the rank of its
        best level. Missing values become the mean of the training rows, with an indicator.
    scoring : str or callable, optional
        Score of the SVM, as in scikit-learn, such as "roc_auc" or "neg_mean_absolute_error";
        higher is better. By default accuracy, or R².
    seconds : float, optional
        Time limit for the whole comparison, fold by fold. When the time is up, the rankings that
        have begun are finished. A warning and ``unfinished`` list the selectors concerned.
    n_jobs : int, optional
        Number of processes; None means one, -1 all cores. Each uses one BLAS thread.
    random_state : int, optional
        Seed of the splits and of the selectors; None means 0.
    progress : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    result : CurveResult
        ``frame`` (tidy: selector, protocol, repeat, fold, n_features, score, fit_seconds),
        ``summary()`` and ``plot()``. A selector that fails on a fold has missing scores there,
        and a warning is issued.

    Examples
    --------
    >>> from covmin.datasets import make_xor
    >>> from covmin.evaluation import compare_selectors
    >>> X, y = make_xor(90, random_state=0, return_X_y=True)
    >>> result = compare_selectors(X, y, ["ccm", "pearson"], n_features=[3])
    >>> result
    <CurveResult: 10 scores (accuracy) of ccm, pearson; see .summary(), .frame and .plot()>
    >>> table = result.summary().set_index("selector")
    >>> bool(table.mean_score["ccm"] > table.mean_score["pearson"] + 0.2)
    True
    """
    pandas = required("pandas", "A comparison", "cli")
    scorer = None if scoring is None else get_scorer(scoring)
    if seconds is not None and not seconds > 0.0:
        raise ValueError(f"seconds must be a number > 0 or None; got {seconds!r}.")
    if protocol not in PROTOCOLS:
        text = f"protocol={protocol!r} must be 'nested', which ranks features on the training rows"
        raise ValueError(f"{text} of each fold, or 'paper', which ranks them on all rows.")
    named = resolve_selectors(selectors)
    table = _read(X, y, TableOptions(column_types, task=task), groups)
    if isinstance(cv, Integral):
        check_independence(table, table.columns(standardize=True))
    y, encoded = column_or_1d(table.passed[1])[table.row], ComparedTable.of(table)
    d, classes = encoded.n_features, table.response.task == "classification"
    sizes = default_sizes(d) if n_features is None else sorted({int(m) for m in n_features})
    if not sizes or sizes[0] < 1 or sizes[-1] > d:
        text = f"n_features={sizes} must be numbers from 1 to {d}, the number of features of X."
        raise ValueError(text)
    seed = seed_of(random_state)
    how: dict[str, Any] = {"groups": table.groups, "random_state": seed, "classification": classes}
    splits = make_splits(encoded.matrix, y, cv=cv, n_repeats=n_repeats, **how)
    curves = CurveTask(encoded, y, named, sizes, splits, classes, seed, scorer)
    units = curves.units(protocol)
    if seconds is not None:  # so that all selectors have finished the same folds
        units.sort(key=lambda unit: (unit.get("repeat", 0), unit.get("fold", 0)))
    results = dict(finished(units, curves, n_jobs=n_jobs, progress=progress, seconds=seconds))
    if not results:
        raise ValueError(f"No selector finished a fold within seconds={seconds:g}; allow more.")
    # In the order in which the selectors were named.
    done = sorted(results, key=lambda i: (list(named).index(units[i]["selector"]), i))
    errors = [(units[i]["selector"], results[i]["error"]) for i in done]
    total, ran = Counter(unit["selector"] for unit in units), Counter(name for name, _ in errors)
    unfinished = {name: (ran[name], n) for name, n in total.items() if ran[name] < n}
    _warn_of_missing(errors, unfinished, seconds)
    frame = pandas.DataFrame([row for i in done for row in results[i]["rows"]])
    usual = "accuracy" if classes else "R²"
    score_name = usual if scoring is None else scoring_name(None, scoring)
    return CurveResult(frame.astype({"score": float}), score_name, unfinished)


def _read(X: Any, y: Any, options: TableOptions, groups: Any) -> Table:
    """Read a table in memory, with one response of classes or numbers."""
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        raise ValueError(f"y has {np.shape(y)[1]} columns; pass one response at a time.")
    table = read(X, y, options, groups=groups).in_memory()
    if table.response.task == "survival":
        text = "y holds survival times; selectors can only be compared on classes and numbers."
        raise ValueError(text)
    if out := [each for each in table.readings if each.kind in LEFT_OUT]:
        warn("excluded-columns", " ".join(summary(out)))
    return table


def _warn_of_missing(
    errors: list[tuple[str, str | None]],
    unfinished: dict[str, tuple[int, int]],
    seconds: float | None,
) -> None:
    """Warn of rankings that failed, with the first message of each selector, or never began."""
    if failed := [(name, error) for name, error in errors if error is not None]:
        first, counts = dict(reversed(failed)), Counter(name for name, _ in failed)
        text = "; ".join(f"{name} {counts[name]} times, first: {first[name]}" for name in first)
        said = f"{len(failed)} of {len(errors)} rankings failed and count as missing: {text}"
        warn("failed-rankings", said, category=FitFailedWarning)
    if unfinished:
        told = (f"{who} ({done} of {total})" for who, (done, total) in unfinished.items())
        said = f"Stopped after {seconds:g} s. Rankings finished: "
        warn("stopped-early", f"{said}{', '.join(told)}.")


def make_splits(
    X: np.ndarray,
    y: np.ndarray,
    *,
    cv: Any = 5,
    groups: np.ndarray | None = None,
    n_repeats: int = 1,
    random_state: int = 0,
    classification: bool = True,
) -> list[list[Split]]:
    """Return the training and test rows of each repeat and fold.

    ``cv`` is a number of shuffled folds, stratified for classes, where no group in ``groups``
    (n_samples,) is split; or a scikit-learn splitter; or the splits themselves, which are then
    the same in every repeat.
    """
    kinds = (StratifiedKFold, KFold) if groups is None else (StratifiedGroupKFold, GroupKFold)
    fixed, make = None if isinstance(cv, Integral) else check_cv(cv), kinds[not classification]
    repeats = []
    for repeat in range(n_repeats):
        seed = unit_seed(random_state, "splits", repeat)
        splitter = fixed or make(int(cv), shuffle=True, random_state=seed)
        pairs = splitter.split(X, y, groups)
        repeats.append([(np.asarray(train), np.asarray(test)) for train, test in pairs])
    return repeats


def finished(
    units: Sequence[Unit],
    work: Callable[[Unit], Any],
    *,
    n_jobs: int | None = None,
    progress: bool = False,
    description: str = "rankings",
    seconds: float | None = None,
) -> Iterator[tuple[int, Any]]:
    """Do units of work in parallel; yield the number and the result of each that is finished.

    ``work`` runs with one BLAS thread, and NumPy's global generator is restored afterwards. Units
    that have not begun after ``seconds`` are left out.
    """
    end = time.monotonic() + (math.inf if seconds is None else seconds)
    begun = ((i, unit) for i, unit in enumerate(units) if time.monotonic() < end)
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    found = pool(delayed(_guarded)(work, unit, i) for i, unit in begun)
    with ProgressBar.shown(progress) as bar:
        bar.show(description, "unit", 0, len(units))
        for done, result in enumerate(found, 1):
            yield result
            bar.show(description, "unit", done, len(units))


def _guarded(work: Callable[[Unit], Any], unit: Unit, index: int) -> tuple[int, Any]:
    # The workers already share the cores; more threads in each would only compete.
    with one_thread(), global_state_restored(), ProgressBar.shown(0):
        return index, work(unit)
