"""Selectors compared on a user's own table."""

import hashlib
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer
from sklearn.utils import column_or_1d

from covmin.data.encoding import summary
from covmin.data.kinds import LEFT_OUT
from covmin.data.responses import encode_response
from covmin.data.samples import read_samples
from covmin.data.survival import survival_times
from covmin.runtime.seeds import seed_of
from covmin.selection.scoring import scoring_name
from covmin.selection.selector import CCMSelector

from .curves import CurveResult, CurveTask, check_protocol, curve_rows, default_sizes, no_result
from .encoded import EncodedTable, encoded
from .runner import run_units, warn_of_failures
from .selectors import QUICK_BASELINES, resolve_selectors, selector_settings
from .splits import make_splits


def compare_selectors(
    X: Any,
    y: Any,
    selectors: Iterable[str] | Mapping[str, Any] | None = None,
    *,
    protocol: str = "nested",
    n_features: Iterable[int] | None = None,
    cv: Any = 5,
    n_repeats: int = 1,
    groups: Any = None,
    task: str = "auto",
    categorical_features: Any = "from_dtype",
    column_types: Any = "auto",
    scoring: Any = None,
    seconds: float | None = None,
    n_jobs: int | None = None,
    random_state: int | None = None,
    log: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> CurveResult:
    """Score selectors by what a kernel machine makes of the features they choose.

    Features are ranked by each selector; a Gaussian kernel machine (C = 1, σ by the median rule
    on the selected features, columns standardised on the training rows) is then trained on the
    first m of them and scored on held-out rows, for each m.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, as :meth:`~covmin.CCMSelector.fit` takes them.
    y : array-like of shape (n_samples,)
        Class labels, scored by the accuracy of a support vector machine; or numbers, scored by
        the R² of support vector regression.
    selectors : iterable of str or mapping of str to estimator, optional
        Names of :func:`named_selectors`; or estimators with ``ranking_``, ``scores_`` or
        ``get_support`` once fitted, under names of your choice, used as they are. By default
        CCM and five quick baselines.
    protocol : {"nested", "paper"}, default="nested"
        "nested" ranks on the training rows of each fold, and its scores are what to expect of
        new samples. "paper" ranks once on all rows, test rows included, as published: its
        scores are too good, the more so the fewer samples and the more features there are.
    n_features : iterable of int, optional
        Numbers of features m to score; by default 5, 10, …, 100 of more than 100, else 1…d.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; a number means shuffled ones, stratified for classes.
    n_repeats : int, default=1
        Times to shuffle and split anew.
    groups : array-like of shape (n_samples,), optional
        Samples of one group are kept on one side of every split.
    task : {"auto", "classification", "regression"}, default="auto"
        How to split and score; "auto" reads y as the selectors do.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that hold categories, as for :class:`~covmin.CCMSelector`. Selectors of numbers
        alone rank indicators of their levels, and a category stands where its best level does; the
        machine is given an indicator of each level. Where values are missing, both are given the
        mean of the training rows, and an indicator.
    column_types : {"auto", "strict"} or dict, default="auto"
        What columns are read as, as for :class:`~covmin.CCMSelector`.
    scoring : str or callable, optional
        The score of the machine, as in scikit-learn, such as "roc_auc" or
        "neg_mean_absolute_error"; a higher one is better. By default accuracy, or R².
    seconds : float, optional
        Time for all of it. Folds are then taken in turn, each by every selector, in processes of
        their own, and what is under way when the time is over is ended: a warning and
        ``unfinished`` say of whom.
    n_jobs : int, optional
        Processes; None is one, -1 all cores. Each uses one BLAS thread.
    random_state : int, optional
        Seed of the splits and of the selectors; None is 0.
    log : path-like, optional
        File to keep finished work in; with it, a run that was interrupted is taken up again.
    progress : bool, default=False
        Whether to show a bar.

    Returns
    -------
    result : CurveResult
        ``frame`` (tidy: selector, protocol, repeat, fold, n_features, score, fit_seconds),
        ``summary()`` and ``plot()``. A selector that fails on a fold has missing scores there,
        and a warning says so.

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
    scorer = None if scoring is None else get_scorer(scoring)
    if seconds is not None and not seconds > 0.0:
        raise ValueError(f"seconds must be a number > 0 or None; got {seconds!r}.")
    reader = CCMSelector(
        task=task, categorical_features=categorical_features, column_types=column_types
    )
    X, y, groups, table = _check_data(X, y, groups, reader)
    classes = encode_response(y, task).task == "classification"
    seed = seed_of(random_state)
    specs = resolve_selectors(selectors, ("ccm", *QUICK_BASELINES))
    sizes = _check_sizes(n_features, X.shape[1])
    splits = make_splits(
        X, y, cv=cv, groups=groups, n_repeats=n_repeats, random_state=seed, classification=classes
    )
    curves = CurveTask(X, y, specs, sizes, splits, classes, seed, table, scorer)
    units = curves.units(specs, check_protocol(protocol))
    if seconds is not None:  # what is known when the time is over is known of all selectors
        units.sort(key=lambda unit: (unit.get("repeat", 0), unit.get("fold", 0)))
    settings = {**_settings(curves, scoring), **selector_settings(specs)}
    options: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress, "seconds": seconds}
    results = run_units(units, curves, log=log, settings=settings, **options)
    if not any(results):
        raise ValueError(f"No selector finished a fold within seconds={seconds:g}; allow more.")
    missing = [no_result(len(sizes), unit, len(splits[0])) for unit in units]
    pairs = list(zip(units, map(_first_of, results, missing), strict=True))
    # Selector by selector, as they were named.
    pairs.sort(key=lambda pair: list(specs).index(pair[0]["selector"]))
    rows = [row for unit, result in pairs for row in curve_rows(unit, result, sizes)]
    errors = [(unit["selector"], result["error"]) for unit, result in pairs]
    warn_of_failures(errors)
    name = "accuracy" if classes else "R²"
    result = CurveResult(rows, name if scoring is None else scoring_name(None, scoring), errors)
    if result.unfinished:
        told = (f"{who} ({done} of {total})" for who, (done, total) in result.unfinished.items())
        said = f"Stopped after {seconds:g} s. Not finished, with the rankings done: "
        warnings.warn(f"{said}{', '.join(told)}.", UserWarning, stacklevel=2)
    return result


def _first_of(result: Any, other: Any) -> Any:
    return other if result is None else result


def _check_data(
    X: Any, y: Any, groups: Any, reader: CCMSelector
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, EncodedTable | None]:
    """Numbers, responses, groups, and the table where it is more than numbers.

    It is read as for a fit, so that what a selector takes can be compared.
    """
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        raise ValueError(
            f"y has {np.shape(y)[1]} columns; selectors are compared on one response at a time."
        )
    if survival_times(y, reader.task) is not None:
        raise ValueError(
            "y holds times to an event; selectors are compared on classes and on numbers."
        )
    samples = read_samples(reader, X, y, None).in_memory()
    if out := [each for each in samples.readings if each.kind in LEFT_OUT]:
        warnings.warn(" ".join(summary(out)), UserWarning, stacklevel=3)
    y = column_or_1d(y)[samples.row]
    groups = None if groups is None else column_or_1d(groups)[samples.row]
    table = encoded(samples, reader)
    numbers = samples.X if table is None else table.first_columns()
    return np.asarray(numbers, dtype=np.float64), y, groups, table


def _check_sizes(n_features: Iterable[int] | None, d: int) -> list[int]:
    if n_features is None:
        return default_sizes(d)
    sizes = sorted({int(m) for m in n_features})
    if not sizes or sizes[0] < 1 or sizes[-1] > d:
        raise ValueError(
            f"n_features={sizes} must be numbers from 1 to {d}, the number of features of X."
        )
    return sizes


def _settings(curves: CurveTask, scoring: Any) -> dict[str, Any]:
    """What the scores depend on beyond the unit of work: for the header of the log."""
    data = hashlib.sha256(np.ravel(curves.X).data)
    data.update(repr(curves.y.tolist()).encode())
    tests = [[test.tolist() for _, test in folds] for folds in curves.splits]
    settings = {
        "data": data.hexdigest()[:16],
        "splits": hashlib.sha256(repr(tests).encode()).hexdigest()[:16],
        "n_features": list(curves.sizes),
        "classification": curves.classification,
        "random_state": curves.random_state,
    }
    if curves.table is not None:
        settings["encoded"] = hashlib.sha256(np.ravel(curves.table.matrix).data).hexdigest()[:16]
    if scoring is not None:
        settings["scoring"] = scoring_name(None, scoring)
    return settings
