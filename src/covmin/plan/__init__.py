"""The rules behind every "auto", and the constants that they use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .formulation import Formulation
    from .plan import Decision, Plan, Request

__all__ = ["Decision", "Formulation", "Plan", "Request"]


def __getattr__(name: str) -> Any:
    # Imported on first use, so that the command line can list formulations without scikit-learn.
    if name in __all__:
        home = "formulation" if name == "Formulation" else "plan"
        return getattr(import_module(f".{home}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
