"""Build pandas or polars frames; the libraries are imported only when needed."""

from collections.abc import Mapping
from typing import Any


def require_pandas() -> Any:
    """Return the pandas module, or raise an error that says how to install it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            'Results as a frame require pandas: pip install pandas, or "covmin[cli]".'
        ) from error
    return pandas


def as_frame(columns: Mapping[str, Any], library: str = "pandas") -> Any:
    """Return named columns as a pandas or polars data frame."""
    if library == "polars":
        import polars

        return polars.DataFrame(dict(columns))
    return require_pandas().DataFrame(dict(columns))
