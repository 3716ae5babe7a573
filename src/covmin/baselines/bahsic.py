"""Backward elimination with the Hilbert-Schmidt independence criterion."""

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import pdist, squareform

from .base import BackwardElimination, Target

# Numbers in the work array of a block of features: 0.5 MiB, so that it stays in cache.
_BLOCK_ENTRIES = 2**16


class BAHSICSelector(BackwardElimination):
    r"""Drop the features j whose removal leaves :math:`\mathrm{HSIC}(X_{S\setminus j},Y)` largest.

    Song et al. (2007, 2012). With :math:`\tilde K,\tilde L` the kernel matrices of X and Y with
    their diagonals set to zero, the unbiased estimator is

    .. math:: \frac{1}{n(n-3)}\Bigl[\mathrm{tr}(\tilde K\tilde L)
        + \frac{1^T\tilde K1\,1^T\tilde L1}{(n-1)(n-2)}
        - \frac{2}{n-2}1^T\tilde K\tilde L1\Bigr].

    The kernel on X is Gaussian, with :math:`\sigma` equal to the median distance divided by
    :math:`\sqrt2` and re-estimated on the remaining features in each round. The kernel on Y is
    linear in the standardised response. For classes it is 1 for two samples of the same class
    and 0 otherwise, whatever the class sizes.

    Notes
    -----
    Both estimators of HSIC are linear in the kernel matrix of X, and dropping feature j
    multiplies that matrix by :math:`e^{(x_{aj}-x_{bj})^2/2\sigma^2}`. A round with s features
    therefore costs s·n²/2 exponentials, and all rounds together about 5·d·n² with ``step=0.1``.
    Memory holds a few n×n matrices. With fewer than four samples the unbiased estimator is
    undefined, so the biased one, :math:`\mathrm{tr}(KHLH)/(n-1)^2`, is used instead.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import BAHSICSelector
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> BAHSICSelector(2).fit(X, X[:, 1] * X[:, 3] > 0).get_support(indices=True)
    array([1, 3])
    """

    def _importance(self, Z: np.ndarray, target: Target) -> Callable[[np.ndarray], np.ndarray]:
        Y = target.columns()
        W = hsic_weights(Y @ Y.T)
        return lambda remaining: -hsic_without_each(np.ascontiguousarray(Z[:, remaining]), W)


def hsic_weights(L: np.ndarray) -> np.ndarray:
    r"""Return weights W such that :math:`\mathrm{HSIC}(K, L) = \sum_{ab} W_{ab} K_{ab}`.

    L (n, n) is the kernel matrix of the response. W belongs to the unbiased estimator and has a
    zero diagonal; for n < 4 it belongs to the biased one.
    """
    n = L.shape[0]
    if n < 4:
        H = np.eye(n) - 1.0 / n
        return np.asarray(H @ L @ H / (n - 1) ** 2)
    L = L - np.diag(np.diag(L))
    rows = L.sum(axis=1)
    W = L + rows.sum() / ((n - 1) * (n - 2)) - (rows[:, None] + rows) / (n - 2)
    np.fill_diagonal(W, 0.0)
    return np.asarray(W / (n * (n - 3)))


def hsic_without_each(Z: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the HSIC (s,) of the response with all columns but j, for each column j.

    Z (n, s) holds the columns in C order, and W (n, n) the weights of the estimator. The constant
    contribution of the kernel's diagonal is omitted.
    """
    n, s = Z.shape
    condensed = pdist(Z, "sqeuclidean")
    D2 = squareform(condensed)
    # If more than half of the pairs coincide, use the median of the other distances.
    median = np.median(np.sqrt(condensed)) or np.median(np.sqrt(condensed[condensed > 0]))
    gamma = float(1.0 / median**2)
    hsic, width = np.zeros(s), max(1, _BLOCK_ENTRIES // n)
    for block in (slice(start, start + width) for start in range(0, s, width)):
        for a in range(n - 1):
            E = Z[a + 1 :, block] - Z[a, block]
            E *= E
            # Combine the exponents before taking the exponential: for an outlying sample the
            # kernel underflows to 0 and its correction overflows.
            E -= D2[a, a + 1 :, None]
            E *= gamma
            np.exp(E, out=E)
            hsic[block] += W[a, a + 1 :] @ E
    return 2 * hsic
