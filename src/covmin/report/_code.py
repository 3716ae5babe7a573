"""Code to paste that repeats a fit."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from sklearn.base import clone

__all__ = ["reproduction_code"]

_READERS = {
    ".csv": "pd.read_csv({!r})",
    ".tsv": 'pd.read_csv({!r}, sep="\\t")',
    ".parquet": "pd.read_parquet({!r})",
    ".feather": "pd.read_feather({!r})",
}


def reproduction_code(selector: Any, target: str = "y", source: str | None = None) -> str:
    """Lines of Python that fit the same selector.

    Parameters
    ----------
    selector : CCMSelector
    target : str, default="y"
        Column of the response, where the source is a table.
    source : str, optional
        File the samples came from.

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
    bare = clone(selector).set_params(callback=None, verbose=0)
    lines = ["from covmin import CCMSelector", ""]
    reader = _READERS.get(PurePath(source).suffix.lower()) if source else None
    if reader is not None:
        lines = [
            "import pandas as pd",
            *lines,
            f"table = {reader.format(source)}",
            f"X, y = table.drop(columns=[{target!r}]), table[{target!r}]",
        ]
    return "\n".join(
        [
            *lines,
            f"selector = {bare!r}",
            "selector.fit(X, y)",
            "X_selected = selector.transform(X)",
        ]
    )
