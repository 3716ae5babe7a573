"""The result of ``covmin select`` for --json, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .verdicts import verdict_rows

if TYPE_CHECKING:
    from .select import SelectRequest, SelectResult


def result_as_dict(request: SelectRequest, result: SelectResult, code: str) -> dict[str, Any]:
    """Return what --json prints; ``code`` repeats the fit."""
    from covmin import __version__

    return {
        "covmin": __version__,
        "data": request.source.data,
        **_problem(result),
        **_choice(result),
        **_findings(result),
        **_fit(result),
        "code": code,
        "seconds": round(result.seconds, 3),
        "notes": result.notes,
        "warnings": result.warnings,
        "report": str(request.report) if request.report else None,
        "output": str(request.output) if request.output else None,
    }


def _problem(result: SelectResult) -> dict[str, Any]:
    """Describe the response and the size of the table."""
    dataset = result.dataset
    return {
        "target": dataset.target,
        "event": dataset.event_name,
        "task": result.selector.task_,
        "n_samples": dataset.n_samples,
        "n_features": len(dataset.names),
    }


def _choice(result: SelectResult) -> dict[str, Any]:
    """Return the selected features, the reason for their number, and the ranking of all."""
    found, names = result.summary, result.dataset.names
    return {
        "n_selected": found["n_selected"],
        "headline": found["headline"],
        "why": found["why"],
        "selected": result.selected,
        "ranking": [
            {
                "rank": row["rank"],
                "feature": names[row["column"]],
                "weight": round(row["weight"], 6),
                "selected": row["kept"],
            }
            for row in found["features"]
        ],
    }


def _findings(result: SelectResult) -> dict[str, Any]:
    """Return what else was found out about the features."""
    found, names = result.summary, result.dataset.names
    return {
        "interactions": [
            {"features": [names[j] for j in row["columns"]], **_strength(row)}
            for row in found["interactions"]
        ],
        "spread": [{"feature": names[row["column"]], **_strength(row)} for row in found["spread"]],
        "verdicts": verdict_rows(result.verdicts, names),
    }


def _strength(row: dict[str, Any]) -> dict[str, float]:
    return {key: row[key] for key in ("share", "p_value")}


def _fit(result: SelectResult) -> dict[str, Any]:
    """Return the error curve and the settings of the fit."""
    settings = ("cv_results", "kernel", "epsilon", "bandwidth", "converged")
    return {key: result.summary[key] for key in settings} | {"seed": result.selector.random_state}
