"""Parameters as plain values, to be written down."""

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Lists in place of arrays, whose repr needs imports and leaves out their middle.

    >>> plain({"a": np.arange(2), "b": np.float64(0.5)})
    {'a': [0, 1], 'b': 0.5}
    """
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return np.asarray(value).tolist() if hasattr(value, "__array__") else value
