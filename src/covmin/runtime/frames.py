"""Frames of pandas or polars, which are imported only when one is asked for."""

from collections.abc import Mapping
from typing import Any


def require_pandas() -> Any:
    """The module pandas, or an error that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            'Results as a frame need pandas: pip install pandas, or "covmin[cli]".'
        ) from error
    return pandas


def as_frame(columns: Mapping[str, Any], library: str = "pandas") -> Any:
    """Columns by their names as a frame of pandas, or of polars."""
    if library == "polars":
        import polars

        return polars.DataFrame(dict(columns))
    return require_pandas().DataFrame(dict(columns))
