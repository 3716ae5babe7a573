"""Kernel feature selection by conditional covariance minimisation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from covmin.runtime import __version__

if TYPE_CHECKING:
    from covmin.data.blocks.parquet import open_parquet
    from covmin.evaluation.compare import compare_selectors
    from covmin.inference.dependence import conditional_dependence_test
    from covmin.inference.knockoffs import KnockoffSelector
    from covmin.inference.stability import StabilitySelector
    from covmin.inference.verdicts import VerdictSelector
    from covmin.plan.formulation import Formulation, Fourier
    from covmin.runtime.run import LongRun
    from covmin.selection.anndata import fit_anndata
    from covmin.selection.criterion import conditional_covariance_trace, unexplained_variance
    from covmin.selection.selector import CCMSelector

__all__ = [
    "CCMSelector",
    "Formulation",
    "Fourier",
    "KnockoffSelector",
    "LongRun",
    "StabilitySelector",
    "VerdictSelector",
    "__version__",
    "compare_selectors",
    "conditional_covariance_trace",
    "conditional_dependence_test",
    "fit_anndata",
    "open_parquet",
    "unexplained_variance",
]

_HOMES = {
    "CCMSelector": "selection.selector",
    "Formulation": "plan.formulation",
    "Fourier": "plan.formulation",
    "KnockoffSelector": "inference.knockoffs",
    "LongRun": "runtime.run",
    "StabilitySelector": "inference.stability",
    "VerdictSelector": "inference.verdicts",
    "compare_selectors": "evaluation.compare",
    "conditional_covariance_trace": "selection.criterion",
    "conditional_dependence_test": "inference.dependence",
    "fit_anndata": "selection.anndata",
    "open_parquet": "data.blocks.parquet",
    "unexplained_variance": "selection.criterion",
}
_MODULES = ("datasets", "evaluation", "kernels", "plotting", "report")


def __getattr__(name: str) -> Any:
    # Imported on first use, so that the command line answers --help without scikit-learn.
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
