"""Objectives whose units are the single columns of a Gram operator."""

from covmin.core import objectives
from covmin.core.units import Units


def _units(gram):
    return Units.single((gram.X if hasattr(gram, "X") else gram.rows).shape[1])


def trace_objective(gram, epsilon, units=None):
    return objectives.TraceObjective(gram, epsilon, units=units or _units(gram))


def inverse_free_objective(gram, *options, units=None):
    return objectives.InverseFreeObjective(gram, *options, units=units or _units(gram))
