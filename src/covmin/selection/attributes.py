"""The fitted attributes, in terms of the columns and units of the input."""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from covmin.constants import SUSPICIOUS_SHARE
from covmin.core.path import Path, approximation_error
from covmin.core.screening import Found
from covmin.data import Layout
from covmin.data.standardize import PreparedColumns
from covmin.plan import Formulation
from covmin.remarks import warn
from covmin.runtime.run import Run

from .crossval import CrossValidation
from .fit import Fit


def fitted_attributes(fit: Fit) -> dict[str, Any]:
    """Return all fitted attributes of a selector by name."""
    plan, path, columns, table = fit.plan, fit.path, fit.columns, fit.table
    layout, response = table.layout, table.response
    stages = _path(path, columns.unit_index, layout, response.squared_unit)
    budget = min(fit.m, columns.units.size)
    # The last stage if an interrupt came before the one with this budget.
    stage = next((stage for stage in path.stages if stage.budget == budget), path.stages[-1])

    spread = _found(path.protected.spread, columns, layout)
    spread.features = spread.features[:, 0]
    return _ranked(fit) | {
        "n_features_": fit.m,
        "n_features_in_": layout.unit.size,
        "feature_names_in_": table.names,
        "column_kinds_": table.kinds,
        "path_": stages,
        "plan_": plan,
        "interactions_": _found(path.protected.interactions, columns, layout),
        "spread_": spread,
        "weights_": stages.weights[path.stages.index(stage)].copy(),
        "objective_": float(stage.criterion * response.squared_unit),
        "approximation_": plan.approximation,
        "approximation_error_": approximation_error(fit.problem, stage),
        "device_": fit.device,
        "bandwidth_": stage.bandwidth,
        "epsilon_": fit.problem.epsilon,
        "kernel_": plan.kernel.name,
        "mixing_": float(getattr(plan.kernel, "mixing", 0.0)),
        "n_iter_": int(stages.n_iter.sum()),
        "converged_": bool(stages.converged.all()),
        "classes_": response.classes,
        "task_": response.task,
        "cv_results_": _cv_results(fit.cross_validation),
    }


def warn_of_the_end(attributes: dict[str, Any], run: Run, formulation: Formulation) -> None:
    """Warn if the choice of m or the path stopped early, did not converge or kept nothing."""
    category: type[Warning] = ConvergenceWarning
    early_end = run.early_end(attributes["path_"].n_features[-1])
    if early_end:
        text = early_end
    elif not attributes["converged_"]:
        text = (
            f"A solve stopped after max_iter={formulation.max_iter} steps before it reached "
            f"tol={formulation.tol:g}; increase max_iter or tol of the formulation."
        )
    elif formulation.has_price and not attributes["weights_"][attributes["ranking_"] > 0].any():
        category = UserWarning
        text = (
            "All weights are zero, because the penalty lambda1 is too large for any feature; the "
            "selection is arbitrary. Pass a smaller lambda1."
        )
    else:
        return
    warn("end-of-fit", text, category=category)


def is_suspicious(attributes: dict[str, Any]) -> bool:
    """Tell whether features may give the response away: a closer look takes regressions."""
    kinds = attributes["column_kinds_"]
    if attributes["classes_"] is not None and kinds is not None and "category" in kinds:
        return True  # a text may contain the class
    errors = [*attributes["path_"].optimistic_loo_error]
    if attributes["cv_results_"] is not None:
        errors += [attributes["cv_results_"].mean_error.min()]
    return bool(min(errors) < 1.0 - SUSPICIOUS_SHARE[3])


def _ranked(fit: Fit) -> dict[str, Any]:
    """Return ranks and masks of columns and groups; constant features rank last."""
    columns, table, layout = fit.columns, fit.table, fit.table.layout
    order = np.concatenate([columns.unit_index[fit.path.order], columns.constant])
    ranking = np.zeros(layout.given.size, dtype=np.int64)
    ranking[order] = np.arange(1, order.size + 1)
    grouped, every = table.labels is not None, np.arange(layout.unit.size)
    return {
        "ranking_": ranking[layout.unit],
        # An excluded column is not constant: it has no column in X.
        "constant_": np.isin(layout.unit, columns.constant) & np.isin(every, layout.source),
        "missing_share_": table.missing_shares(columns.p),
        "support_": ranking[layout.unit] <= fit.m,
        "feature_groups_": table.labels,
        "group_of_column_": layout.unit,
        "group_ranking_": ranking if grouped else None,
        "group_support_": ranking <= fit.m if grouped else None,
    }


def _path(path: Path, unit_index: np.ndarray, layout: Layout, unit: float) -> Bunch:
    """Return the stages in terms of the columns and units of the input."""
    stages = path.stages
    weights = np.zeros((len(stages), layout.given.size))
    weights[:, layout.given] = 1.0
    for row, stage in zip(weights, stages, strict=True):
        row[unit_index[stage.among]] = stage.weights
    return Bunch(
        n_features=np.array([stage.budget for stage in stages]),
        weights=weights[:, layout.unit],
        bandwidth=np.array([stage.bandwidth for stage in stages]),
        criterion=np.array([stage.criterion for stage in stages]) * unit,
        optimistic_loo_error=np.array([stage.loo_error for stage in stages]),
        n_iter=np.array([stage.solution.n_iter for stage in stages]),
        converged=np.array([stage.solution.converged for stage in stages]),
    )


def _found(found: Found, columns: PreparedColumns, layout: Layout) -> Bunch:
    """Return sets of features as input columns, in order; -1 after the end of a smaller set."""
    ends = found.columns < 0
    features = layout.source[columns.index[found.columns]]
    features = np.sort(np.where(ends, layout.unit.size, features), axis=1)
    features[np.sort(ends, axis=1)] = -1
    features = features[:, : max((~ends).sum(axis=1).max(initial=0), min(2, ends.shape[1]))]
    return Bunch(features=features, share=found.share, p_value=found.p_value)


def _cv_results(cv: CrossValidation | None) -> Bunch | None:
    if cv is None:
        return None
    found = Bunch(
        n_features=cv.sizes,
        epsilon=cv.epsilons,
        mean_error=cv.mean(),
        standard_error=cv.standard_error(),
    )
    for measure in cv.folds:
        if measure == "error" or measure.endswith("_variance"):
            continue
        name = "mean_score" if measure == "score" else measure
        found[name] = cv.mean(measure)
        found[f"{measure}_standard_error"] = cv.standard_error(measure)
    return found
