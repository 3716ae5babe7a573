"""Features that could replace those selected."""

import numpy as np
import pandas as pd

from covmin import CCMSelector


def test_a_copy_is_the_best_substitute():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 8))
    X[:, 5] = X[:, 0] + 0.1 * rng.standard_normal(120)
    X = pd.DataFrame(X, columns=list("abcdefgh"))
    y = np.sin(2 * X["a"]) + X["b"] ** 2
    selector = CCMSelector(2).fit(X, y)
    kept = set(X.columns[selector.support_])
    table = selector.substitutes(X, y, n=2)
    assert len(table) == 4
    assert set(table["feature"]) == kept
    assert not set(table["substitute"]) & kept
    first = table[table["feature"] == ("a" if "a" in kept else "f")].iloc[0]
    assert first["substitute"] == ("f" if "a" in kept else "a")
    assert first["unexplained"] <= first["unexplained_with"] < first["unexplained_without"]


def test_a_copy_of_a_feature_that_acts_only_in_a_product_is_found():
    X = np.random.default_rng(0).standard_normal((200, 6))
    X[:, 4] = X[:, 1] + 0.2 * X[:, 4]
    y = X[:, 0] * X[:, 1]
    found = CCMSelector(2).fit(X, y).substitutes(X, y, n=1)
    assert found.set_index("feature").loc["x1", "substitute"] == "x4"


def test_groups_and_given_columns(xor):
    X, y = xor
    groups = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    table = CCMSelector(1, feature_groups=groups, given=[2]).fit(X, y).substitutes(X, y, n=2)
    assert set(table["feature"]) | set(table["substitute"]) <= set("02345678")
    assert (table["unexplained"] < 1.0).all()


def test_none_left(xor):
    X, y = xor
    assert len(CCMSelector(10).fit(X, y).substitutes(X, y)) == 0
