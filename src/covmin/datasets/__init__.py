"""Data to select features on: synthetic sets with known truth, and the paper's real sets.

The generators draw the three synthetic sets of the paper and two harder ones, whose noise
features are correlated with the true ones, with as many samples and noise features as asked
for; the columns that matter come first and are named in the result.

>>> from covmin.datasets import make_xor
>>> xor = make_xor(100, random_state=0)
>>> xor.data.shape, xor.informative.tolist()
((100, 10), [0, 1, 2])

`load` brings any of the paper's twelve real sets, from a local folder or from its public
source, and checks every copy against a registered checksum.

>>> from covmin.datasets import load
>>> wine = load("wine")
>>> wine.data.shape, wine.target_names.tolist()
((178, 13), ['1', '2', '3'])
"""

from ._paper import load
from ._registry import list_datasets
from ._synthetic import (
    make_additive,
    make_correlated_interaction,
    make_correlated_linear,
    make_shell,
    make_xor,
)

__all__ = [
    "list_datasets",
    "load",
    "make_additive",
    "make_correlated_interaction",
    "make_correlated_linear",
    "make_shell",
    "make_xor",
]
