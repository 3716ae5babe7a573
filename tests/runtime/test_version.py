"""Pickles know which version made them."""

import pickle

import pytest

from covmin import CCMSelector, KnockoffSelector, StabilitySelector


@pytest.mark.parametrize(
    "selector",
    [CCMSelector(2), KnockoffSelector(), StabilitySelector()],
    ids=lambda selector: type(selector).__name__,
)
def test_a_pickle_of_another_version_says_so(selector, monkeypatch):
    kept = pickle.dumps(selector)
    assert pickle.loads(kept).get_params().keys() == selector.get_params().keys()
    monkeypatch.setattr("covmin.runtime.compat.__version__", "9.9")
    with pytest.warns(UserWarning, match=r"pickled by covmin .* loaded by 9\.9.*Refit it"):
        again = pickle.loads(kept)
    assert not hasattr(again, "_covmin_version")


def test_a_pickle_without_a_version_says_so():
    state = CCMSelector(2).__getstate__()
    del state["_covmin_version"]
    with pytest.warns(UserWarning, match="an unknown version"):
        CCMSelector().__setstate__(state)
