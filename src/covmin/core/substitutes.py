"""Which features left out could stand in for those chosen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from .objectives import TraceObjective
from .path import CRACK, Stage
from .problem import Problem

__all__ = ["Substitutes", "substitutes"]


@dataclass(frozen=True)
class Substitutes:
    """What becomes of the criterion when a chosen feature goes or is replaced.

    Attributes
    ----------
    feature : ndarray of shape (n_chosen,)
        Chosen units.
    without : ndarray of shape (n_chosen,)
        Criterion when the unit goes and nothing takes its place.
    candidate : ndarray of shape (n_chosen, n_candidates)
        Units left out, best first.
    replaced : ndarray of shape (n_chosen, n_candidates)
        Criterion when they take its place, at its weight.
    criterion : float
        Criterion of the chosen units.
    """

    feature: np.ndarray
    without: np.ndarray
    candidate: np.ndarray
    replaced: np.ndarray
    criterion: float


def substitutes(problem: Problem, stage: Stage, n_candidates: int) -> Substitutes:
    """Find, for each chosen feature, the features left out that would replace it best.

    The slope of the criterion in the weights left out, once the chosen feature is gone, makes
    a short list; the criterion itself decides among these.

    Parameters
    ----------
    problem : Problem
    stage : Stage
        Its features are the chosen ones, its weights and its kernel those that count.
    n_candidates : int
        Substitutes wanted for each.

    Returns
    -------
    Substitutes
    """
    every = np.arange(problem.n_features)
    chosen = stage.features
    weights = np.zeros(every.size)
    kept = stage.weights[np.searchsorted(stage.columns, chosen)]
    weights[chosen] = np.maximum(kept, CRACK)
    left = np.setdiff1d(every, chosen)
    n_candidates = min(n_candidates, left.size)
    gram = problem.gram(every, stage.bandwidth, stage.budget, among=stage.columns)
    objective = TraceObjective(gram, problem.formulation.epsilon)
    value = partial(_value, problem, stage)
    candidate = np.empty((chosen.size, n_candidates), dtype=int)
    replaced = np.empty((chosen.size, n_candidates))
    without = np.empty(chosen.size)
    for row, feature in enumerate(chosen):
        others = np.where(every == feature, 0.0, weights)
        listed = _short_list(objective, others, left, 2 * n_candidates)
        without[row] = value(others)
        values = np.array([value(_put(others, k, weights[feature])) for k in listed])
        best = np.argsort(values, kind="stable")[:n_candidates]
        candidate[row], replaced[row] = listed[best], values[best]
    return Substitutes(chosen, without, candidate, replaced, value(weights))


def _short_list(
    objective: TraceObjective, weights: np.ndarray, left: np.ndarray, size: int
) -> np.ndarray:
    """The features left out in which the criterion falls most steeply."""
    cracked = weights.copy()
    cracked[left] = CRACK
    slope = objective.at(cracked).gradient()[left]
    return left[np.argsort(slope, kind="stable")[:size]]


def _put(weights: np.ndarray, feature: int, weight: float) -> np.ndarray:
    changed = weights.copy()
    changed[feature] = weight
    return changed


def _value(problem: Problem, stage: Stage, weights: np.ndarray) -> float:
    """The criterion with the kernel of the stage, computed on the features that count."""
    active = np.flatnonzero(weights > 0.0)
    if active.size == 0:
        active = np.arange(1)
    gram = problem.gram(active, stage.bandwidth, stage.budget, among=stage.columns)
    return TraceObjective(gram, problem.formulation.epsilon).at(weights[active]).value
