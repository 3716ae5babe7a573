"""Synthetic data sets whose true features are known.

The generators draw the three synthetic sets of J. Chen, M. Stern, M. J. Wainwright and
M. I. Jordan, "Kernel feature selection via conditional covariance minimization", NeurIPS 2017;
two harder ones whose noise features are correlated with the true ones; and censored survival
times. The numbers of samples and noise features are parameters. The true features come first, and
``informative`` in the result lists them.
"""

from .synthetic import (
    make_additive,
    make_correlated_interaction,
    make_correlated_linear,
    make_shell,
    make_survival,
    make_xor,
)

__all__ = [
    "make_additive",
    "make_correlated_interaction",
    "make_correlated_linear",
    "make_shell",
    "make_survival",
    "make_xor",
]
