"""Second-order Gaussian knockoffs: copies of the features that know nothing of the response.

For standardised samples with covariance Σ, the pair [X X̃] is to have the covariance
``[[Σ, Σ − S], [Σ − S, Σ]]`` with a diagonal S: every feature may then be swapped with its
copy without a trace in the first two moments. The larger S, the less a copy resembles its
original, and the more a comparison of both can tell.
"""

import numpy as np
from sklearn.covariance import ledoit_wolf

_MAX_SWEEPS = 100
_TOLERANCE = 1e-6


class GaussianKnockoffs:
    """Draws ``X̃ | X ~ N(X − X Σ⁻¹S, 2S − SΣ⁻¹S)``, with Ledoit and Wolf's estimate of Σ.

    Z (n_samples, n_features) has columns of mean 0 and variance 1; ``covariance`` is the shrunk
    Σ, ``s`` the diagonal of S.
    """

    def __init__(self, Z: np.ndarray) -> None:
        self.covariance = ledoit_wolf(Z, assume_centered=True)[0]
        self.s = least_reconstructable(self.covariance)
        pull = np.linalg.solve(self.covariance, np.diag(self.s))
        self._mean = Z - Z @ pull
        spread = 2.0 * np.diag(self.s) - self.s[:, None] * pull
        values, vectors = np.linalg.eigh(0.5 * (spread + spread.T))
        # Positive by construction; rounding may take the smallest below zero.
        self._root = vectors * np.sqrt(np.maximum(values, 0.0))

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """One copy of every feature, shape (n_samples, n_features)."""
        noise = rng.standard_normal(self._mean.shape)
        return self._mean + noise @ self._root.T


def least_reconstructable(covariance: np.ndarray) -> np.ndarray:
    """The s that minimises ``tr((2Σ − S)⁻¹) + Σ 1/sⱼ``, the trace of the pair's precision.

    Each variable of the pair is then as hard as possible to predict from all the others
    (Spector and Janson, 2022). The problem is convex; each coordinate has its minimum in
    closed form, strictly inside ``0 < S ≺ 2Σ``, and moves the inverse by a rank-one term.
    """
    # The equicorrelated solution's half is strictly feasible.
    s = np.full(covariance.shape[0], np.linalg.eigvalsh(covariance)[0])
    for _ in range(_MAX_SWEEPS):
        before = s.copy()
        # Made anew for each sweep, so that rounding does not pile up.
        inverse = np.linalg.inv(2.0 * covariance - np.diag(s))
        for j in range(s.size):
            column = inverse[:, j].copy()
            length = np.linalg.norm(column)
            step = (1.0 - length * s[j]) / (column[j] + length)
            s[j] += step
            inverse += np.outer(column, column) * (step / (1.0 - step * column[j]))
        if np.abs(s - before).max() <= _TOLERANCE * s.max():
            break
    return s


def content_order(X: np.ndarray) -> np.ndarray:
    """An order of the columns by what is in them, in which their copies are drawn.

    With one seed, a feature gets the same copy wherever its column stands, and whatever order
    the selector has for its own purposes. No column may be zero throughout.
    """
    projection = np.random.default_rng(0).standard_normal(X.shape[0])
    return np.argsort((projection @ X) / np.abs(X).max(axis=0), kind="stable")
