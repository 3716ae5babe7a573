"""Kernel feature selection by conditional covariance minimisation."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._sources import open_parquet
    from .criterion import conditional_covariance_trace
    from .selector import CCMSelector

__version__ = "0.1.0.dev0"

__all__ = ["CCMSelector", "__version__", "conditional_covariance_trace", "open_parquet"]


def __getattr__(name: str) -> Any:
    # Imported on first use, so that the command line answers --help without scikit-learn.
    if name == "CCMSelector":
        from .selector import CCMSelector

        return CCMSelector
    if name == "conditional_covariance_trace":
        from .criterion import conditional_covariance_trace

        return conditional_covariance_trace
    if name == "open_parquet":
        from ._sources import open_parquet

        return open_parquet
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
