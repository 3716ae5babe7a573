"""What the documentation shows of results, and what makes these.

To add an experiment, list its module in ``MODULES``. To add a picture, a line to ``PICTURES``; a
sentence that results must bear out, a function to :mod:`experiments.claims`; a table or a number, a
function to :mod:`experiments.numbers`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks import grid as grids
from benchmarks import growth

from experiments import accuracy, pictures
from experiments.paper import figures as paper

MODULES = ("accuracy", "regression", "words", "hard", "migration", "missing", "survival", "truth")
MODULES += ("guarantees",)
STUDIES = {
    study.name: study for name in MODULES for study in import_module(f"experiments.{name}").STUDIES
}

_R, _F = "experiments/results/", "experiments/figures/"
_B = "benchmarks/results/"

# Files that pages include, beside those of the studies.
TEXTS: dict[str, Callable[[], str]] = {
    f"{_B}{name}.md": partial(grids.report, name) for name in ("grid", "grid-processor")
}

_LEAKS = ("paper", "nested", "paper-leaks", "nested-leaks")
_SMALL = (
    "ranking",
    "which-features",
    "how-many",
    "how-sure",
    "weights-path",
    "report",
    "report-top",
)

# What draws a picture of the frames of some results, and these.
PICTURES: dict[str, tuple[Callable[..., Any], list[str]]] = {
    f"{_F}accuracy.png": (accuracy.draw, [f"{_R}accuracy.csv"]),
    f"{_F}other.png": (accuracy.draw, [f"{_R}other.csv"]),
    f"{_F}synthetic.png": (paper.draw_synthetic, [f"{_R}synthetic.csv"]),
    f"{_F}synthetic-variants.png": (paper.draw_synthetic, [f"{_R}synthetic.csv"]),
    **{f"{_F}real-{name}.png": (paper.draw_real, [f"{_R}real.csv"]) for name in _LEAKS},
    "benchmarks/figures/growth.svg": (growth.draw, [f"{_B}growth.csv"]),
    "docs/images/covmin.png": (pictures.first, [f"{_R}xor.csv"]),
    "docs/images/migration.png": (pictures.migration, [f"{_R}migration.csv"]),
    "docs/images/how-long.png": (pictures.how_long, [f"{_B}grid.csv"]),
    # Drawn from a small fit, or from nothing but a formula.
    **{
        f"docs/images/{name}.png": (getattr(pictures, name.replace("-", "_")), [])
        for name in _SMALL
    },
}

# What makes files of results beside the studies: hours on one core, and the files.
RUNS: dict[str, tuple[float, list[str]]] = {
    "experiments.paper synthetic --output experiments": (1.1, [f"{_R}synthetic.csv"]),
    "experiments.paper real --output experiments": (1.4, [f"{_R}real.csv"]),
    "benchmarks.grid": (1.5, [f"{_B}grid.csv"]),
    "benchmarks.grid --processor --no-auto --tasks classes": (0.1, [f"{_B}grid-processor.csv"]),
    "benchmarks.growth": (0.1, [f"{_B}growth.csv"]),
    "benchmarks.step --processor --rows 50000": (0.1, [f"{_B}step.csv"]),
    "benchmarks.large": (0.1, [f"{_B}large.csv"]),
    "benchmarks.gpu": (0.1, [f"{_B}gpu.csv", f"{_B}gpu-fits.csv"]),  # needs a GPU
}
# Tables of programs that are only in the history, last in commit 460e0f5.
OLDER = {f"{_R}pairs.md", f"{_R}ridge.md", f"{_B}rivals.md"}
