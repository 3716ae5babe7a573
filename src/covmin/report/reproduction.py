"""Python code that repeats a fit."""

from itertools import takewhile
from pathlib import PurePath
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from covmin import kernels
from covmin.core.kernels import Configurable

_READERS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".feather": "feather"}
# Parameters that do not affect the result.
_LEFT_OUT = {"long_run", "verbose"}
# Longer than any repr of an estimator, which would otherwise be abbreviated.
_WHOLE = 10**6


def reproduction_code(
    selector: Any, target: str = "y", source: str | None = None, separator: str | None = None
) -> str:
    """Return Python code that fits the same selector.

    Parameters
    ----------
    selector : CCMSelector
    target : str, default="y"
        Column of the response, if the source is a table.
    source : str, optional
        File with the samples.
    separator : str, optional
        Separator of its columns; by default that of its file type.

    Returns
    -------
    code : str

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> print(reproduction_code(CCMSelector(5, random_state=0), "class", "wine.csv"))
    import pandas as pd
    from covmin import CCMSelector
    <BLANKLINE>
    table = pd.read_csv('wine.csv')
    X, y = table.drop(columns=['class']), table['class']
    selector = CCMSelector(n_features_to_select=5, random_state=0)
    selector.fit(X, y)
    X_selected = selector.transform(X)
    """
    lines = [*_imports(selector), ""]
    suffix = PurePath(source or "").suffix.lower()
    if suffix in _READERS:
        separator = separator or ("\t" if suffix == ".tsv" else ",")
        option = "" if separator == "," else f", sep={separator!r}"
        lines = [
            "import pandas as pd",
            *lines,
            f"table = pd.read_{_READERS[suffix]}({source!r}{option})",
            f"X, y = table.drop(columns=[{target!r}]), table[{target!r}]",
        ]
    lines += [
        f"selector = {_construction(selector)}",
        "selector.fit(X, y)",
        "X_selected = selector.transform(X)",
    ]
    return "\n".join(lines)


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
    parameters = selector.get_params(deep=False).items()
    objects = [v for name, v in parameters if name not in _LEFT_OUT and isinstance(v, Configurable)]
    names = [type(item).__name__ for item in (selector, *objects)]
    from_kernels = [name for name in names if name in kernels.__all__]
    lines = [f"from covmin import {', '.join(n for n in names if n not in from_kernels)}"]
    lines += [f"from covmin.kernels import {name}" for name in from_kernels]
    others = set()
    for name, value in selector.get_params(deep=True).items():
        item = type(value) if isinstance(value, BaseEstimator) else value
        if name.startswith(("estimator", "scoring")) and isinstance(item, type | FunctionType):
            parts = takewhile(lambda part: not part.startswith("_"), item.__module__.split("."))
            module = ".".join(parts)  # the public part
            others.add(
                f"from {module} import {item.__name__}"
                if module
                else f"# {item.__name__} is your own"  # defined in the user's session
            )
    return lines + sorted(others)
