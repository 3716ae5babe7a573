"""Which features left out could stand in for those chosen."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from .objectives import TraceObjective
from .path import CRACK, Stage
from .problem import Problem


@dataclass(frozen=True)
class Substitutes:
    """What becomes of the criterion when a chosen feature goes or is replaced."""

    feature: np.ndarray  # (n_chosen,), chosen units
    without: np.ndarray  # (n_chosen,), criterion when the unit goes and nothing takes its place
    candidate: np.ndarray  # (n_chosen, n_candidates), units left out, best first
    replaced: np.ndarray  # (n_chosen, n_candidates), criterion with these at its weight
    criterion: float  # of the chosen units


def substitutes(problem: Problem, stage: Stage, n_candidates: int) -> Substitutes:
    """Find, for each feature a stage chose, the features left out that would replace it best.

    The slope of the criterion in the weights left out, once the chosen feature is gone, makes
    a short list; the criterion itself, with the weights and the kernel of the stage, decides
    among these.
    """
    every = np.arange(problem.n_features)
    chosen = stage.features
    weights = np.zeros(every.size)
    weights[chosen] = np.maximum(stage.survivors.weights, CRACK)
    left = np.setdiff1d(every, chosen)
    n_candidates = min(n_candidates, left.size)
    gram = problem.gram(every, stage.bandwidth, stage.budget, stage.among)
    objective = TraceObjective(gram, problem.epsilon, units=problem.units)
    value = partial(_value, problem, stage)
    candidate = np.empty((chosen.size, n_candidates), dtype=int)
    replaced = np.empty((chosen.size, n_candidates))
    without = np.empty(chosen.size)
    for row, feature in enumerate(chosen):
        others = np.where(every == feature, 0.0, weights)
        # The short list: those left out in which the criterion falls most steeply.
        cracked = others.copy()
        cracked[left] = CRACK
        slope = objective.at(cracked).gradient()[left]
        listed = left[np.argsort(slope, kind="stable")[: 2 * n_candidates]]
        without[row] = value(others)
        values = np.array([value(np.where(every == k, weights[feature], others)) for k in listed])
        best = np.argsort(values, kind="stable")[:n_candidates]
        candidate[row], replaced[row] = listed[best], values[best]
    return Substitutes(chosen, without, candidate, replaced, value(weights))


def _value(problem: Problem, stage: Stage, weights: np.ndarray) -> float:
    """The criterion with the kernel of the stage, computed on the features that count."""
    active = np.flatnonzero(weights > 0.0)
    if active.size == 0:
        active = np.arange(1)
    return problem.trace(active, weights[active], stage.bandwidth, stage.budget, stage.among)
