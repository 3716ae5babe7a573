"""Estimators for survival times, some of them censored.

A sample is observed up to a time, at which the event occurs (1) or observation ends (0).
"""

from __future__ import annotations

import numpy as np


def _events_and_risk(
    event: np.ndarray, time: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct times, the index of each sample's time, and the events and risk sets.

    The risk set at a time is the weight of the samples observed up to then or longer.
    """
    times, place = np.unique(time, return_inverse=True)
    events = np.bincount(place, p * event, times.size)
    at_risk = np.cumsum(np.bincount(place, p, times.size)[::-1])[::-1]
    return times, place, events, at_risk


def cumulative_hazard(event: np.ndarray, time: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the Nelson–Aalen estimate ``Λ(t) = Σ_{s ≤ t} d(s)/n(s)`` at each sample's time.

    d(s) is the weight of the events at s, and n(s) that of the samples at risk.

    >>> cumulative_hazard(np.array([1.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0]), np.ones(3))
    array([0.33333333, 0.33333333, 1.33333333])
    """
    _, place, events, at_risk = _events_and_risk(event, time, p)
    hazard: np.ndarray = np.cumsum(events / at_risk)[place]
    return hazard


def martingale_residuals(event: np.ndarray, time: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return ``M = δ − Λ(t)``, the event indicator minus the expected number of events.

    Its weighted mean is zero. Its mean given the features is also zero if the features do not
    affect the hazard, even if they affect how long a sample is observed.
    """
    return event - cumulative_hazard(event, time, p)


def survival_curve(
    event: np.ndarray, time: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the event times and the Kaplan–Meier curve ``S(t) = Π_{s ≤ t} (1 − d(s)/n(s))``.

    >>> survival_curve(np.array([1.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0]), np.ones(3))
    (array([1., 3.]), array([0.66666667, 0.        ]))
    """
    times, _, events, at_risk = _events_and_risk(event, time, p)
    seen = events > 0.0
    return times[seen], np.cumprod(1.0 - events[seen] / at_risk[seen])
