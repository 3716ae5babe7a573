"""The HSIC lasso of the package pyHSICLasso, guarded."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from .base import BaselineSelector, Ranked, best_first
from .randomness import global_state_restored
from .target import Target

# pyHSICLasso holds its kernel matrices once in single and once in double precision.
_BYTES_PER_ENTRY = 12


class HSICLassoSelector(BaselineSelector):
    r"""Kernel lasso: :math:`\min_{\beta\ge0}\|\bar L-\sum_j\beta_j\bar K_j\|^2+\lambda|\beta|_1`.

    Yamada et al. (2014), as pyHSICLasso computes it: :math:`\bar K_j` is the centred and
    normalised Gaussian kernel matrix of feature j, :math:`\bar L` that of the response
    (Gaussian, or a delta kernel for classes), and :math:`\lambda` is lowered until m features
    have entered. Features come in the order of their weights. The path often ends with fewer
    than m; the others follow by their marginal dependence
    :math:`\langle\bar K_j,\bar L\rangle`, the normalised HSIC of feature j and y.

    Needs pyHSICLasso: ``pip install "covmin[baselines]"``.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction. None keeps half of them. The path is
        followed up to m, so the whole ranking depends on it; to compare prefixes of one
        ranking, ask for the longest.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" takes continuous numbers as regression, anything else as classes.
    block_size : int, "auto" or None, default="auto"
        None is the exact method, whose memory grows as n²·d. An int B splits the samples at
        random into blocks of B and sets one kernel matrix per block, memory n·B·d (the block
        HSIC lasso of Climente-González et al., 2019); the n mod B samples left over are
        not used. "auto" is exact where that fits in ``max_memory``, and else takes the blocks
        that do.
    n_permutations : int, default=3
        Splits into blocks to average over, each at the cost of the first. Unused without blocks.
    max_memory : int, default=2 * 2**30
        Bytes that "auto" may use.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 the best, no ties.
    scores_ : ndarray of shape (n_features,)
        Weights of the lasso; 0 for features that did not enter.
    support_ : ndarray of bool of shape (n_features,)
        The m features kept.
    n_features_ : int
        Number of features kept.
    n_entered_ : int
        How many of them the lasso itself chose; the rest are there by marginal dependence.

    Notes
    -----
    What is guarded: pyHSICLasso seeds NumPy's global generator (its state is put back), prints
    (silenced), warns about sizes of blocks (silenced), and breaks down on columns with the
    same kernel matrix, such as x and -x (one of them is passed, the others follow by marginal
    dependence). The split into blocks uses its fixed seeds, so results are repeatable.

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
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "max_memory": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        task: str = "auto",
        block_size: int | str | None = "auto",
        n_permutations: int = 3,
        max_memory: int = 2 * 2**30,
    ):
        super().__init__(n_features_to_select, task=task)
        self.block_size = block_size
        self.n_permutations = n_permutations
        self.max_memory = max_memory

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        representative, group = distinct_up_to_sign(Z)
        B = self._block_size(Z.shape[0], representative.size)
        entered, weights, marginal = run_hsic_lasso(
            Z[:, representative], target, m, B, self.n_permutations
        )
        self.n_entered_ = entered.size
        scores = np.zeros(Z.shape[1])
        scores[representative] = weights
        entered = representative[entered]
        rest = np.setdiff1d(best_first(marginal[group]), entered, assume_unique=True)
        return np.concatenate([entered, rest]), scores

    def _block_size(self, n: int, d: int) -> int:
        if self.block_size == "auto":
            return largest_block(n, d, self.n_permutations, self.max_memory)
        return n if self.block_size is None else min(int(self.block_size), n)


def largest_block(n: int, d: int, n_permutations: int, max_memory: int) -> int:
    """Samples per block that fit in memory: n if possible, else the B that wastes few samples.

    Parameters
    ----------
    n : int
        Number of samples.
    d : int
        Number of features.
    n_permutations : int
        Number of splits into blocks.
    max_memory : int
        Bytes allowed.

    Returns
    -------
    B : int
        Among the sizes between half of what fits and what fits, that with the smallest n mod B
        (the larger, of two). Never below 5, whatever the memory: smaller blocks tell nothing.

    Examples
    --------
    >>> from covmin.baselines.hsic_lasso import largest_block
    >>> largest_block(100, 1000, 3, 2**30), largest_block(1000, 1000, 3, 2**30)
    (100, 25)
    """
    if _BYTES_PER_ENTRY * n * n * d <= max_memory:
        return n
    fits = int(max_memory // (_BYTES_PER_ENTRY * n * d * n_permutations))
    fits = min(max(fits, 5), n)
    return min(range(fits, max(fits // 2, 5) - 1, -1), key=lambda B: n % B, default=fits)


def distinct_up_to_sign(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First column of each group of columns that are equal, or opposite, to each other.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, d)
        Standardised columns.

    Returns
    -------
    representative : ndarray of int of shape (n_groups,)
        Sorted positions of the first column of each group.
    group : ndarray of int of shape (d,)
        Group of each column, an index into ``representative``.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.hsic_lasso import distinct_up_to_sign
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
    """Call pyHSICLasso and leave no trace of it.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, d)
        Distinct standardised columns.
    target : Target
        The response.
    m : int
        Number of features asked for.
    B : int
        Samples per block.
    n_permutations : int
        Number of splits into blocks.

    Returns
    -------
    entered : ndarray of int
        At most m columns, in the order of their weights.
    weights : ndarray of shape (d,)
        Weights of the lasso, 0 outside ``entered``.
    marginal : ndarray of shape (d,)
        Normalised HSIC of each column with the response.
    """
    lasso = _import_hsic_lasso()()
    d = Z.shape[1]
    with _contained():
        lasso.input(Z, target.values)
        run = lasso.classification if target.is_classes else lasso.regression
        failure = None
        try:
            # It follows its path one feature further than asked, so it cannot be asked for all.
            run(min(m, d - 1), B=B, M=n_permutations, max_neighbors=0, n_jobs=1)
        except (ArithmeticError, AttributeError, IndexError, ValueError) as error:
            failure = error
    if lasso.Xty is None:
        raise RuntimeError("pyHSICLasso failed to compute its kernel matrices.") from failure
    marginal = np.ravel(lasso.Xty).astype(np.float64)
    weights = np.zeros(d)
    entered = np.array([] if lasso.A is None else lasso.A, dtype=np.int64)
    if failure is not None or not np.isfinite(lasso.beta).all():
        _warn_broken_path(failure)
        return entered[:0], weights, marginal
    weights[entered] = np.ravel(lasso.beta)[entered]
    return entered, weights, marginal


def _warn_broken_path(failure: Exception | None) -> None:
    cause = "its weights are not finite" if failure is None else f"it raised {failure!r}"
    warnings.warn(
        f"The path of pyHSICLasso broke down ({cause}); features are ranked by their marginal "
        "dependence on y alone. Columns that are almost copies of each other are the usual "
        "cause: remove them, or ask for fewer features.",
        ConvergenceWarning,
        stacklevel=2,
    )


def _import_hsic_lasso() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyHSICLasso import HSICLasso
    except ImportError as error:
        raise ImportError(
            "HSICLassoSelector needs the package pyHSICLasso, which is not installed; "
            'install it with: pip install "covmin[baselines]"'
        ) from error
    return HSICLasso


@contextmanager
def _contained() -> Iterator[None]:
    """Silence output and warnings, and put NumPy's global random state back."""
    with (
        global_state_restored(),
        redirect_stdout(io.StringIO()),
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        yield
