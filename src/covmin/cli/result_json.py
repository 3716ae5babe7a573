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
    from covmin.report import explain_choice, verdict

    selector, names = result.selector, result.dataset.names
    return {
        "n_selected": int(selector.n_features_),
        "verdict": str(verdict(selector, result.dataset.target)),
        "why": explain_choice(selector),
        "selected": result.selected,
        "ranking": [
            {
                "rank": int(selector.ranking_[j]),
                "feature": names[j],
                "weight": round(float(selector.weights_[j]), 6),
                "selected": bool(selector.support_[j]),
            }
            for j in result.order
        ],
    }


def _findings(result: SelectResult) -> dict[str, Any]:
    """Return what else was found out about the features."""
    selector, names = result.selector, result.dataset.names
    pairs = selector.interactions_
    return {
        "interactions": [
            {"features": [names[j] for j in pair], "share": float(share), "p_value": float(p)}
            for pair, share, p in zip(pairs.features, pairs.share, pairs.p_value, strict=True)
        ],
        "spread": [
            {"feature": names[j], "share": float(share), "p_value": float(p)}
            for j, share, p in zip(*selector.spread_.values(), strict=True)
        ],
        "verdicts": verdict_rows(result.verdicts, names),
    }


def _fit(result: SelectResult) -> dict[str, Any]:
    """Return the error curve and the settings of the fit."""
    from covmin.report import error_curve

    selector = result.selector
    return {
        "cross_fitted_error": error_curve(selector),
        "kernel": selector.kernel_,
        "epsilon": float(selector.epsilon_),
        "bandwidth": float(selector.bandwidth_),
        "converged": bool(selector.converged_),
        "seed": selector.random_state,
    }
