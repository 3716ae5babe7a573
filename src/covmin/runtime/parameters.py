"""Convert parameters to plain Python values."""

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return ``value`` with arrays as lists: the repr of an array is abbreviated.

    >>> plain({"a": np.arange(2), "b": np.float64(0.5)})
    {'a': [0, 1], 'b': 0.5}
    """
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return np.asarray(value).tolist() if hasattr(value, "__array__") else value
