"""Backward elimination with the Hilbert-Schmidt independence criterion."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.utils._param_validation import Interval, RealNotInt

from .base import BaselineSelector, Ranked, backward_elimination
from .target import Target

# Numbers in the work array of a block of features: half a MiB, so that it stays in cache.
_BLOCK_ENTRIES = 2**16


class BAHSICSelector(BaselineSelector):
    r"""Drop the features j whose removal leaves :math:`\mathrm{HSIC}(X_{S\setminus j},Y)` largest.

    Song et al. (2007, 2012). With :math:`\tilde K,\tilde L` the kernel matrices of X and Y with
    their diagonals set to zero, the unbiased estimator is

    .. math:: \frac{1}{n(n-3)}\Bigl[\mathrm{tr}(\tilde K\tilde L)
        + \frac{1^T\tilde K1\,1^T\tilde L1}{(n-1)(n-2)}
        - \frac{2}{n-2}1^T\tilde K\tilde L1\Bigr].

    The kernel of X is Gaussian with :math:`\sigma` the median distance over
    :math:`\sqrt2`, estimated anew on the features that remain in each round; that of Y is
    linear on the standardised response, or on the class indicators: one for a pair of the
    same class, zero otherwise, without a weight for the size of the class.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction. None keeps half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" takes continuous numbers as regression, anything else as classes.
    step : int or float in (0, 1), default=0.1
        Features dropped per round: a number, or a fraction of those that remain (at least one).

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 the best: the reverse of the order of elimination.
    support_ : ndarray of bool of shape (n_features,)
        The m features kept.
    n_features_ : int
        Number of features kept.

    Notes
    -----
    Both estimators of HSIC are linear in the kernel matrix of X, and leaving out feature j
    multiplies that matrix by :math:`e^{(x_{aj}-x_{bj})^2/2\sigma^2}`. A round with s features
    therefore takes s·n²/2 exponentials, all rounds about 5·d·n² at step 0.1, and the memory
    is that of a few n×n matrices. With fewer than four samples, where the unbiased estimator
    is undefined, the biased one :math:`\mathrm{tr}(KHLH)/(n-1)^2` takes its place.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import BAHSICSelector
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> BAHSICSelector(2).fit(X, X[:, 1] * X[:, 3] > 0).get_support(indices=True)
    array([1, 3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaselineSelector._parameter_constraints,
        "step": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
        ],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        task: str = "auto",
        step: int | float = 0.1,
    ):
        super().__init__(n_features_to_select, task=task)
        self.step = step

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        Y = target.columns()
        W = hsic_weights(Y @ Y.T)

        def importance(remaining: np.ndarray) -> np.ndarray:
            return -hsic_without_each(np.ascontiguousarray(Z[:, remaining]), W)

        return backward_elimination(Z.shape[1], self.step, importance), None


def hsic_weights(L: np.ndarray) -> np.ndarray:
    r"""Weights W with :math:`\mathrm{HSIC}(K, L) = \sum_{ab} W_{ab} K_{ab}`.

    Parameters
    ----------
    L : ndarray of shape (n_samples, n_samples)
        Kernel matrix of the response.

    Returns
    -------
    W : ndarray of shape (n_samples, n_samples)
        Those of the unbiased estimator (with a zero diagonal), or for n < 4 of the biased one.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.bahsic import hsic_weights
    >>> y = np.array([-1.0, 1.0, -1.0, 1.0])
    >>> round(float((hsic_weights(np.outer(y, y)) * np.outer(y, y)).sum()), 6)
    2.666667
    """
    n = L.shape[0]
    W: np.ndarray
    if n < 4:
        H = np.eye(n) - 1.0 / n
        W = H @ L @ H / (n - 1) ** 2
        return W
    L = L - np.diag(np.diag(L))
    rows = L.sum(axis=1)
    W = L + rows.sum() / ((n - 1) * (n - 2)) - (rows[:, None] + rows) / (n - 2)
    W /= n * (n - 3)
    np.fill_diagonal(W, 0.0)
    return W


def hsic_without_each(Z: np.ndarray, W: np.ndarray) -> np.ndarray:
    """HSIC of the response with all columns but one, for each column left out in turn.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, s)
        The columns that remain, row after row in memory.
    W : ndarray of shape (n_samples, n_samples)
        Weights of the estimator, see :func:`hsic_weights`.

    Returns
    -------
    hsic : ndarray of shape (s,)
        Up to the diagonal of the kernel, which is the same whichever column is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.bahsic import hsic_weights, hsic_without_each
    >>> y = np.array([-1.0, 1.0, -1.0, 1.0])
    >>> Z = np.column_stack([y, [-1.0, -1.0, 1.0, 1.0]])
    >>> without = hsic_without_each(Z, hsic_weights(np.outer(y, y)))
    >>> bool(without[0] < without[1])
    True
    """
    n, s = Z.shape
    condensed = pdist(Z, "sqeuclidean")
    D2 = squareform(condensed)
    gamma = inverse_squared_bandwidth(condensed)
    width = max(1, _BLOCK_ENTRIES // n)
    blocks = (Z[:, start : start + width] for start in range(0, s, width))
    return np.concatenate([_without_each_of_block(block, D2, W, gamma) for block in blocks])


def _without_each_of_block(
    Z: np.ndarray, D2: np.ndarray, W: np.ndarray, gamma: float
) -> np.ndarray:
    hsic = np.zeros(Z.shape[1])
    for a in range(Z.shape[0] - 1):
        E = Z[a + 1 :] - Z[a]
        E *= E
        # The exponent of the product, not the product of exponentials: for an outlying sample
        # the kernel underflows to 0 and its correction overflows.
        E -= D2[a, a + 1 :, None]
        E *= gamma
        np.exp(E, out=E)
        hsic += W[a, a + 1 :] @ E
    return 2 * hsic


def inverse_squared_bandwidth(squared_distances: np.ndarray) -> float:
    r"""Return :math:`1/(2\sigma^2)` for :math:`\sigma` the median distance over :math:`\sqrt2`.

    Parameters
    ----------
    squared_distances : ndarray of shape (n_pairs,)
        Squared distance of every pair of samples.

    Returns
    -------
    gamma : float
        One over the squared median. Where more than half of the pairs coincide, the median of
        the others is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.bahsic import inverse_squared_bandwidth
    >>> inverse_squared_bandwidth(np.array([1.0, 4.0, 9.0]))
    0.25
    """
    median = np.median(np.sqrt(squared_distances))
    if median == 0:
        median = np.median(np.sqrt(squared_distances[squared_distances > 0]))
    return float(1.0 / median**2)
