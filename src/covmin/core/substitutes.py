"""Find features that could replace the selected ones."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from .arrays import to_numpy
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

    A short list has the unselected features in which the criterion falls most steeply once the
    selected feature is dropped. A feature that acts only together with others does not show there:
    near weight zero its product with them is invisible. The features most correlated with the
    dropped one are therefore on the list too. The criterion itself, with the weights and the
    kernel of the stage, decides among all of these.
    """
    every = np.arange(problem.n_features)
    chosen = stage.features
    weights = np.zeros(every.size)
    weights[chosen] = np.maximum(stage.survivors.weights, PROBE_WEIGHT)
    left = np.setdiff1d(every, chosen)
    n_candidates = min(n_candidates, left.size)
    gram = problem.gram(every, stage.bandwidth, stage.budget, stage.among)
    objective = TraceObjective(gram, problem.epsilon, units=problem.units)
    likeness = _likeness(problem, chosen)
    value = partial(_value, problem, stage)
    candidate = np.empty((chosen.size, n_candidates), dtype=int)
    replaced = np.empty((chosen.size, n_candidates))
    without = np.empty(chosen.size)
    for row, feature in enumerate(chosen):
        others = np.where(every == feature, 0.0, weights)
        probed = others.copy()
        probed[left] = PROBE_WEIGHT
        slope = objective.at(probed).gradient()[left]
        steepest = np.argsort(slope, kind="stable")[: 2 * n_candidates]
        likest = np.argsort(-likeness[row, left], kind="stable")[:n_candidates]
        listed = left[np.union1d(steepest, likest)]
        without[row] = value(others)
        values = np.array([value(np.where(every == k, weights[feature], others)) for k in listed])
        best = np.argsort(values, kind="stable")[:n_candidates]
        candidate[row], replaced[row] = listed[best], values[best]
    return Substitutes(chosen, without, candidate, replaced, value(weights))


def _likeness(problem: Problem, chosen: np.ndarray) -> np.ndarray:
    """Return the mean squared correlation of columns, shape (n_chosen, n_units), on near rows."""
    units, near = problem.units, problem.sample.near
    p = to_numpy(near.p)[:, None]
    X = to_numpy(near.take(np.arange(units.of_column.size))).astype(float)
    X = X - (p * X).sum(axis=0)
    spread = np.sqrt((p * X**2).sum(axis=0))
    X = X / np.where(spread > 0.0, spread, 1.0)
    likeness = np.empty((chosen.size, units.size))
    for row, unit in enumerate(chosen):
        correlation = X.T @ (p * X[:, units.of_column == unit])
        # The squared scales of the columns of a unit sum to one, and so make a mean of a sum.
        likeness[row] = units.collect((correlation**2).mean(axis=1) * units.scale)
    return likeness


def _value(problem: Problem, stage: Stage, weights: np.ndarray) -> float:
    """Return the criterion with the kernel of the stage, on the features with positive weight."""
    active = np.flatnonzero(weights > 0.0)
    if active.size == 0:
        active = np.arange(1)
    return problem.trace(active, weights[active], stage.bandwidth, stage.budget, stage.among)
