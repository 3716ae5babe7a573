"""Times to an event, some of them censored.

A sample is watched until a time; the event is seen then (1) or has not come until then (0).
"""

from __future__ import annotations

import numpy as np


def _events_and_risk(
    event: np.ndarray, time: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times that differ, which is that of each sample, and the weights of events and at risk.

    At risk at a time are the samples that are watched until then or longer.
    """
    times, place = np.unique(time, return_inverse=True)
    events = np.bincount(place, p * event, times.size)
    at_risk = np.cumsum(np.bincount(place, p, times.size)[::-1])[::-1]
    return times, place, events, at_risk


def cumulative_hazard(event: np.ndarray, time: np.ndarray, p: np.ndarray) -> np.ndarray:
    """``Λ(t) = Σ_{s ≤ t} d(s)/n(s)`` at each time: the estimate of Nelson and Aalen.

    d(s) is the weight of the events at s, n(s) that of the samples at risk.

    >>> cumulative_hazard(np.array([1.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0]), np.ones(3))
    array([0.33333333, 0.33333333, 1.33333333])
    """
    _, place, events, at_risk = _events_and_risk(event, time, p)
    hazard: np.ndarray = np.cumsum(events / at_risk)[place]
    return hazard


def martingale_residuals(event: np.ndarray, time: np.ndarray, p: np.ndarray) -> np.ndarray:
    """``M = δ − Λ(t)``: whether the event was seen, less how many were to be expected.

    Its mean under the weights is zero. So is its mean given the features wherever these do not
    change the hazard, even where they change how long a sample is watched.
    """
    return event - cumulative_hazard(event, time, p)


def survival_curve(
    event: np.ndarray, time: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """``S(t) = Π_{s ≤ t} (1 − d(s)/n(s))`` at the times of events: that of Kaplan and Meier.

    >>> survival_curve(np.array([1.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0]), np.ones(3))
    (array([1., 3.]), array([0.66666667, 0.        ]))
    """
    times, _, events, at_risk = _events_and_risk(event, time, p)
    seen = events > 0.0
    return times[seen], np.cumprod(1.0 - events[seen] / at_risk[seen])
