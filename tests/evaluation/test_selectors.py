"""Selectors by name, and the order they give."""

import pytest

from covmin.datasets import make_shell
from covmin.evaluation import compare_selectors, named_selectors
from covmin.evaluation.curves import default_sizes
from covmin.evaluation.selectors import feature_order


@pytest.mark.parametrize("name", named_selectors())
def test_every_name_ranks_every_feature(name):
    X, y = make_shell(30, random_state=0, return_X_y=True)
    selector = named_selectors()[name](4, random_state=0)
    order = feature_order(selector.fit(X, y))
    assert sorted(order) == list(range(10))


def test_sizes():
    assert default_sizes(3) == [1, 2, 3]
    assert default_sizes(101) == list(range(5, 101, 5))


def test_unknown_selector(table):
    with pytest.raises(ValueError, match=r"'ccn'.*Known names: ccm"):
        compare_selectors(*table, ["ccn"])


def test_selector_without_order():
    with pytest.raises(TypeError, match="ranking_"):
        feature_order(object())
