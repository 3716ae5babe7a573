"""Kernel feature selection by conditional covariance minimisation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._versions import __version__

if TYPE_CHECKING:
    from ._sources import open_parquet
    from .criterion import conditional_covariance_trace
    from .dependence import conditional_dependence_test
    from .knockoffs import KnockoffSelector
    from .selector import CCMSelector
    from .stability import StabilitySelector

__all__ = [
    "CCMSelector",
    "KnockoffSelector",
    "StabilitySelector",
    "__version__",
    "conditional_covariance_trace",
    "conditional_dependence_test",
    "open_parquet",
]

_HOMES = {
    "CCMSelector": "selector",
    "KnockoffSelector": "knockoffs",
    "StabilitySelector": "stability",
    "conditional_covariance_trace": "criterion",
    "conditional_dependence_test": "dependence",
    "open_parquet": "_sources",
}


def __getattr__(name: str) -> Any:
    # Imported on first use, so that the command line answers --help without scikit-learn.
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
