"""Which features to keep, by how they compare with their copies."""

import numpy as np


def knockoff_q_values(W: np.ndarray, offset: int = 1) -> np.ndarray:
    """The smallest level at which the knockoff filter keeps each feature; ∞ where W ≤ 0.

    A feature is kept at level q if ``(offset + #{W ≤ −t}) / #{W ≥ t} ≤ q`` for some t of at
    most its own W.
    """
    q, smallest = np.full(W.size, np.inf), np.inf
    for t in np.unique(W[W > 0.0]):
        smallest = min(smallest, (offset + np.count_nonzero(-t >= W)) / np.count_nonzero(t <= W))
        q[t == W] = smallest
    return q


def knockoff_e_values(W: np.ndarray, level: float, offset: int) -> np.ndarray:
    """``d·1{Wⱼ ≥ T} / (1 + #{W ≤ −T})`` with the filter's threshold T at a level."""
    kept = knockoff_q_values(W, offset) <= level
    if not kept.any():
        return np.zeros(W.size)
    threshold = W[kept].min()
    return kept * (W.size / (1.0 + np.count_nonzero(-threshold >= W)))


def e_value_q_values(e: np.ndarray) -> np.ndarray:
    """The level at which the e-BH procedure keeps each feature: ``min_{k ≥ rank} d/(k e₍ₖ₎)``."""
    order = np.argsort(-e, kind="stable")
    places = np.arange(1, e.size + 1)
    with np.errstate(divide="ignore"):
        levels = e.size / (places * e[order])
    q = np.empty(e.size)
    q[order] = np.minimum.accumulate(levels[::-1])[::-1]
    return q
