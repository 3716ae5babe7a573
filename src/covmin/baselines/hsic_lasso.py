"""A wrapper of the HSIC lasso in pyHSICLasso that works around its side effects."""

import io
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from covmin.runtime.compat import Interval, StrOptions

from .base import COUNT, BaselineSelector, Ranked, Target, chosen_then_rest

# pyHSICLasso stores its kernel matrices in single and in double precision.
_BYTES_PER_ENTRY = 12


@dataclass(eq=False, repr=False, kw_only=True)
class HSICLassoSelector(BaselineSelector):
    r"""Kernel lasso: :math:`\min_{\beta\ge0}\|\bar L-\sum_j\beta_j\bar K_j\|^2+\lambda|\beta|_1`.

    Yamada et al. (2014), computed by pyHSICLasso. :math:`\bar K_j` is the centred and normalised
    Gaussian kernel matrix of feature j, and :math:`\bar L` that of the response (Gaussian, or a
    delta kernel for classes). The penalty :math:`\lambda` is lowered until m features have
    entered, and these are ranked by their weights. The path often ends with fewer than m
    features; the others are then ranked by their marginal dependence
    :math:`\langle\bar K_j,\bar L\rangle`, the normalised HSIC of feature j and y.

    Requires pyHSICLasso: ``pip install "covmin[baselines]"``.

    Parameters
    ----------
    block_size : int, "auto" or None, default="auto"
        None selects the exact method, whose memory grows as n²·d. An integer B splits the samples
        at random into blocks of B and computes one kernel matrix per block, with memory n·B·d
        (the block HSIC lasso of Climente-González et al., 2019). The n mod B samples left over
        are not used. "auto" is exact if that fits in ``max_memory``, and otherwise uses blocks
        that fit.
    n_permutations : int, default=3
        Number of random splits into blocks to average over. Unused without blocks.
    max_memory : int, default=2 * 2**30
        Memory limit for "auto", in bytes.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Lasso weights; 0 for features that did not enter.
    n_entered_ : int
        Number of features chosen by the lasso itself; the rest are ranked by marginal dependence.

    Notes
    -----
    The lasso path stops at m features, so the whole ranking depends on m. To compare the first
    features of one ranking, request the largest number.

    pyHSICLasso seeds NumPy's global generator, prints, and warns about block sizes. The wrapper
    restores the generator and silences the output. pyHSICLasso also breaks down on columns with
    the same kernel matrix, such as x and -x: one of them is passed, and the others are ranked by
    marginal dependence. The split into blocks uses fixed seeds, so results are repeatable.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import HSICLassoSelector
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> selector = HSICLassoSelector(2).fit(X, X[:, 1] + X[:, 4] ** 2)
    >>> selector.get_support(indices=True)
    array([1, 4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaselineSelector._parameter_constraints,
        "block_size": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "n_permutations": [COUNT],
        "max_memory": [COUNT],
    }

    block_size: int | str | None = "auto"
    n_permutations: int = 3
    max_memory: int = 2 * 2**30

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        representative, group = distinct_up_to_sign(Z)
        n, B = Z.shape[0], self.block_size
        if B == "auto":
            B = largest_block(n, representative.size, self.n_permutations, self.max_memory)
        B = n if B is None else min(int(B), n)
        entered, weights, marginal = run_hsic_lasso(
            Z[:, representative], target, m, B, self.n_permutations
        )
        self.n_entered_ = entered.size
        scores = np.zeros(Z.shape[1])
        scores[representative] = weights
        return chosen_then_rest(representative[entered], marginal[group]), scores


def largest_block(n: int, d: int, n_permutations: int, max_memory: int) -> int:
    """Return the number of samples B per block that fits in memory; all n if possible.

    Among the sizes from half of what fits up to what fits, choose the one that leaves the fewest
    samples over (n mod B), and the larger one of a tie. Blocks of fewer than 5 samples carry no
    information, so B is at least 5, whatever the memory.
    """
    if _BYTES_PER_ENTRY * n * n * d <= max_memory:
        return n
    fits = min(max(max_memory // (_BYTES_PER_ENTRY * n * d * n_permutations), 5), n)
    return min(range(fits, max(fits // 2, 5) - 1, -1), key=lambda B: n % B, default=fits)


def distinct_up_to_sign(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group columns that are equal up to sign.

    Returns the position (n_groups,) of the first column of each group, and the group (d,) of each
    column.

    >>> distinct_up_to_sign(np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0], [0.0, 0.0, -2.0]]))
    (array([0, 2]), array([0, 0, 1]))
    """
    rounded = np.round(Z, 9) + 0.0  # adding zero turns -0.0 into 0.0
    leading = rounded[np.argmax(rounded != 0, axis=0), np.arange(Z.shape[1])]
    signed = (rounded * np.sign(leading) + 0.0).T.copy()
    seen: dict[bytes, int] = {}
    group = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in signed])
    return np.unique(group, return_index=True)[1], group


def run_hsic_lasso(
    Z: np.ndarray, target: Target, m: int, B: int, n_permutations: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Call pyHSICLasso on distinct columns (n, d), in blocks of B samples.

    Returns at most m columns, ordered by weight; the weights (d,), 0 for all other columns; and
    the normalised HSIC (d,) of each column with the response.
    """
    lasso, d = _import_hsic_lasso()(), Z.shape[1]
    failure = None
    with redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        lasso.input(Z, target.values)
        run = lasso.classification if target.is_classes else lasso.regression
        try:
            # It takes one step more than requested, so it must not be asked for all columns.
            run(min(m, d - 1), B=B, M=n_permutations, max_neighbors=0, n_jobs=1)
        except (ArithmeticError, AttributeError, IndexError, ValueError) as error:
            failure = error
    if lasso.Xty is None:
        raise RuntimeError("pyHSICLasso failed to compute its kernel matrices.") from failure
    marginal = np.ravel(lasso.Xty).astype(np.float64)
    weights = np.zeros(d)
    entered = np.array([] if lasso.A is None else lasso.A, dtype=np.int64)
    if failure is not None or not np.isfinite(lasso.beta).all():
        cause = "its weights are not finite" if failure is None else f"it raised {failure!r}"
        warnings.warn(
            f"The path of pyHSICLasso broke down ({cause}); features are ranked by their marginal "
            "dependence on y alone. The usual cause is columns that are nearly identical: remove "
            "them, or select fewer features.",
            ConvergenceWarning,
            stacklevel=2,
        )
        return entered[:0], weights, marginal
    weights[entered] = np.ravel(lasso.beta)[entered]
    return entered, weights, marginal


def _import_hsic_lasso() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyHSICLasso import HSICLasso
    except ImportError as error:
        raise ImportError(
            "HSICLassoSelector requires the package pyHSICLasso, which is not installed. "
            'Install it with: pip install "covmin[baselines]"'
        ) from error
    return HSICLasso
