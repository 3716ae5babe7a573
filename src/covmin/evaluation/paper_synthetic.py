"""The paper's experiment on synthetic data: who finds the true features, and from how few rows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from covmin.datasets import make_additive, make_shell, make_xor

from .ranks import MedianRankResult, median_rank

__all__ = ["BASELINES", "METHODS", "TASKS", "VARIANTS", "run_synthetic"]

TASKS: Mapping[str, Any] = MappingProxyType(
    {"binary": make_shell, "xor": make_xor, "regression": make_additive}
)
BASELINES = ("pearson", "anova", "mrmr", "bahsic", "hsic-lasso", "rfe", "mi", "extra-trees")
METHODS = ("ccm", "ccm-gaussian", "ccm-single", *BASELINES)
VARIANTS = (
    *(f"ccm-soft-{value}" for value in ("0.001", "0.01", "0.1")),
    *(f"ccm-free-{value}" for value in (1, 10, 100)),
    *(f"ccm-fourier-{value}" for value in (50, 100, 200, 400)),
)

_FULL: Mapping[str, Any] = MappingProxyType(
    {"n_samples": tuple(range(10, 101, 10)), "n_repeats": 100}
)
_QUICK: Mapping[str, Any] = MappingProxyType({"n_samples": (20, 40, 60, 100), "n_repeats": 10})
# Those that take a second or more for a draw of ten features wait for the full run.
_SLOW = ("extra-trees", "ccm-fourier-400")


def run_synthetic(
    log: str | os.PathLike[str] | None = None,
    *,
    quick: bool = False,
    n_jobs: int | None = None,
    progress: bool = False,
    **overrides: Any,
) -> MedianRankResult:
    """Median rank of the true features on the paper's three tasks, for all methods and variants.

    Parameters
    ----------
    log : path-like, optional
        File to keep finished work in, and to take it up from.
    quick : bool, default=False
        Ten draws of four sizes, without the slowest methods, instead of a hundred of ten.
    n_jobs : int, optional
        Processes.
    progress : bool, default=False
        Whether to show a bar.
    **overrides
        ``n_samples``, ``n_repeats``, ``selectors``, ``random_state``, ``run`` of
        :func:`~covmin.evaluation.median_rank`.

    Returns
    -------
    result : MedianRankResult

    Examples
    --------
    >>> from covmin.evaluation.paper_synthetic import run_synthetic
    >>> result = run_synthetic(n_samples=[20], n_repeats=1, selectors=["pearson"])
    >>> result.frame.task.tolist()
    ['binary', 'xor', 'regression']
    """
    names = (*METHODS, *VARIANTS)
    selectors = [name for name in names if not (quick and name in _SLOW)]
    settings = {"selectors": selectors, **(_QUICK if quick else _FULL), **overrides}
    return median_rank(TASKS, **settings, n_jobs=n_jobs, log=log, progress=progress)
