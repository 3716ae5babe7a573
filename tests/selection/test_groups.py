"""Columns that stay or go together, and columns that are given."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin import (
    CCMSelector,
)
from covmin.data import Layout
from covmin.data.response import encode_response
from covmin.data.standardize import prepare_columns

from .common import FORMULATIONS, SEE_INTERACTIONS, same_fit


class TestGroups:
    def test_groups_of_one_equal_no_groups(self, xor):
        X, y = xor
        for options in FORMULATIONS:
            plain = CCMSelector(3, **options).fit(X, y)
            grouped = CCMSelector(3, feature_groups=list("abcdefghij"), **options).fit(X, y)
            same_fit(plain, grouped, rtol=0)
            assert_array_equal(grouped.group_ranking_, plain.ranking_)
            assert_array_equal(grouped.feature_groups_, list("abcdefghij"))
            assert plain.feature_groups_ is plain.group_ranking_ is plain.group_support_ is None

    def test_the_budget_counts_groups_and_columns_share_rank_and_weight(self, xor):
        X, y = xor
        groups = [0, 0, 0, 1, 1, 2, 3, 4, 4, 4]
        for options in SEE_INTERACTIONS:
            selector = CCMSelector(1, feature_groups=groups, **options).fit(X, y)
            assert_array_equal(selector.get_support(indices=True), [0, 1, 2])
            assert selector.n_features_ == 1
            assert sorted(selector.group_ranking_) == [1, 2, 3, 4, 5]
            assert_array_equal(selector.ranking_, selector.group_ranking_[groups])
            assert_array_equal(selector.support_, selector.group_support_[groups])
            for group in range(5):
                members = np.flatnonzero(np.equal(groups, group))
                assert np.ptp(selector.path_.weights[:, members], axis=1).max() == 0.0

    def test_a_fraction_is_of_the_groups_and_auto_counts_them(self, xor):
        X, y = xor
        groups = [0, 0, 0, 1, 1, 2, 3, 4, 4, 4]
        assert CCMSelector(0.4, feature_groups=groups).fit(X, y).n_features_ == 2
        chosen = CCMSelector(feature_groups=groups).fit(X, y)
        assert chosen.n_features_ == 1
        assert_array_equal(chosen.cv_results_.n_features, [1, 2, 3, 4, 5])
        with pytest.raises(ValueError, match="5 feature"):
            CCMSelector(6, feature_groups=groups).fit(X, y)

    def test_permuting_columns_permutes_the_groups(self, xor):
        X, y = xor
        groups = np.array([0, 0, 1, 1, 2, 2, 2, 3, 3, 4])
        order = np.random.default_rng(1).permutation(10)
        for options in FORMULATIONS:
            straight = CCMSelector(2, feature_groups=groups, **options).fit(X, y)
            permuted = CCMSelector(2, feature_groups=groups[order], **options).fit(X[:, order], y)
            assert_array_equal(permuted.ranking_, straight.ranking_[order])
            assert_array_equal(permuted.weights_, straight.weights_[order])

    def test_renaming_groups_changes_nothing(self, xor):
        X, y = xor
        numbers = CCMSelector(2, feature_groups=[9, 9, 3, 3, 5, 5, 5, 0, 0, 1]).fit(X, y)
        names = CCMSelector(2, feature_groups=list("aazzbbbccq")).fit(X, y)
        same_fit(numbers, names, rtol=0)

    def test_a_dict_names_groups_and_leaves_the_rest_alone(self, xor):
        X, y = xor
        frame = pd.DataFrame(X, columns=list("abcdefghij"))
        by_name = CCMSelector(2, feature_groups={"shell": ["a", "c"], "noise": ["i", "j"]}).fit(
            frame, y
        )
        labels = ["s", "b", "s", "d", "e", "f", "g", "h", "n", "n"]
        same_fit(by_name, CCMSelector(2, feature_groups=labels).fit(X, y), rtol=0)
        assert_array_equal(
            by_name.feature_groups_, ["shell", "b", "d", "e", "f", "g", "h", "noise"]
        )
        by_number = CCMSelector(2, feature_groups={"shell": [0, 2], "noise": [8, 9]}).fit(X, y)
        same_fit(by_name, by_number, rtol=0)

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            ([0, 1], "each of the 10 columns, .* got 2 entries"),
            ({"g": [0, 12]}, "numbers from 0 to 9, or a mask; got 12"),
            ({"g": ["a"]}, "no names"),
            ({"g": [0], "h": [0]}, "in two groups"),
            ({3: [0, 1]}, "also the name of a column outside"),
            ([None] * 10, "none missing"),
        ],
    )
    def test_bad_groups(self, xor, groups, message):
        with pytest.raises(ValueError, match=message):
            CCMSelector(1, feature_groups=groups).fit(*xor)

    def test_units_share_a_variance_of_one(self):
        X = np.random.default_rng(0).standard_normal((30, 4))
        plan = Layout(np.arange(4), np.zeros(4, bool), np.array([0, 0, 1, 0]), np.zeros(2, bool))
        units = prepare_columns(X, layout=plan).units
        assert_allclose(np.bincount(units.of_column, units.scale**2), 1.0)


class TestGiven:
    def test_given_columns_are_kept_and_not_counted(self, xor):
        X, y = xor
        for options in SEE_INTERACTIONS:
            selector = CCMSelector(2, given=[0], **options).fit(X, y)
            assert_array_equal(selector.get_support(indices=True), [0, 1, 2])
            assert selector.ranking_[0] == 0
            assert sorted(selector.ranking_) == list(range(10))
            assert (selector.path_.weights[:, 0] == 1.0).all()
            assert selector.transform(X).shape == (60, 3)

    def test_the_ranking_says_what_is_added(self):
        """A copy of a given column adds nothing, though by itself it says most."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((150, 5))
        X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(150)
        y = 3 * X[:, 0] + X[:, 2] + 0.1 * rng.standard_normal(150)
        assert CCMSelector(2).fit(X, y).ranking_[2] > 1
        added = CCMSelector(1, given=[0]).fit(X, y)
        assert added.ranking_[2] == 1

    def test_by_name_number_or_mask(self, xor):
        X, y = xor
        frame = pd.DataFrame(X, columns=list("abcdefghij"))
        one = CCMSelector(2, given="b").fit(frame, y)
        for given in (1, [1], ["b"], [False, True] + 8 * [False], -9):
            same_fit(one, CCMSelector(2, given=given).fit(frame, y), rtol=0)

    def test_more_than_a_given_feature_says_by_itself(self):
        """A given feature counts in interactions, too."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((150, 6))
        y = 2 * X[:, 0] + X[:, 0] * X[:, 3] + 0.1 * rng.standard_normal(150)
        assert CCMSelector(1, given=[0]).fit(X, y).ranking_[3] == 1

    def test_what_given_features_explain_is_no_longer_there(self, additive):
        X, y = additive
        selector = CCMSelector(1, given=[0]).fit(X, y)
        assert selector.epsilon_ * selector.objective_ < y.var()
        flat = CCMSelector(1, given=[0]).fit(np.c_[np.arange(60) % 2, X], y)
        assert flat.epsilon_ * flat.objective_ < 1.1 * y.var()

    def test_given_columns_that_are_constant_say_nothing(self, xor):
        X, y = xor
        X = X.copy()
        X[:, 4] = 1.0
        selector = CCMSelector(3, given=[4]).fit(X, y)
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2, 4])

    def test_nothing_left_to_explain(self):
        response = encode_response(np.array([1.0, 2.5, 4.0]))
        with pytest.raises(ValueError, match="nothing left"):
            response.reduced_to(np.zeros((3, 1)), np.ones(3))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"given": range(10)}, "nothing left"),
            ({"given": [10]}, "numbers from 0 to 9, or a mask; got 10"),
            ({"given": ["x"]}, "no names"),
            ({"given": [True, False]}, "one entry for each of the 10"),
            ({"given": [0.5]}, "column names, column numbers"),
            ({"given": [0], "feature_groups": [0, 0, *range(8)]}, "all or none of it"),
        ],
    )
    def test_bad_given(self, xor, options, message):
        with pytest.raises(ValueError, match=message):
            CCMSelector(1, **options).fit(*xor)

    @pytest.mark.parametrize(("labels", "shown"), [([0, 0, 1], "0"), (list("aab"), "'a'")])
    def test_half_a_group(self, xor, labels, shown):
        X, y = xor
        with pytest.raises(ValueError, match=f"of the group {shown} are in given"):
            CCMSelector(1, feature_groups=labels, given=[1]).fit(X[:, :3], y)
