"""Python code that repeats a fit."""

from itertools import takewhile
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from covmin import kernels
from covmin.core.kernels import Configurable

# Parameters that do not affect the result.
_LEFT_OUT = {"long_run", "verbose"}
# Longer than any repr of an estimator, which would otherwise be abbreviated.
_WHOLE = 10**6


def reproduction_code(selector: Any) -> str:
    """Return Python code that fits the same selector to samples X and a response y."""
    made = f"selector = {_construction(selector)}"
    used = ("selector.fit(X, y)", "X_selected = selector.transform(X)")
    return "\n".join([*_imports(selector), "", made, *used])


def _construction(item: Any) -> str:
    """Return the call that creates a selector, or an object passed to it.

    Their own reprs would abbreviate long lists.
    """
    defaults = type(item)().get_params(deep=False)
    changed = [
        f"{name}={_written(value)}"
        for name, value in item.get_params(deep=False).items()
        if name not in _LEFT_OUT and _written(value) != _written(defaults[name])
    ]
    return f"{type(item).__name__}({', '.join(changed)})"


def _written(value: Any) -> str:
    if isinstance(value, Configurable):
        return _construction(value)
    if isinstance(value, BaseEstimator):
        return " ".join(value.__repr__(N_CHAR_MAX=_WHOLE).split())
    return value.__name__ if isinstance(value, FunctionType) else repr(_plain(value))


def _plain(value: Any) -> Any:
    """Return ``value`` with arrays as lists: the repr of an array is abbreviated."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return np.asarray(value).tolist() if hasattr(value, "__array__") else value


def _imports(selector: Any) -> list[str]:
    """Return the lines that import the selector and the objects passed to it."""
    lines = [f"from covmin import {type(selector).__name__}"]
    for name, value in selector.get_params(deep=True).items():
        item = type(value) if isinstance(value, BaseEstimator | Configurable) else value
        is_left_out = name.split("__")[0] in _LEFT_OUT
        if is_left_out or not isinstance(item, type | FunctionType):
            continue
        parts = takewhile(lambda part: not part.startswith("_"), item.__module__.split("."))
        module = ".".join(parts)  # the public part
        if module.startswith("covmin."):
            module = "covmin.kernels" if item.__name__ in kernels.__all__ else "covmin"
        line = f"from {module} import {item.__name__}"
        lines.append(line if module else f"# {item.__name__} is your own")  # of a session
    return sorted(set(lines))
