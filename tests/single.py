"""Problems and objectives whose units are single columns, and a watch over their paths."""

import numpy as np

from covmin.core import objectives
from covmin.core.arrays import like
from covmin.core.problem import Problem
from covmin.core.solver import Watch
from covmin.core.units import Units


def _units(gram):
    if hasattr(gram, "rows"):
        return Units.single(gram.rows.shape[1])
    prepared = gram.prepared  # of a sum over features, the waves of each
    is_sum = isinstance(prepared, tuple)
    return Units.single(prepared[1].shape[0] if is_sum else prepared.shape[1])


def trace_objective(gram, epsilon, units=None):
    return objectives.TraceObjective(gram, epsilon, units=units or _units(gram))


def inverse_free_objective(gram, *options, units=None):
    steps = {"n_first": options[2]} if len(options) > 2 else {}
    return objectives.InverseFreeObjective(gram, *options, **steps, units=units or _units(gram))


def problem_on(sample, frequencies=None, **options):
    """A problem, by default on all rows of a sample and each of its columns."""
    if frequencies is not None:
        frequencies = like(frequencies, sample.X)
    options = {"rows": sample, "units": Units.single(sample.shape[1]), **options}
    return Problem(sample, frequencies=frequencies, **options)


def objective_over(problem, features, *stage):
    """The objective of a stage of a problem, over some features."""
    gram = problem.gram(features, *stage)
    return problem.objective(gram, problem.epsilon, units=problem.units.restrict(features))


class Notes(Watch):
    """Keeps every step and stage it is told of, and ends a path after as many steps as it may."""

    def __init__(self, most=np.inf, finished=()):
        self.seen, self.done = [], []
        self.most, self.finished = most, finished

    def step(self, progress):
        self.seen.append(progress)

    def stage_done(self, number, stage):
        self.done.append((number, stage))

    def stop(self):
        return len(self.seen) >= self.most
