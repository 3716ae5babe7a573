"""The order of the gallery: what a newcomer should see comes first."""

from __future__ import annotations

__all__ = ["order"]

_FIRST = (
    "interactions",
    "wine_pipeline",
    "number_of_features",
    "regression",
    "path",
    "compare_selectors",
    "digits",
    "wide_data",
    "mixed_kernel",
    "groups",
    "categorical",
    "given",
    "substitutes",
    "sample_weights",
    "response_kernel",
    "survival",
    "stability",
    "knockoffs",
    "verdicts",
    "dependence_test",
    "report",
    "formulations",
)


def order(filename: str) -> tuple[int, str]:
    """Key of an example; those not named come last, by name."""
    name = filename.removeprefix("plot_").removesuffix(".py")
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)
