"""Code to paste that repeats a fit."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from covmin.runtime.parameters import plain

__all__ = ["reproduction_code"]

_READERS = {
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".parquet": "read_parquet",
    ".feather": "read_feather",
}
# What changes no result, or is of no use to others.
_LEFT_OUT = {"callback", "checkpoint", "verbose"}


def reproduction_code(
    selector: Any,
    target: str = "y",
    source: str | None = None,
    separator: str | None = None,
) -> str:
    """Lines of Python that fit the same selector.

    Parameters
    ----------
    selector : CCMSelector
    target : str, default="y"
        Column of the response, where the source is a table.
    source : str, optional
        File the samples came from.
    separator : str, optional
        What separates its columns; by default what its name says.

    Returns
    -------
    str

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
    lines = ["from covmin import CCMSelector", ""]
    if source and _suffix(source) in _READERS:
        lines = [
            "import pandas as pd",
            *lines,
            f"table = {_reading(source, separator)}",
            f"X, y = table.drop(columns=[{target!r}]), table[{target!r}]",
        ]
    return "\n".join(
        [
            *lines,
            f"selector = {_construction(selector)}",
            "selector.fit(X, y)",
            "X_selected = selector.transform(X)",
        ]
    )


def _suffix(source: str) -> str:
    return PurePath(source).suffix.lower()


def _reading(source: str, separator: str | None) -> str:
    if separator is None:
        separator = "\t" if _suffix(source) == ".tsv" else ","
    option = "" if separator == "," else f", sep={separator!r}"
    return f"pd.{_READERS[_suffix(source)]}({source!r}{option})"


def _construction(selector: Any) -> str:
    """The call that makes the selector; its own repr would cut long lists short."""
    defaults = type(selector)().get_params(deep=False)
    changed = [
        f"{name}={plain(value)!r}"
        for name, value in selector.get_params(deep=False).items()
        if name not in _LEFT_OUT and repr(plain(value)) != repr(defaults[name])
    ]
    return f"{type(selector).__name__}({', '.join(changed)})"
