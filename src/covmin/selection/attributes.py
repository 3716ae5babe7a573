"""The fitted attributes, in terms of the columns and units of the input."""

from math import prod
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from covmin.constants import MEMORY_NUMBERS, SAMPLE_ROWS, SUSPICIOUS_SHARE
from covmin.core.arrays import take, to_numpy
from covmin.core.regression import MOST_SUMMANDS, errors_of_sums
from covmin.core.screening import Found
from covmin.core.solver import Progress
from covmin.data import Layout, Table
from covmin.data.standardize import PreparedColumns
from covmin.plan import Decision
from covmin.remarks import warn
from covmin.runtime.run import Run

from .fit import Fit
from .leaks import leak_text, leaking_features
from .summary import Explained

_TOO_LOW = "no p-values; errors are too low unless groups or a splitter keep such rows in one fold"


def present(fit: Fit, steps: list[Progress], independent: bool) -> dict[str, Any]:
    """Return all fitted attributes of a selector by name; p-values if rows are independent."""
    plan, path, columns, table = fit.plan, fit.path, fit.columns, fit.table
    if not independent:
        plan = plan.deciding(Decision("rows", "depend on each other", _TOO_LOW))
    layout, response, stages = table.layout, table.response, path.stages
    weights = np.zeros((len(stages), layout.given.size))
    weights[:, layout.given] = 1.0
    for row, stage in zip(weights, stages, strict=True):
        row[columns.unit_index[stage.among]] = stage.weights
    budget = min(fit.m, columns.units.size)
    # The last stage if an interrupt came before the one with this budget.
    stage = next((stage for stage in stages if stage.budget == budget), stages[-1])
    spread = _found(path.protected.spread, columns, layout, independent)
    spread.features = spread.features[:, 0]
    # Constant features rank last.
    order = np.concatenate([columns.unit_index[path.order], columns.constant])
    ranking = np.zeros(layout.given.size, dtype=np.int64)
    ranking[order] = np.arange(1, order.size + 1)
    lost = np.full(layout.given.size, np.nan)
    lost[columns.unit_index[list(fit.lost_without)]] = list(fit.lost_without.values())
    is_grouped, every = table.labels is not None, np.arange(layout.unit.size)
    is_small = prod(table.X.shape) <= MEMORY_NUMBERS
    solutions, iterations = [s.solution for s in stages], [step.iteration for step in steps]
    folds, frequency = fit.cross_validation, None
    if folds is not None:
        frequency = folds.frequency(fit.problem.epsilon, fit.m, layout.given.size)
    return {
        "ranking_": ranking[layout.unit],
        "support_": ranking[layout.unit] <= fit.m,
        "lost_without_": lost[layout.unit],
        "n_features_": fit.m,
        "n_features_in_": layout.unit.size,
        "feature_names_in_": table.names,
        "column_kinds_": table.kinds,
        # An excluded column is not constant: it has no column in X.
        "constant_": np.isin(layout.unit, columns.constant) & np.isin(every, layout.source),
        "missing_share_": table.missing_shares(columns.p),
        "n_distinct_": table.n_distinct() if is_small else np.full(layout.unit.size, np.nan),
        "feature_groups_": table.labels,
        "group_of_column_": layout.unit,
        "group_ranking_": ranking if is_grouped else None,
        "group_support_": ranking <= fit.m if is_grouped else None,
        "path_": Bunch(
            n_features=np.array([each.budget for each in stages]),
            weights=weights[:, layout.unit],
            bandwidth=np.array([each.bandwidth for each in stages]),
            criterion=np.array([each.criterion for each in stages]) * response.squared_unit,
            n_iter=np.array([each.n_iter for each in solutions]),
            converged=np.array([each.converged for each in solutions]),
        ),
        "history_": Bunch(
            stage=np.array([step.stage for step in steps], dtype=int),
            n_features=np.array([step.budget for step in steps], dtype=int),
            objective=np.array([each.value for each in iterations], dtype=float),
            gap=np.array([each.gap for each in iterations], dtype=float),
            n_active=np.array([each.n_active for each in iterations], dtype=int),
        ),
        "plan_": plan,
        "interactions_": _found(path.protected.interactions, columns, layout, independent),
        "spread_": spread,
        "weights_": weights[stages.index(stage), layout.unit],
        "objective_": float(stage.criterion * response.squared_unit),
        "approximation_": plan.approximation,
        "bandwidth_": stage.bandwidth,
        "epsilon_": fit.problem.epsilon,
        "kernel_": plan.kernel.name,
        "n_iter_": sum(each.n_iter for each in solutions),
        "converged_": all(each.converged for each in solutions),
        "classes_": response.classes,
        "task_": response.task,
        "fold_frequency_": None if frequency is None else frequency[layout.unit],
        "cv_results_": folds and folds.results(),
    }


def _found(found: Found, columns: PreparedColumns, layout: Layout, independent: bool) -> Bunch:
    """Return sets of features as input columns, in order; -1 after the end of a smaller set."""
    ends = found.columns < 0
    features = layout.source[columns.index[found.columns]]
    features = np.sort(np.where(ends, layout.unit.size, features), axis=1)
    features[np.sort(ends, axis=1)] = -1
    features = features[:, : max((~ends).sum(axis=1).max(initial=0), min(2, ends.shape[1]))]
    p_value = found.p_value if independent else np.full_like(found.p_value, np.nan)
    return Bunch(features=features, share=found.share, p_value=p_value)


def warn_of_the_end(
    selector: Any, fit: Fit, table: Table, attributes: dict[str, Any], run: Run
) -> None:
    """Warn if the fit stopped early, did not converge, is arbitrary, or too good to be true."""
    formulation, ranking = fit.plan.formulation, attributes["ranking_"]  # 0 if given
    floor = 1.0 / (2.0 * fit.columns.total_weight * fit.problem.epsilon)
    if formulation.lambda2 is not None and formulation.lambda2 < floor:
        text = f"lambda2={formulation.lambda2:g} is below 1/(2nε) = {floor:.4g}: the inverse-free "
        text += "objective may increase when features explain more of y. Pass a larger lambda2."
        warn("small-lambda2", text)
    if run.late or run.interrupted or run.n_judged is not None:
        early_end = run.early_end(attributes["path_"].n_features[-1])
        warn("end-of-fit", early_end, category=ConvergenceWarning)
    elif not attributes["converged_"]:
        text = f"A solve stopped after max_iter={formulation.max_iter} steps before it reached"
        cure = f"tol={formulation.tol:g}; increase max_iter or tol of the formulation."
        warn("end-of-fit", f"{text} {cure}", category=ConvergenceWarning)
    elif formulation.constraint != "hard" and not attributes["weights_"][ranking > 0].any():
        text = "All weights are zero, so the selection is arbitrary. Pass a smaller lambda1."
        warn("end-of-fit", text, category=UserWarning)
    if fit.m > (n := fit.path.order.size):
        warn("few-columns", f"{fit.m} features were requested, but only {n} vary and can be used.")
    # A closer look takes regressions. A text may contain the class; anything may tell an event.
    kinds, folds = attributes["column_kinds_"], attributes["cv_results_"]
    has_texts = attributes["classes_"] is not None and kinds is not None and "category" in kinds
    errors = [fit.errors] + ([] if folds is None else [folds.mean_error.min(axis=0)])
    one, several = (1.0 - share for share in SUSPICIOUS_SHARE[:2])
    # Those of the last word, with few landmarks, are some thousandths too large.
    suspicious = any(each[0] < one or each.min() < 5.0 * several for each in errors if each.size)
    few, place = fit.problem.sample.first(SAMPLE_ROWS), np.argsort(fit.path.order)
    columns = np.argsort(place[fit.problem.units.of_column], kind="stable")[:MOST_SUMMANDS]
    sums = errors_of_sums(*map(to_numpy, (take(few.X, columns, axis=1), few.Y, few.p)))
    if not (has_texts or attributes["task_"] == "survival" or suspicious or sums.min() < several):
        return
    if leaks := leaking_features(ranking, fit.m, table, Explained(selector, table)):
        names = [f"x{j}" if table.names is None else str(table.names[j]) for j in leaks]
        warn("leak", f"Too good to be true? {leak_text(names)}", names)
