"""Data sets: synthetic ones whose true features are known, and the real ones of the paper.

The paper is J. Chen, M. Stern, M. J. Wainwright and M. I. Jordan, "Kernel feature selection via
conditional covariance minimization", NeurIPS 2017.

The generators draw the three synthetic sets of the paper, two harder ones whose noise features
are correlated with the true ones, and censored survival times. The numbers of samples and
noise features are parameters. The true features come first, and ``informative`` in the result
lists them.

`load` returns any of the paper's twelve real sets, from a local folder or from its public
source, and verifies every copy against a registered checksum.
"""

from .paper import load
from .registry import list_datasets
from .synthetic import (
    make_additive,
    make_correlated_interaction,
    make_correlated_linear,
    make_shell,
    make_survival,
    make_xor,
)

__all__ = [
    "list_datasets",
    "load",
    "make_additive",
    "make_correlated_interaction",
    "make_correlated_linear",
    "make_shell",
    "make_survival",
    "make_xor",
]
