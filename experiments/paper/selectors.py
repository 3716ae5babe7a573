"""Selectors that only the paper's experiments compare with: BAHSIC, the HSIC lasso, variants."""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stdout
from functools import partial

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning

from covmin import CCMSelector, Formulation, Fourier
from covmin.evaluation.baselines import Question, backward_elimination, baseline, indicators
from covmin.evaluation.selectors import Make, named_selectors

# Numbers in the work array of a block of features: 0.5 MiB, so that it stays in cache.
_BLOCK_ENTRIES = 2**16


def bahsic(Z: np.ndarray, y: np.ndarray, question: Question, step: float = 0.1) -> np.ndarray:
    """Backward elimination of the features whose removal leaves HSIC(X, Y) largest.

    Song et al. (2007, 2012), with the unbiased estimator (below four samples the biased one), a
    Gaussian kernel on the remaining features whose σ is their median distance over √2, and on the
    response a linear kernel: 1 for two samples of the same class.
    """
    Y = indicators(y, question)
    W = hsic_weights(Y @ Y.T)
    return backward_elimination(
        lambda remaining: -hsic_without_each(np.ascontiguousarray(Z[:, remaining]), W),
        Z.shape[1],
        step,
    )


def hsic_weights(L: np.ndarray) -> np.ndarray:
    """Return weights W (n, n) with HSIC(K, L) = Σ W∘K, for the kernel matrix L of the response."""
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
    """Return the HSIC (s,) of the response with all columns of Z (n, s) but j, for each j.

    HSIC is linear in the kernel matrix, and dropping column j multiplies that matrix by
    exp((x_aj − x_bj)² / 2σ²). The constant contribution of its diagonal is omitted.
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
            # Combine the exponents before taking the exponential: for an outlying sample the
            # kernel underflows to 0 and its correction overflows.
            E = (Z[a + 1 :, block] - Z[a, block]) ** 2 - D2[a, a + 1 :, None]
            hsic[block] += W[a, a + 1 :] @ np.exp(gamma * E)
    return 2 * hsic


def hsic_lasso(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Weights of the kernel lasso of Yamada et al. (2014), computed by pyHSICLasso.

    The path often ends with fewer features than asked for; the others follow by their marginal
    dependence on the response. pyHSICLasso breaks down on columns with the same kernel matrix,
    such as x and −x: one of them is passed.
    """
    with warnings.catch_warnings(action="ignore"):
        from pyHSICLasso import HSICLasso
    representative, group = distinct_up_to_sign(Z)
    d, lasso = representative.size, HSICLasso()
    failure = None
    with redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        lasso.input(Z[:, representative], y)
        run = lasso.classification if question.classes else lasso.regression
        try:
            # It takes one step more than requested, so it must not be asked for all columns.
            run(min(question.n_features, d - 1), B=len(y), M=1, max_neighbors=0, n_jobs=1)
        except (ArithmeticError, AttributeError, IndexError, ValueError) as error:
            failure = error
    if lasso.Xty is None:
        raise RuntimeError("pyHSICLasso failed to compute its kernel matrices.") from failure
    # Between −1 and 0, below all weights.
    marginal = np.ravel(lasso.Xty).astype(np.float64)
    marginal = marginal / max(np.abs(marginal).max(), 1e-300) - 1.0
    scores = marginal[group]
    if failure is not None or not np.isfinite(lasso.beta).all():
        warnings.warn(
            f"The path of pyHSICLasso broke down ({failure or 'its weights are not finite'}); "
            "features are ranked by their marginal dependence on y alone.",
            ConvergenceWarning,
            stacklevel=2,
        )
        return scores
    entered = np.array([] if lasso.A is None else lasso.A, dtype=np.int64)
    scores[representative[entered]] = 1.0 + np.ravel(lasso.beta)[entered]
    return scores


def distinct_up_to_sign(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first column (n_groups,) of each group of equal columns, and the groups (d,).

    >>> distinct_up_to_sign(np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0], [0.0, 0.0, -2.0]]))
    (array([0, 2]), array([0, 0, 1]))
    """
    rounded = np.round(Z, 9) + 0.0  # adding zero turns -0.0 into 0.0
    leading = rounded[np.argmax(rounded != 0, axis=0), np.arange(Z.shape[1])]
    signed = (rounded * np.sign(leading) + 0.0).T.copy()
    seen: dict[bytes, int] = {}
    group = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in signed])
    return np.unique(group, return_index=True)[1], group


def paper_selectors() -> dict[str, Make]:
    """Return the selectors of the library, those of the paper, and variants of CCM by name.

    ``ccm-single`` is the paper's single solve. The other variants are the paper's grids for its two
    approximations (λ₁ of the soft constraint, λ₂ of the inverse-free form), and ours for the number
    of random Fourier features.
    """
    single = partial(Formulation, "single")
    solve = partial(CCMSelector, formulation="paper")
    return {
        **named_selectors(),
        "ccm-single": solve,
        "bahsic": partial(baseline, bahsic),
        "hsic-lasso": partial(baseline, hsic_lasso),
        **{
            f"ccm-soft-{v}": partial(CCMSelector, formulation=single("soft", lambda1=v))
            for v in (0.001, 0.01, 0.1)
        },
        **{
            f"ccm-free-{v:g}": partial(CCMSelector, formulation=single(inverse="free", lambda2=v))
            for v in (1.0, 10.0, 100.0)
        },
        **{
            f"ccm-fourier-{v}": partial(solve, approximation=Fourier(n_components=v))
            for v in (50, 100, 200, 400)
        },
    }


def budget(name: str, n_features: int, largest: int) -> int:
    """Return the m to ask for: that of the paper for its single solve, else the largest.

    It takes 100 of more than 100 features on real data, otherwise a fifth of them.
    """
    if name != "ccm-single":
        return largest
    return 100 if n_features > 100 else -(-n_features // 5)
