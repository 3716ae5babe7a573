"""Objectives whose units are the single columns of a Gram operator."""

from covmin.core import objectives
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
    return objectives.InverseFreeObjective(gram, *options, units=units or _units(gram))
