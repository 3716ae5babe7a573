"""The fitted attributes, in terms of the columns and units of the input."""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from covmin.core.path import Path, Stage, approximation_error
from covmin.core.problem import Problem
from covmin.core.screening import Found
from covmin.data import Layout, Table
from covmin.data.standardize import PreparedColumns
from covmin.plan import Formulation, Plan
from covmin.remarks import warn
from covmin.runtime.run import Run

from .crossfit import CrossFit


class FittedAttributes:
    """Types of the fitted attributes, which the selector documents."""

    missing_share_: np.ndarray
    constant_: np.ndarray
    weights_: np.ndarray
    column_kinds_: np.ndarray
    plan_: Plan
    feature_groups_: np.ndarray | None
    group_of_column_: np.ndarray
    group_ranking_: np.ndarray | None
    group_support_: np.ndarray | None
    objective_: float
    approximation_: str | None
    approximation_error_: float
    device_: str | None
    kernel_: str
    mixing_: float
    path_: Any
    interactions_: Any
    spread_: Any
    cv_results_: Any
    history_: Any
    bandwidth_: float
    epsilon_: float
    n_iter_: int
    converged_: bool
    classes_: Any
    task_: str


def fitted_attributes(
    plan: Plan,
    problem: Problem,
    path: Path,
    columns: PreparedColumns,
    samples: Table,
    m: int,
    *,
    crossfit: CrossFit | None,
) -> dict[str, Any]:
    """Return all fitted attributes of a selector by name."""
    layout, response = samples.layout, samples.response
    stages = _path(path, columns.unit_index, layout, response.squared_unit)
    stage = _stage_of(path, min(m, columns.units.size))
    return _ranked(path, columns, samples, m) | {
        "n_features_": m,
        "n_features_in_": layout.unit.size,
        "feature_names_in_": samples.names,
        "column_kinds_": samples.kinds,
        "path_": stages,
        "plan_": plan,
        "interactions_": _interactions(path.protected.interactions, columns, layout),
        "spread_": _spread(path.protected.spread, columns, layout),
        "weights_": stages.weights[path.stages.index(stage)].copy(),
        "objective_": float(stage.criterion * response.squared_unit),
        "approximation_": plan.approximation,
        "approximation_error_": approximation_error(problem, stage),
        "device_": plan.request.device,
        "bandwidth_": stage.bandwidth,
        "epsilon_": problem.epsilon,
        "kernel_": plan.kernel.name,
        "mixing_": float(getattr(plan.kernel, "mixing", 0.0)),
        "n_iter_": int(stages.n_iter.sum()),
        "converged_": bool(stages.converged.all()),
        "classes_": response.classes,
        "task_": response.task,
        "cv_results_": _cross_fit(crossfit),
    }


def warn_of_the_end(attributes: dict[str, Any], run: Run, formulation: Formulation) -> None:
    """Warn if the choice of m or the path stopped early, did not converge or kept nothing."""
    category: type[Warning] = ConvergenceWarning
    if early := [said for said in (run.end_of_choice(), _end_of_path(attributes, run)) if said]:
        text = " ".join(early)
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


def _end_of_path(attributes: dict[str, Any], run: Run) -> str:
    """Describe where and why a path stopped early; empty if it did not."""
    n_features = attributes["path_"].n_features[-1]
    rest = "; smaller sets are ranked by the weights at that point" if n_features > 1 else ""
    end = f"at {n_features} feature{'s' if rest else ''}{rest}"
    return f"The fit was {ended_by} {end}." if (ended_by := run.ended_by()) else ""


def _ranked(path: Path, columns: PreparedColumns, samples: Table, m: int) -> dict[str, Any]:
    """Return ranks and masks of columns and groups; constant units rank last."""
    layout = samples.layout
    order = np.concatenate([columns.unit_index[path.order], columns.constant])
    ranking = np.zeros(layout.given.size, dtype=np.int64)
    ranking[order] = np.arange(1, order.size + 1)
    grouped, every = samples.labels is not None, np.arange(layout.unit.size)
    return {
        "ranking_": ranking[layout.unit],
        # An excluded column is not constant: it has no column in X.
        "constant_": np.isin(layout.unit, columns.constant) & np.isin(every, layout.source),
        "missing_share_": samples.missing_shares(columns.p),
        "support_": ranking[layout.unit] <= m,
        "feature_groups_": samples.labels,
        "group_of_column_": layout.unit,
        "group_ranking_": ranking if grouped else None,
        "group_support_": ranking <= m if grouped else None,
    }


def _stage_of(path: Path, budget: int) -> Stage:
    """Return the stage that kept this many features, or the last one after an interrupt."""
    wanted = [stage for stage in path.stages if stage.budget == budget]
    return wanted[0] if wanted else path.stages[-1]


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


def _interactions(found: Found, columns: PreparedColumns, layout: Layout) -> Bunch:
    """Return the interacting features as input columns; -1 after the end of a smaller set."""
    features = layout.source[columns.index[found.columns]]
    features = np.sort(np.where(found.columns < 0, features.max(initial=0) + 1, features), axis=1)
    features[np.sort(found.columns < 0, axis=1)] = -1
    return Bunch(features=features, share=found.share, p_value=found.p_value)


def _spread(spread: Found, columns: PreparedColumns, layout: Layout) -> Bunch:
    """Return the features that affect the spread of the response, as input columns."""
    features = layout.source[columns.index[spread.columns[:, 0]]]
    return Bunch(features=features, share=spread.share, p_value=spread.p_value)


def _cross_fit(crossfit: CrossFit | None) -> Bunch | None:
    if crossfit is None:
        return None
    found = Bunch(
        n_features=crossfit.sizes,
        epsilon=crossfit.epsilons,
        mean_error=crossfit.mean(),
        standard_error=crossfit.standard_error(),
    )
    for measure in crossfit.folds:
        if measure == "error" or measure.endswith("_variance"):
            continue
        name = "mean_score" if measure == "score" else measure
        found[name] = crossfit.mean(measure)
        found[f"{measure}_standard_error"] = crossfit.standard_error(measure)
    return found
