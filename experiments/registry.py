"""What the documentation shows of results, and what makes these.

To add an experiment, list its module in ``MODULES``. To add a picture, a line to ``PICTURES``; a
sentence that results must bear out, a function to :mod:`experiments.claims`; a table, a function to
:mod:`experiments.numbers`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from experiments import pictures
from experiments.paper import figures as paper

MODULES = ("paper.studies", "accuracy", "regression", "truth", "known", "stated")
MODULES += ("guarantees", "speed")
STUDIES = {
    study.name: study for name in MODULES for study in import_module(f"experiments.{name}").STUDIES
}

_R, _F = "experiments/results/", "experiments/figures/"
# Drawn from a small fit, or from nothing but a formula.
_SMALL = ("ranking", "which-features", "how-many", "how-sure", "weights-path", "report-top")

# What draws a picture of the frames of some results, and these.
PICTURES: dict[str, tuple[Callable[..., Any], list[str]]] = {
    f"{_F}synthetic.png": (paper.draw_synthetic, [f"{_R}synthetic.csv"]),
    f"{_F}real-paper.png": (paper.draw_real, [f"{_R}real.csv"]),
    f"{_F}real-nested.png": (paper.draw_real, [f"{_R}real.csv"]),
    "docs/images/covmin.png": (pictures.first, [f"{_R}synthetic.csv"]),
    **{
        f"docs/images/{name}.png": (getattr(pictures, name.replace("-", "_")), [])
        for name in _SMALL
    },
}
