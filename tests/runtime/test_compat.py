"""Pickles know their version, and private parts of scikit-learn may be gone."""

from __future__ import annotations

import importlib.util
import pickle
import re
import sys
from pathlib import Path

import pytest
from sklearn.base import clone

from covmin import CCMSelector, KnockoffSelector, StabilitySelector
from covmin.runtime.compat import output_container


@pytest.mark.parametrize(
    "selector",
    [CCMSelector(2), KnockoffSelector(), StabilitySelector()],
    ids=lambda selector: type(selector).__name__,
)
def test_a_pickle_of_another_version_says_so(selector, monkeypatch):
    kept = pickle.dumps(selector)
    assert pickle.loads(kept).get_params().keys() == selector.get_params().keys()
    monkeypatch.setattr("covmin.selection.transform.__version__", "9.9")
    with pytest.warns(UserWarning, match=r"pickled by covmin .* loaded by 9\.9.*Refit it"):
        again = pickle.loads(kept)
    assert not hasattr(again, "_covmin_version")


def test_a_pickle_without_a_version_says_so():
    state = CCMSelector(2).__getstate__()
    del state["_covmin_version"]
    with pytest.warns(UserWarning, match="an unknown version"):
        CCMSelector().__setstate__(state)


def test_without_private_parts_nothing_is_validated(monkeypatch):
    monkeypatch.delattr("sklearn.base._fit_context")
    spec = importlib.util.find_spec("covmin.runtime.compat")
    compat = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compat)
    assert compat.fit_context(prefer_skip_nested_validation=True)(clone) is clone
    assert compat.validate_params({}, prefer_skip_nested_validation=True)(clone) is clone
    assert len(compat.N_JOBS) == 3


def test_without_private_parts_frames_go_out_as_they_came_in(monkeypatch):
    selector = CCMSelector(2).set_output(transform="pandas")
    assert output_container(selector) == "pandas"
    monkeypatch.setitem(sys.modules, "sklearn.utils._set_output", None)
    assert output_container(selector) == "default"


def test_private_modules_are_imported_in_one_place():
    """Elsewhere no release of scikit-learn can break an import."""
    package = Path(importlib.util.find_spec("covmin").origin).parent
    private = re.compile(r"(?:from|import) sklearn(?:\.\w+)*\._")
    found = [p for p in package.rglob("*.py") if private.search(p.read_text(encoding="utf-8"))]
    assert [path.relative_to(package).as_posix() for path in found] == ["runtime/compat.py"]
