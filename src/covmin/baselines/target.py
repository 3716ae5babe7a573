"""The response, read once: class codes or standardised numbers."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.multiclass import type_of_target


@dataclass(frozen=True)
class Target:
    """A response ready for any baseline.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        Class codes 0..k-1 (int), or the response with mean 0 and variance 1 (float).
    n_classes : int
        Number of classes k; 0 for a regression response.

    Examples
    --------
    >>> from covmin.baselines.target import Target
    >>> import numpy as np
    >>> Target(np.array([0, 1, 1]), n_classes=2).columns()
    array([[1., 0.],
           [0., 1.],
           [0., 1.]])
    """

    values: np.ndarray
    n_classes: int

    @property
    def is_classes(self) -> bool:
        """Whether the response is a class label."""
        return self.n_classes > 0

    def columns(self) -> np.ndarray:
        """Response as columns Y: one per class (0 or 1), or the one standardised column.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_classes) or (n_samples, 1)
            ``Y Yᵀ`` is the delta kernel of the classes, or the linear kernel of the numbers.
        """
        if self.is_classes:
            return one_hot(self.values, self.n_classes, np.float64)
        return self.values[:, None]


def one_hot(codes: np.ndarray, n_values: int, dtype: type) -> np.ndarray:
    """Indicators of the values 0..n_values-1.

    Parameters
    ----------
    codes : ndarray of int
        Values, of any shape.
    n_values : int
        Number of values there can be.
    dtype : type
        Type of the indicators.

    Returns
    -------
    indicators : ndarray of shape (*codes.shape, n_values)

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.target import one_hot
    >>> one_hot(np.array([2, 0]), 3, int)
    array([[0, 0, 1],
           [1, 0, 0]])
    """
    indicators: np.ndarray = np.eye(n_values, dtype=dtype)[codes]
    return indicators


def encode_target(y: np.ndarray, task: str = "auto") -> Target:
    """Read a response as classes or as numbers.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class labels of any type, or numbers.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" asks :func:`sklearn.utils.multiclass.type_of_target`: numbers with a fractional
        part are a regression response, everything else (strings, booleans, whole numbers)
        is a class label.

    Returns
    -------
    target : Target

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.target import encode_target
    >>> encode_target(np.array(["no", "yes", "no"]))
    Target(values=array([0, 1, 0]), n_classes=2)
    >>> encode_target(np.array([1, 2, 3]), task="regression").n_classes
    0
    """
    kind = type_of_target(y, input_name="y")
    if kind == "unknown":
        raise ValueError(f"Unknown label type: y has dtype {y.dtype}; pass labels or numbers.")
    if task == "auto":
        task = "regression" if kind == "continuous" else "classification"
    return _numbers(y) if task == "regression" else _classes(y, kind)


def _numbers(y: np.ndarray) -> Target:
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Regression needs a numeric y, got values such as '{y[0]}'; "
            "convert them or use task='classification'."
        ) from error
    spread = np.ptp(values)
    if spread == 0:
        raise ValueError(f"y is constant (every value is {values[0]}): nothing to explain.")
    # Dividing by the range first keeps the squares of tiny or huge responses representable.
    values = (values - values.mean()) / spread
    return Target((values - values.mean()) / values.std(), n_classes=0)


def _classes(y: np.ndarray, kind: str) -> Target:
    if kind == "continuous":
        raise ValueError(
            "Classification needs class labels, but y holds continuous numbers "
            f"(such as {y[0]}); bin them or use task='regression'."
        )
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if labels.size < 2:
        raise ValueError(f"y holds 1 class only ({labels[0]}); classification needs two or more.")
    if counts.max() < 2:
        raise ValueError(
            f"Each of the {labels.size} samples has its own class, so no class can be learned; "
            "if y is a number use task='regression'."
        )
    return Target(codes, n_classes=int(labels.size))
