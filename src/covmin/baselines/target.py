"""The response, read once: class codes or standardised numbers."""

from dataclasses import dataclass

import numpy as np

from covmin.data.responses import encode_response


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
    """Read a response as classes or as numbers, as CCM does.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class labels of any type, or numbers.
    task : {"auto", "classification", "regression"}, default="auto"

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
    response = encode_response(y, task)
    if response.classes is None or response.labels is None:
        return Target(response.Y[:, 0], n_classes=0)
    return Target(response.labels, n_classes=int(response.classes.size))
