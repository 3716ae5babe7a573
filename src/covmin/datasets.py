"""Synthetic data sets whose true features are known.

The generators draw the three synthetic sets of J. Chen, M. Stern, M. J. Wainwright and
M. I. Jordan, "Kernel feature selection via conditional covariance minimization", NeurIPS 2017;
two harder ones whose noise features are correlated with the true ones; and censored survival
times. The true features come first. The noise is drawn last: for a given seed, the target and the
true features do not depend on the number of noise features.
"""

from collections.abc import Callable
from inspect import cleandoc
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from scipy.stats import chi2
from sklearn.utils import Bunch

from covmin.remarks import InputError
from covmin.runtime.seeds import generator_of

__all__ = [
    "make_additive",
    "make_correlated_interaction",
    "make_correlated_linear",
    "make_shell",
    "make_survival",
    "make_xor",
]

# The shell of the binary set: 9 ≤ ΣXⱼ² ≤ 16 in four dimensions.
_SHELL = (9.0, 16.0)
# Correlation of each noise feature with a true feature in the harder sets.
_CORRELATION = 0.7

_SHARED = """\
Parameters
----------
n_samples : int
    Number of samples, at least 1.
n_noise : int, default={n_noise}
    Number of noise features after the {n_true} true ones, at least 0.
random_state : int, numpy.random.Generator, numpy.random.RandomState or None, default=None
    Seed or generator; None means 0. NumPy's global generator is neither used nor changed.
return_X_y : bool, default=False
    Return ``(data, target)`` instead of a Bunch.

Returns
-------
result : sklearn.utils.Bunch
    ``data`` (n_samples, {n_true} + n_noise), ``target`` (n_samples,) of {target},
    ``feature_names``, ``informative`` (indices of the true features) and ``task``, which is
    "classification", "regression" or "survival"."""

Make = TypeVar("Make", bound=Callable[..., Any])


def _documented(n_true: int, target: str) -> Callable[[Make], Make]:
    """Insert the parameters and returns that all generators share before the other sections."""
    shared = _SHARED.format(n_true=n_true, n_noise=10 - n_true, target=target)

    def document(make: Make) -> Make:
        about, examples = cleandoc(make.__doc__ or "").split("\n\nExamples\n")
        make.__doc__ = f"{about}\n\n{shared}\n\nExamples\n{examples}"
        return make

    return document


@_documented(4, "−1 and +1")
def make_shell(
    n_samples: int, n_noise: int = 6, *, random_state: Any = None, return_X_y: bool = False
) -> Any:
    """Binary classification: a point cloud (−1) against a spherical shell (+1).

    Given Y = −1, all features are standard normal. Given Y = +1, X1…X4 are standard normal
    conditioned on ``9 ≤ X1² + … + X4² ≤ 16``. The classes are balanced only on average.

    Examples
    --------
    >>> from covmin.datasets import make_shell
    >>> shell = make_shell(200, random_state=0)
    >>> squared_radius = (shell.data[:, shell.informative] ** 2).sum(axis=1)[shell.target == 1]
    >>> bool((squared_radius > 8.999).all() and (squared_radius < 16.001).all())
    True
    """
    n_samples, n_noise, rng = _checked(n_samples, n_noise, random_state)
    y = 2 * rng.integers(2, size=n_samples) - 1
    X = rng.standard_normal((n_samples, 4))
    # Only the length of a normal vector depends on the condition: its square is χ²(4), truncated.
    squared_radius = chi2.ppf(rng.uniform(*chi2.cdf(_SHELL, df=4), n_samples), df=4)
    on_shell = y == 1
    # Rounding in the inverse can overstep the edge of the shell by one unit in the last place.
    radius = np.sqrt(np.clip(squared_radius[on_shell], *_SHELL))
    X[on_shell] *= (radius / np.linalg.norm(X[on_shell], axis=1))[:, None]
    return _result(X, y, n_noise, rng, "classification", return_X_y)


@_documented(3, "0…3")
def make_xor(
    n_samples: int, n_noise: int = 7, *, random_state: Any = None, return_X_y: bool = False
) -> Any:
    """Four classes by a three-way XOR: no single feature carries information about the class.

    The 8 corners v ∈ {−1, 1}³ form 4 classes, ``2 [v1 v3 = 1] + [v2 v3 = 1]``, each a corner and
    its negation. A sample is drawn from ``N(v, 0.5 I)`` around either corner of its class. The
    classes are balanced only on average.

    Examples
    --------
    >>> from covmin.datasets import make_xor
    >>> X, y = make_xor(400, n_noise=0, random_state=0, return_X_y=True)
    >>> X.shape, sorted(set(y.tolist()))
    ((400, 3), [0, 1, 2, 3])
    """
    n_samples, n_noise, rng = _checked(n_samples, n_noise, random_state)
    y = rng.integers(4, size=n_samples)
    v3 = 2 * rng.integers(2, size=n_samples) - 1
    v1, v2 = (2 * (y // 2) - 1) * v3, (2 * (y % 2) - 1) * v3
    corners = np.column_stack([v1, v2, v3])
    X = corners + np.sqrt(0.5) * rng.standard_normal((n_samples, 3))
    return _result(X, y, n_noise, rng, "classification", return_X_y)


@_documented(4, "floats")
def make_additive(
    n_samples: int, n_noise: int = 6, *, random_state: Any = None, return_X_y: bool = False
) -> Any:
    """Additive nonlinear regression: ``Y = −2 sin(2 X1) + max(X2, 0) + X3 + exp(−X4) + ε``.

    All features and ε are independent and standard normal.

    Examples
    --------
    >>> from covmin.datasets import make_additive
    >>> additive = make_additive(50, n_noise=2, random_state=0)
    >>> additive.data.shape, additive.target.shape, additive.task
    ((50, 6), (50,), 'regression')
    """
    n_samples, n_noise, rng = _checked(n_samples, n_noise, random_state)
    X = rng.standard_normal((n_samples, 4))
    epsilon = rng.standard_normal(n_samples)
    y = -2 * np.sin(2 * X[:, 0]) + np.maximum(X[:, 1], 0) + X[:, 2] + np.exp(-X[:, 3]) + epsilon
    return _result(X, y, n_noise, rng, "regression", return_X_y)


@_documented(4, "floats")
def make_correlated_linear(
    n_samples: int, n_noise: int = 6, *, random_state: Any = None, return_X_y: bool = False
) -> Any:
    """Linear regression with correlated noise features: ``Y = X1 − X2 + X3 − X4 + ε``.

    The true features and ε are independent and standard normal. Each noise feature is standard
    normal and has a correlation of 0.7 with one true feature, taken in turn. By itself it is
    informative about Y; given the true features it is not.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.datasets import make_correlated_linear
    >>> linear = make_correlated_linear(5000, n_noise=4, random_state=0)
    >>> np.corrcoef(linear.data.T)[:4, 4:].diagonal().round(1)
    array([0.7, 0.7, 0.7, 0.7])
    """
    n_samples, n_noise, rng = _checked(n_samples, n_noise, random_state)
    X = rng.standard_normal((n_samples, 4))
    y = X @ np.array([1.0, -1.0, 1.0, -1.0]) + rng.standard_normal(n_samples)
    return _result(X, y, n_noise, rng, "regression", return_X_y, correlation=_CORRELATION)


@_documented(3, "−1 and +1")
def make_correlated_interaction(
    n_samples: int, n_noise: int = 7, *, random_state: Any = None, return_X_y: bool = False
) -> Any:
    """Two classes by an interaction, with correlated noise: the sign of ``2 X1 X2 + X3 + ε/2``.

    The true features and ε are independent and standard normal. X1 and X2 carry no information
    about the class one at a time. Each noise feature is standard normal and has a correlation of
    0.7 with one true feature, taken in turn.

    Examples
    --------
    >>> from covmin.datasets import make_correlated_interaction
    >>> X, y = make_correlated_interaction(1000, random_state=0, return_X_y=True)
    >>> X.shape, bool(((X[:, 0] * X[:, 1] > 0) == (y > 0)).mean() > 0.7)
    ((1000, 10), True)
    """
    n_samples, n_noise, rng = _checked(n_samples, n_noise, random_state)
    X = rng.standard_normal((n_samples, 3))
    margin = 2.0 * X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(n_samples)
    y = np.where(margin > 0.0, 1, -1)
    return _result(X, y, n_noise, rng, "classification", return_X_y, correlation=_CORRELATION)


@_documented(3, "records of ``event`` (bool) and ``time`` (float)")
def make_survival(
    n_samples: int, n_noise: int = 7, *, random_state: Any = None, return_X_y: bool = False
) -> Any:
    """Survival times with the hazard ``exp(X1 + X2 X3)``, about half of them censored.

    All features are independent and standard normal. X2 and X3 carry little information one at a
    time. The censoring time is exponential with mean 1 and independent of the features.

    Examples
    --------
    >>> from covmin.datasets import make_survival
    >>> survival = make_survival(1000, random_state=0)
    >>> survival.data.shape, survival.target.dtype.names, survival.task
    ((1000, 10), ('event', 'time'), 'survival')
    >>> bool(0.4 < survival.target["event"].mean() < 0.6)
    True
    """
    n_samples, n_noise, rng = _checked(n_samples, n_noise, random_state)
    X = rng.standard_normal((n_samples, 3))
    until_event, watched = rng.exponential(size=(2, n_samples))
    until_event /= np.exp(X[:, 0] + X[:, 1] * X[:, 2])
    y = np.empty(n_samples, dtype=[("event", "?"), ("time", "f8")])
    y["event"], y["time"] = until_event <= watched, np.minimum(until_event, watched)
    return _result(X, y, n_noise, rng, "survival", return_X_y)


def _result(
    X: np.ndarray,
    y: np.ndarray,
    n_noise: int,
    rng: np.random.Generator,
    task: str,
    return_X_y: bool,
    correlation: float = 0.0,
) -> Any:
    """Append noise to ``X`` (n, m); column j has the given correlation with true column j mod m."""
    n_samples, n_informative = X.shape
    noise = rng.standard_normal((n_samples, n_noise))
    if correlation:
        noise *= np.sqrt(1.0 - correlation**2)
        noise += correlation * X[:, np.arange(n_noise) % n_informative]
    data = np.hstack([X, noise])
    if return_X_y:
        return data, y
    return Bunch(
        data=data,
        target=y,
        feature_names=[f"x{j}" for j in range(data.shape[1])],
        informative=np.arange(n_informative),
        task=task,
    )


def _checked(n_samples: Any, n_noise: Any, random_state: Any) -> tuple[int, int, Any]:
    for name, value, minimum in (("n_samples", n_samples, 1), ("n_noise", n_noise, 0)):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
            text = f"{name} must be an integer of at least {minimum}, got {value!r}."
            raise InputError(text, name)
    return int(n_samples), int(n_noise), generator_of(random_state)
