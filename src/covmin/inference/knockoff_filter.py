"""The knockoff filter and its e-values."""

import numpy as np


def knockoff_q_values(W: np.ndarray, offset: int = 1) -> np.ndarray:
    """Return the smallest level at which the knockoff filter keeps each feature; ∞ if W ≤ 0.

    A feature is kept at level q if ``(offset + #{W ≤ −t}) / #{W ≥ t} ≤ q`` for some t of at
    most its own W.
    """
    q, smallest = np.full(W.size, np.inf), np.inf
    for t in np.unique(W[W > 0.0]):
        smallest = min(smallest, (offset + np.count_nonzero(-t >= W)) / np.count_nonzero(t <= W))
        q[t == W] = smallest
    return q


def knockoff_e_values(W: np.ndarray, level: float, offset: int) -> np.ndarray:
    """Return ``d·1{Wⱼ ≥ T} / (1 + #{W ≤ −T})``, where T is the threshold of the filter."""
    kept = knockoff_q_values(W, offset) <= level
    if not kept.any():
        return np.zeros(W.size)
    threshold = W[kept].min()
    return kept * (W.size / (1.0 + np.count_nonzero(-threshold >= W)))


def e_value_q_values(e: np.ndarray) -> np.ndarray:
    """Return the level ``min_{k ≥ rank} d/(k e₍ₖ₎)`` at which e-BH keeps each feature."""
    order = np.argsort(-e, kind="stable")
    places = np.arange(1, e.size + 1)
    with np.errstate(divide="ignore"):
        levels = e.size / (places * e[order])
    q = np.empty(e.size)
    q[order] = np.minimum.accumulate(levels[::-1])[::-1]
    return q
