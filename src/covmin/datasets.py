"""Synthetic data sets whose true features are known.

The generators draw the three synthetic sets of J. Chen, M. Stern, M. J. Wainwright and
M. I. Jordan, "Kernel feature selection via conditional covariance minimization", NeurIPS 2017,
and censored survival times. The true features come first. The noise is drawn last: for a given
seed, the target and the true features do not depend on the number of noise features.
"""

from collections.abc import Callable
from inspect import cleandoc
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import chi2
from sklearn.utils import Bunch

from covmin.remarks import InputError
from covmin.runtime.seeds import seed_of

__all__ = ["make_additive", "make_shell", "make_survival", "make_xor"]

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

# Draws the true features (n_samples, n_true) and the target.
Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def _generator(n_true: int, target: str, task: str) -> Callable[..., Any]:
    """Make a generator of data sets of a function that draws the true features and the target."""

    def decorate(draw: Draw) -> Callable[..., Any]:
        def make(
            n_samples: int,
            n_noise: int = 10 - n_true,
            *,
            random_state: Any = None,
            return_X_y: bool = False,
        ) -> Any:
            for name, value, least in (("n_samples", n_samples, 1), ("n_noise", n_noise, 0)):
                if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                    text = f"{name} must be an integer of at least {least}, got {value!r}."
                    raise InputError(text, name)
            is_generator = isinstance(random_state, np.random.Generator)
            rng = random_state if is_generator else np.random.default_rng(seed_of(random_state))
            X, y = draw(int(n_samples), rng)
            data = np.hstack([X, rng.standard_normal((int(n_samples), int(n_noise)))])
            if return_X_y:
                return data, y
            names = [f"x{j}" for j in range(data.shape[1])]
            true = np.arange(n_true)
            return Bunch(data=data, target=y, feature_names=names, informative=true, task=task)

        shared = _SHARED.format(n_true=n_true, n_noise=10 - n_true, target=target)
        summary, examples = cleandoc(draw.__doc__ or "").split("Examples\n", 1)
        make.__doc__ = f"{summary}{shared}\n\nExamples\n{examples}"
        make.__name__, make.__qualname__ = draw.__name__, draw.__qualname__
        return make

    return decorate


@_generator(4, "−1 and +1", "classification")
def make_shell(n_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
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
    y = 2 * rng.integers(2, size=n_samples) - 1
    X = rng.standard_normal((n_samples, 4))
    # Only the length of a normal vector depends on the condition: its square is χ²(4), truncated.
    low, high = chi2.cdf((9.0, 16.0), df=4)
    squared_radius = chi2.ppf(rng.uniform(low, high, n_samples), df=4)
    on_shell = y == 1
    # Rounding in the inverse can overstep the edge of the shell by one unit in the last place.
    radius = np.sqrt(np.clip(squared_radius[on_shell], 9.0, 16.0))
    X[on_shell] *= (radius / np.linalg.norm(X[on_shell], axis=1))[:, None]
    return X, y


@_generator(3, "0…3", "classification")
def make_xor(n_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
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
    y = rng.integers(4, size=n_samples)
    v3 = 2 * rng.integers(2, size=n_samples) - 1
    v1, v2 = (2 * (y // 2) - 1) * v3, (2 * (y % 2) - 1) * v3
    corners = np.column_stack([v1, v2, v3])
    X = corners + np.sqrt(0.5) * rng.standard_normal((n_samples, 3))
    return X, y


@_generator(4, "floats", "regression")
def make_additive(n_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Additive nonlinear regression: ``Y = −2 sin(2 X1) + max(X2, 0) + X3 + exp(−X4) + ε``.

    All features and ε are independent and standard normal.

    Examples
    --------
    >>> from covmin.datasets import make_additive
    >>> additive = make_additive(50, n_noise=2, random_state=0)
    >>> additive.data.shape, additive.target.shape, additive.task
    ((50, 6), (50,), 'regression')
    """
    X = rng.standard_normal((n_samples, 4))
    epsilon = rng.standard_normal(n_samples)
    y = -2 * np.sin(2 * X[:, 0]) + np.maximum(X[:, 1], 0) + X[:, 2] + np.exp(-X[:, 3]) + epsilon
    return X, y


@_generator(3, "records of ``event`` (bool) and ``time`` (float)", "survival")
def make_survival(n_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
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
    X = rng.standard_normal((n_samples, 3))
    until_event, watched = rng.exponential(size=(2, n_samples))
    until_event /= np.exp(X[:, 0] + X[:, 1] * X[:, 2])
    y = np.empty(n_samples, dtype=[("event", "?"), ("time", "f8")])
    y["event"], y["time"] = until_event <= watched, np.minimum(until_event, watched)
    return X, y
