"""Find features that could replace the selected ones."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from .objectives import TraceObjective
from .path import PROBE_WEIGHT, Stage
from .problem import Problem


@dataclass(frozen=True)
class Substitutes:
    """The criterion after a selected feature is dropped or replaced."""

    feature: np.ndarray  # (n_chosen,), selected units
    without: np.ndarray  # (n_chosen,), criterion without the unit
    candidate: np.ndarray  # (n_chosen, n_candidates), units not selected, best first
    replaced: np.ndarray  # (n_chosen, n_candidates), criterion with the candidate at its weight
    criterion: float  # of the selected units


def substitutes(problem: Problem, stage: Stage, n_candidates: int) -> Substitutes:
    """Find, for each feature that a stage selected, the features that would replace it best.

    After the selected feature is dropped, the gradient of the criterion in the weights of the
    unselected features gives a short list. The criterion itself, with the weights and the kernel
    of the stage, decides among these.
    """
    every = np.arange(problem.n_features)
    chosen = stage.features
    weights = np.zeros(every.size)
    weights[chosen] = np.maximum(stage.survivors.weights, PROBE_WEIGHT)
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
        # The short list: unselected features in which the criterion falls most steeply.
        probed = others.copy()
        probed[left] = PROBE_WEIGHT
        slope = objective.at(probed).gradient()[left]
        listed = left[np.argsort(slope, kind="stable")[: 2 * n_candidates]]
        without[row] = value(others)
        values = np.array([value(np.where(every == k, weights[feature], others)) for k in listed])
        best = np.argsort(values, kind="stable")[:n_candidates]
        candidate[row], replaced[row] = listed[best], values[best]
    return Substitutes(chosen, without, candidate, replaced, value(weights))


def _value(problem: Problem, stage: Stage, weights: np.ndarray) -> float:
    """Return the criterion with the kernel of the stage, on the features with positive weight."""
    active = np.flatnonzero(weights > 0.0)
    if active.size == 0:
        active = np.arange(1)
    return problem.trace(active, weights[active], stage.bandwidth, stage.budget, stage.among)
