"""What the top of the package offers."""

from __future__ import annotations

import subprocess
import sys

import covmin
from covmin.evaluation import compare_selectors

HEAVY = {"pandas", "matplotlib", "jinja2", "tqdm", "polars"}


def test_every_name_is_there():
    for name in covmin.__all__:
        assert getattr(covmin, name) is not None
    assert set(covmin.__all__) <= set(dir(covmin))
    assert covmin.compare_selectors is compare_selectors


def test_optional_libraries_are_loaded_when_they_are_needed():
    code = f"""
import sys
import numpy as np
import covmin
assert not {HEAVY} & set(sys.modules), sys.modules.keys()
assert "sklearn" not in sys.modules
X = np.random.default_rng(0).standard_normal((40, 3))
covmin.CCMSelector(1).fit(X, X[:, 0])
# scikit-learn loads pandas itself, where it is there.
found = {HEAVY - {"pandas"}} & set(sys.modules)
assert not found, found
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
