"""Features that could stand in for those kept."""

import numpy as np
import pandas as pd

from covmin import (
    CCMSelector,
)


class TestSubstitutes:
    def test_a_copy_is_the_best_substitute(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((120, 8))
        X[:, 5] = X[:, 0] + 0.1 * rng.standard_normal(120)
        y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
        selector = CCMSelector(2, n_substitutes=2).fit(X, y)
        kept = np.flatnonzero(selector.support_)
        table = pd.DataFrame(selector.substitutes_)
        assert len(table) == 4
        assert set(table["feature"]) == set(kept)
        assert not set(table["substitute"]) & set(kept)
        first = table[table["feature"] == (0 if 0 in kept else 5)].iloc[0]
        assert first["substitute"] == (5 if 0 in kept else 0)
        assert first["unexplained"] <= first["unexplained_with"] < first["unexplained_without"]

    def test_groups_and_given_columns(self, xor):
        X, y = xor
        groups = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
        selector = CCMSelector(1, groups=groups, given=[2], n_substitutes=2).fit(X, y)
        table = selector.substitutes_
        assert set(table.feature) <= {0, *range(3, 10)}
        assert 2 not in table.substitute

    def test_none_by_default_and_none_left(self, xor):
        X, y = xor
        assert CCMSelector(2).fit(X, y).substitutes_ is None
        assert CCMSelector(10, n_substitutes=3).fit(X, y).substitutes_.feature.size == 0
