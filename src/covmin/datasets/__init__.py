"""Data to select features on: synthetic sets with known truth, and the paper's real sets.

The paper is J. Chen, M. Stern, M. J. Wainwright and M. I. Jordan, "Kernel feature selection via
conditional covariance minimization", NeurIPS 2017.

The generators draw the three synthetic sets of the paper and two harder ones, whose noise
features are correlated with the true ones, and one of censored times to an event, with as many
samples and noise features as asked for; the columns that matter come first and are named in the
result.

`load` brings any of the paper's twelve real sets, from a local folder or from its public
source, and checks every copy against a registered checksum.
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
