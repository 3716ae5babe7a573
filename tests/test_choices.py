"""What users say about their columns, samples and responses."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline

import covmin
from covmin import (
    CCMSelector,
    KnockoffSelector,
    conditional_covariance_trace,
    conditional_dependence_test,
)
from covmin.core.kernels import Gaussian, median_bandwidth
from covmin.core.path import default_budgets, run_path
from covmin.core.problem import Formulation, Problem
from covmin.core.responses import kernel_factor
from covmin.core.substitutes import substitutes
from covmin.core.units import ALWAYS_ON, TiedGram, Units
from covmin.data.columns import ColumnPlan, prepare_columns
from covmin.data.responses import encode_response
from covmin.datasets import make_additive, make_xor

FORMULATIONS = [
    {},
    {"strategy": "single"},
    {"kernel": "gaussian", "constraint": "soft", "lambda1": 0.01},
    {"inverse": "free", "lambda2": 100.0},
    {"approximation": "fourier", "n_components": 60},
    {"kernel": "laplacian"},
    {"kernel": "linear"},
]
SEE_INTERACTIONS = FORMULATIONS[:-1]


@pytest.fixture
def xor():
    return make_xor(60, random_state=0, return_X_y=True)


@pytest.fixture
def additive():
    X, y = make_additive(60, random_state=0, return_X_y=True)
    return X[:, :6], y


def same_fit(one, other, rtol=1e-8):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_allclose(one.weights_, other.weights_, rtol=rtol, atol=1e-8)
    assert_allclose(one.objective_, other.objective_, rtol=rtol)
    assert_allclose(one.bandwidth_, other.bandwidth_, rtol=rtol)


class TestGroups:
    def test_groups_of_one_equal_no_groups(self, xor):
        X, y = xor
        for options in FORMULATIONS:
            plain = CCMSelector(3, **options).fit(X, y)
            grouped = CCMSelector(3, groups=list("abcdefghij"), **options).fit(X, y)
            same_fit(plain, grouped, rtol=0)
            assert_array_equal(grouped.group_ranking_, plain.ranking_)
            assert_array_equal(grouped.groups_, list("abcdefghij"))
            assert plain.groups_ is plain.group_ranking_ is plain.group_support_ is None

    def test_the_budget_counts_groups_and_columns_share_rank_and_weight(self, xor):
        X, y = xor
        groups = [0, 0, 0, 1, 1, 2, 3, 4, 4, 4]
        for options in SEE_INTERACTIONS:
            selector = CCMSelector(1, groups=groups, **options).fit(X, y)
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
        assert CCMSelector(0.4, groups=groups).fit(X, y).n_features_ == 2
        chosen = CCMSelector(groups=groups).fit(X, y)
        assert chosen.n_features_ == 1
        assert_array_equal(chosen.cross_fit_.n_features, [1, 2, 3, 4, 5])
        with pytest.raises(ValueError, match="5 feature"):
            CCMSelector(6, groups=groups).fit(X, y)

    def test_permuting_columns_permutes_the_groups(self, xor):
        X, y = xor
        groups = np.array([0, 0, 1, 1, 2, 2, 2, 3, 3, 4])
        order = np.random.default_rng(1).permutation(10)
        for options in FORMULATIONS:
            straight = CCMSelector(2, groups=groups, **options).fit(X, y)
            permuted = CCMSelector(2, groups=groups[order], **options).fit(X[:, order], y)
            assert_array_equal(permuted.ranking_, straight.ranking_[order])
            assert_array_equal(permuted.weights_, straight.weights_[order])

    def test_renaming_groups_changes_nothing(self, xor):
        X, y = xor
        numbers = CCMSelector(2, groups=[9, 9, 3, 3, 5, 5, 5, 0, 0, 1]).fit(X, y)
        names = CCMSelector(2, groups=list("aazzbbbccq")).fit(X, y)
        same_fit(numbers, names, rtol=0)

    def test_a_dict_names_groups_and_leaves_the_rest_alone(self, xor):
        X, y = xor
        frame = pd.DataFrame(X, columns=list("abcdefghij"))
        by_name = CCMSelector(2, groups={"shell": ["a", "c"], "noise": ["i", "j"]}).fit(frame, y)
        labels = ["s", "b", "s", "d", "e", "f", "g", "h", "n", "n"]
        same_fit(by_name, CCMSelector(2, groups=labels).fit(X, y), rtol=0)
        assert_array_equal(by_name.groups_, ["shell", "b", "d", "e", "f", "g", "h", "noise"])
        by_number = CCMSelector(2, groups={"shell": [0, 2], "noise": [8, 9]}).fit(X, y)
        same_fit(by_name, by_number, rtol=0)

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            ([0, 1], "2 labels, but X has 10 columns"),
            ({"g": [0, 12]}, "column 12"),
            ({"g": ["a"]}, "no names"),
            ({"g": [0], "h": [0]}, "in two groups"),
            ({3: [0, 1]}, "also a column outside"),
            ([None] * 10, "missing label"),
        ],
    )
    def test_bad_groups(self, xor, groups, message):
        with pytest.raises(ValueError, match=message):
            CCMSelector(1, groups=groups).fit(*xor)

    def test_units_share_a_variance_of_one(self):
        X = np.random.default_rng(0).standard_normal((30, 4))
        plan = ColumnPlan(
            np.arange(4), np.zeros(4, bool), np.array([0, 0, 1, 0]), np.zeros(2, bool)
        )
        units = prepare_columns(X, plan=plan).units
        assert_allclose(np.bincount(units.of_column, units.scale**2), 1.0)

    def test_the_gradient_of_tied_weights(self, additive):
        X, y = additive
        units = Units(np.array([1, 0, 0, ALWAYS_ON, 2, 2]), np.array([1, 0.7, 0.7, 1, 0.5, 0.8]))
        Y = (y - y.mean())[:, None]
        problem = Problem(X, Y, np.full(60, 1 / 60), Formulation(0.1, bandwidth=2.0), units=units)
        gram = problem.gram(np.arange(3), 2.0)
        assert isinstance(gram, TiedGram)
        objective = problem.objective(gram)
        w, step = np.array([0.3, 0.6, 0.9]), 1e-6
        slopes = [
            (objective.at(w + step * e).value - objective.at(w - step * e).value) / (2 * step)
            for e in np.eye(3)
        ]
        assert_allclose(objective.at(w).gradient(), slopes, rtol=1e-5)
        some = objective.restrict(np.array([2, 0]))
        assert some.at(w[[2, 0]]).value == pytest.approx(
            objective.at(w * [1, 0, 1]).value, rel=1e-10
        )


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
        with pytest.raises(ValueError, match="nothing is left"):
            response.reduced_to(np.zeros((3, 1)), np.ones(3))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"given": range(10)}, "nothing is left"),
            ({"given": [10]}, "numbered from 0 to 9"),
            ({"given": ["x"]}, "no names"),
            ({"given": [True, False]}, "one entry for each of the 10"),
            ({"given": [0.5]}, "names or numbers"),
            ({"given": [0], "groups": [0, 0, *range(8)]}, "whole group or none"),
        ],
    )
    def test_bad_given(self, xor, options, message):
        with pytest.raises(ValueError, match=message):
            CCMSelector(1, **options).fit(*xor)

    def test_nearest_names(self, xor):
        X, y = xor
        frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(10)])
        with pytest.raises(ValueError, match="Did you mean 'gene1'"):
            CCMSelector(1, given=["gen1"]).fit(frame, y)


@pytest.fixture
def shop():
    """Sales that depend on region and price together, in a mixed table."""
    rng = np.random.default_rng(0)
    n = 160
    region = rng.choice(["north", "south", "east"], n)
    price = rng.standard_normal(n)
    y = np.where(region == "north", 1.0, -1.0) * price + 0.1 * rng.standard_normal(n)
    frame = pd.DataFrame(
        {
            "region": pd.Categorical(region),
            "price": price,
            "size": rng.integers(0, 50, n),
            "colour": pd.Categorical(rng.choice(list("rgbk"), n)),
            "open": rng.random(n) > 0.5,
            "margin": rng.standard_normal(n).astype(np.float32),
        }
    )
    return frame, y


class TestCategorical:
    def test_whole_columns_with_their_dtypes(self, shop):
        X, y = shop
        selector = CCMSelector(2).set_output(transform="pandas").fit(X, y)
        kept = selector.transform(X)
        assert list(kept.columns) == ["region", "price"]
        assert_array_equal(kept.dtypes, X.dtypes[["region", "price"]])
        pd.testing.assert_frame_equal(kept, X[["region", "price"]])
        assert selector.n_features_in_ == 6
        assert sorted(selector.ranking_) == [1, 2, 3, 4, 5, 6]
        assert list(selector.get_feature_names_out()) == ["region", "price"]

    def test_polars_in_and_out(self, shop):
        X, y = shop
        frame = pl.from_pandas(X)
        assert isinstance(frame["region"].dtype, pl.Categorical | pl.Enum)
        selector = CCMSelector(2).set_output(transform="polars").fit(frame, y)
        kept = selector.transform(frame)
        assert kept.schema == frame.select("region", "price").schema
        same_fit(selector, CCMSelector(2).fit(X, y), rtol=0)

    def test_numbers_and_categories_survive_a_change_of_library(self, shop):
        X, y = shop
        frame = pl.from_pandas(X)
        kept = CCMSelector(2).set_output(transform="polars").fit(X, y).transform(X)
        assert kept.equals(frame.select("region", "price"))
        assert kept.schema == frame.select("region", "price").schema
        back = CCMSelector(2).set_output(transform="pandas").fit(frame, y).transform(frame)
        assert list(map(str, back.dtypes)) == ["category", "float64"]
        pd.testing.assert_series_equal(back["price"], X["price"])

    @pytest.mark.parametrize("library", ["default", "pandas", "polars"])
    @pytest.mark.parametrize("column", ["price", "colour"])
    def test_gaps_are_refused_whatever_comes_out(self, shop, library, column):
        X, y = shop
        selector = CCMSelector(2).set_output(transform=library).fit(X, y)
        gap = X.assign(**{column: X[column].where(X.index > 0)})
        numbers = X[["price", "size", "margin"]]
        only_numbers = CCMSelector(1).set_output(transform=library).fit(numbers, y)
        for frame in (gap, pl.from_pandas(gap)):
            with pytest.raises(ValueError, match=f"missing in '{column}'"):
                selector.transform(frame)
        if column == "price":
            for table in (gap[numbers.columns], pl.from_pandas(gap[numbers.columns])):
                with pytest.raises(ValueError, match="contains NaN"):
                    only_numbers.transform(table)

    def test_lists_keep_their_numbers(self, shop):
        X, y = shop
        rows = X[["price", "region"]].astype({"region": object}).to_numpy().tolist()
        kept = CCMSelector(2, categorical_features=[1]).fit(rows, y).transform(rows)
        assert kept.tolist() == rows

    def test_one_column_by_name_or_number(self, shop):
        X, y = shop
        X = X.assign(region=X["region"].cat.codes).select_dtypes("number")
        listed = CCMSelector(2, categorical_features=["region"]).fit(X, y)
        for column in ("region", X.columns.get_loc("region")):
            same_fit(CCMSelector(2, categorical_features=column).fit(X, y), listed, rtol=0)
        assert listed.objective_ != CCMSelector(2).fit(X, y).objective_

    def test_without_set_output_an_array_comes_back(self, shop):
        X, y = shop
        kept = CCMSelector(2).fit(X, y).transform(X)
        assert isinstance(kept, np.ndarray)
        assert_array_equal(kept[:, 0], X["region"])

    def test_named_columns_of_text(self, shop):
        X, y = shop
        text = X.astype({"region": object, "colour": str})
        listed = CCMSelector(2, categorical_features=["region", "colour"]).fit(text, y)
        same_fit(listed, CCMSelector(2).fit(X, y), rtol=0)

    def test_codes_in_an_array(self, shop):
        X, y = shop
        codes = X.assign(region=X["region"].cat.codes, colour=X["colour"].cat.codes)
        array = codes.astype(np.float64).to_numpy()
        by_code = CCMSelector(2, categorical_features=[0, 3]).fit(array, y)
        same_fit(by_code, CCMSelector(2).fit(X, y))
        assert_array_equal(by_code.transform(array), array[:, [0, 1]])
        as_numbers = CCMSelector(2).fit(array, y)
        assert as_numbers.objective_ > by_code.objective_

    def test_a_one_hot_group_ranks_as_one_column(self, shop):
        X, y = shop
        dummies = pd.get_dummies(X, columns=["region", "colour"], dtype=float)
        origin = [name.split("_")[0] for name in dummies.columns]
        grouped = CCMSelector(2, groups=origin).fit(dummies, y)
        whole = CCMSelector(2).fit(X, y)
        chosen = set(grouped.groups_[grouped.group_support_])
        assert chosen == {"region", "price"} == set(X.columns[whole.support_])

    def test_any_two_levels_are_equally_far(self):
        frame = pd.DataFrame({"c": pd.Categorical(["a"] * 10 + ["b"] * 5 + ["c"])})
        seen = []

        class Spy(CCMSelector):
            def _problem(self, columns, *rest):
                seen.append(columns.X * columns.units.scale)
                return super()._problem(columns, *rest)

        Spy(1).fit(frame, np.arange(16.0) ** 1.5)
        Z = seen[-1]
        distances = {round(float(((Z[i] - Z[j]) ** 2).sum()), 9) for i in (0, 12) for j in (12, 15)}
        assert len(distances - {0.0}) == 1
        assert Z.var(axis=0).sum() == pytest.approx(1.0)

    def test_pipeline_and_cross_validation(self, shop):
        X, y = shop
        labels = (y > 0).astype(int)
        numbers = X.assign(
            region=X["region"].cat.codes.astype("category"), colour=X["colour"].cat.codes
        )
        model = make_pipeline(CCMSelector(2), KNeighborsClassifier())
        assert cross_val_score(model, numbers, labels, cv=3).mean() > 0.8

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"region": "north"}, "'region'"),
            ({"when": pd.Timestamp("2020-01-01")}, "'when'"),
        ],
    )
    def test_columns_without_numbers_are_named(self, shop, change, message):
        X, y = shop
        with pytest.raises(ValueError, match=f"hold no numbers: {message}"):
            CCMSelector(2).fit(X.assign(**change), y)

    def test_missing_and_too_many_levels(self, shop):
        X, y = shop
        gap = X["region"].copy()
        gap[3] = None
        with pytest.raises(ValueError, match="'region' has missing values"):
            CCMSelector(2).fit(X.assign(region=gap), y)
        rows = X.assign(code=pd.Categorical([f"r{i}" for i in range(len(X))]))
        with pytest.raises(ValueError, match="tells the rows apart"):
            CCMSelector(2).fit(rows, y)
        long = pd.DataFrame({"id": pd.Categorical(range(300)), "x": np.arange(300.0)})
        with pytest.raises(ValueError, match="'id' has 300 levels"):
            CCMSelector(1).fit(long, np.arange(300.0) % 7)

    def test_the_users_frame_is_not_touched(self, shop):
        X, y = shop
        before = X.copy(deep=True)
        CCMSelector(2, groups={"g": ["size", "colour"]}, given=["open"]).fit(X, y)
        pd.testing.assert_frame_equal(X, before)

    def test_other_columns_at_transform(self, shop):
        X, y = shop
        selector = CCMSelector(2).set_output(transform="pandas").fit(X, y)
        with pytest.raises(ValueError, match="feature names"):
            selector.transform(X.rename(columns={"price": "cost"}))


class TestUnequalUnits:
    """A category or a group is not kept for its size alone."""

    @staticmethod
    def weak_effect(seed, n=100):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 6))
        return rng, X, 0.6 * X[:, 0] + rng.standard_normal(n)

    @pytest.mark.parametrize("classes", [False, True])
    def test_a_category_of_many_levels_that_says_nothing(self, classes):
        found = []
        for seed in range(8):
            rng, X, y = self.weak_effect(seed)
            table = np.column_stack([X, rng.integers(0, 20, len(y))])
            y = (y > 0).astype(int) if classes else y
            found.append(CCMSelector(1, categorical_features=[6]).fit(table, y).support_[0])
        assert np.mean(found) >= 0.75

    def test_a_group_of_many_columns_that_says_nothing(self):
        found = []
        for seed in range(8):
            rng, X, y = self.weak_effect(seed)
            table = np.column_stack([X, rng.standard_normal((len(y), 10))])
            groups = [*range(6), *[6] * 10]
            found.append(CCMSelector(1, groups=groups).fit(table, y).support_[0])
        assert np.mean(found) >= 0.75

    def test_a_category_that_says_something_is_found(self):
        rng, X, _ = self.weak_effect(0)
        kind = rng.integers(0, 20, 100)
        y = rng.standard_normal(20)[kind] + 0.5 * rng.standard_normal(100)
        table = np.column_stack([X, kind])
        assert CCMSelector(1, categorical_features=[6]).fit(table, y).support_[6]

    def test_the_ridge_is_that_of_columns_where_all_are_alike(self):
        _, X, y = self.weak_effect(0)
        plain = CCMSelector(1).fit(X, y).epsilon_
        pairs = CCMSelector(1, groups=[0, 0, 1, 1, 2, 2]).fit(X, y).epsilon_
        unequal = CCMSelector(1, groups=[0, 0, 0, 0, 1, 2]).fit(X, y).epsilon_
        assert (plain, pairs, unequal) == (0.01, 0.01, 0.03)
        given = CCMSelector(1, groups=[0, 0, 0, 0, 1, 2], epsilon=0.02).fit(X, y).epsilon_
        assert given == 0.02


class TestSampleWeights:
    @pytest.mark.parametrize("options", FORMULATIONS)
    @pytest.mark.parametrize("standardize", [True, False])
    def test_integers_equal_repeated_rows(self, xor, options, standardize):
        X, y = xor
        if "inverse" in options:  # a few steps on a system this ill-conditioned magnify rounding
            options = options | {"epsilon": 0.5}
        counts = np.random.default_rng(0).integers(0, 4, 60)
        selector = CCMSelector(3, standardize=standardize, **options)
        weighted = clone(selector).fit(X, y, sample_weight=counts)
        repeated = clone(selector).fit(X.repeat(counts, axis=0), y.repeat(counts))
        same_fit(weighted, repeated)

    def test_so_with_a_real_response_and_its_kernel(self, additive):
        X, y = additive
        counts = np.random.default_rng(0).integers(0, 4, 60)
        for kernel in ("linear", "gaussian"):
            weighted = CCMSelector(3, response_kernel=kernel).fit(X, y, sample_weight=counts)
            repeated = CCMSelector(3, response_kernel=kernel).fit(
                X.repeat(counts, axis=0), y.repeat(counts)
            )
            same_fit(weighted, repeated)

    def test_so_with_everything_chosen_by_cross_fitting(self, xor):
        X, y = xor
        counts = np.random.default_rng(0).integers(1, 4, 60)
        weighted = CCMSelector(epsilon=[0.001, 0.01]).fit(X, y, sample_weight=counts)
        repeated = CCMSelector(epsilon=[0.001, 0.01]).fit(
            X.repeat(counts, axis=0), y.repeat(counts)
        )
        same_fit(weighted, repeated)
        assert_allclose(weighted.cross_fit_.mean_error, repeated.cross_fit_.mean_error, rtol=1e-6)

    def test_zero_is_removal_and_scale_does_not_matter(self, xor):
        X, y = xor
        weight = np.r_[np.zeros(20), np.ones(40)]
        removed = CCMSelector(3).fit(X[20:], y[20:])
        same_fit(CCMSelector(3).fit(X, y, sample_weight=weight), removed, rtol=0)
        same_fit(CCMSelector(3).fit(X, y, sample_weight=0.1 * weight), removed)

    def test_weights_matter(self, xor):
        X, y = xor
        weight = np.random.default_rng(0).exponential(size=60)
        plain, weighted = CCMSelector(3).fit(X, y), CCMSelector(3).fit(X, y, sample_weight=weight)
        assert abs(plain.objective_ / weighted.objective_ - 1) > 0.01

    def test_order_of_rows_does_not_matter(self, xor):
        X, y = xor
        rows = np.random.default_rng(0).permutation(60)
        for options in ({}, {"approximation": "fourier"}):
            same_fit(CCMSelector(**options).fit(X[rows], y[rows]), CCMSelector(**options).fit(X, y))

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            (np.ones(3), "one entry for each"),
            (-np.ones(60), "≥ 0"),
            (np.full(60, np.nan), "finite"),
            (np.eye(60)[0], "at least 2"),
        ],
    )
    def test_bad_weights(self, xor, weight, message):
        with pytest.raises(ValueError, match=message):
            CCMSelector(1).fit(*xor, sample_weight=weight)

    def test_routed_through_a_pipeline(self, xor):
        X, y = xor
        weight = np.random.default_rng(0).integers(0, 3, 60)
        import sklearn

        with sklearn.config_context(enable_metadata_routing=True):
            model = Pipeline(
                [
                    ("select", CCMSelector(3).set_fit_request(sample_weight=True)),
                    ("predict", KNeighborsClassifier()),
                ]
            ).fit(X, y, sample_weight=weight)
        same_fit(model["select"], CCMSelector(3).fit(X, y, sample_weight=weight), rtol=0)

    def test_the_criterion_takes_them(self, additive):
        X, y = additive
        counts = np.random.default_rng(0).integers(0, 4, 60)
        weighted = conditional_covariance_trace(X, y, sample_weight=counts)
        repeated = conditional_covariance_trace(X.repeat(counts, axis=0), y.repeat(counts))
        assert weighted == pytest.approx(repeated, rel=1e-9)

    def test_copies_are_left_out_together(self):
        """Else the error of a rich kernel on copied noise would be near zero."""
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
        selector = CCMSelector(epsilon=1e-4).fit(np.tile(X, (4, 1)), np.tile(y, 4))
        assert selector.cross_fit_.mean_error.min() > 0.5

    def test_weighted_median_of_pairs(self):
        X = np.array([[0.0], [1.0], [5.0], [7.0]])
        rng = np.random.default_rng(0)
        for counts in ([1, 2, 3, 1], [2, 2, 1, 5], [1, 1, 1, 4]):
            for order in (1, 2):
                weighted = median_bandwidth(X, order, rng, np.array(counts) / sum(counts))
                assert weighted == pytest.approx(
                    median_bandwidth(X.repeat(counts, axis=0), order, rng)
                )


class TestResponses:
    def test_balanced_classes_equal_repeated_samples(self, xor):
        X, _ = xor
        y = np.r_[np.zeros(40), np.ones(20)].astype(int)
        balanced = CCMSelector(2, class_weight="balanced").fit(X, y)
        repeated = CCMSelector(2).fit(np.r_[X, X[40:]], np.r_[y, y[40:]])
        same_fit(balanced, repeated)
        same_fit(balanced, CCMSelector(2, class_weight={0: 1.0, 1: 2.0}).fit(X, y))
        assert balanced.objective_ != pytest.approx(CCMSelector(2).fit(X, y).objective_, rel=1e-3)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [({"z": 1.0}, "label 'z'"), ({0: -1.0}, "positive")],
    )
    def test_bad_class_weights(self, xor, weight, message):
        with pytest.raises(ValueError, match=message):
            CCMSelector(1, class_weight=weight).fit(*xor)

    def test_class_weights_need_classes(self, additive):
        with pytest.raises(ValueError, match="class_weight needs"):
            CCMSelector(1, class_weight="balanced").fit(*additive)

    def test_several_labels_at_once(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((120, 8))
        Y = np.c_[X[:, 0] > 0, X[:, 1] * X[:, 2] > 0].astype(int)
        selector = CCMSelector(3).fit(X, Y)
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2])
        assert selector.task_ == "classification"
        assert selector.epsilon_ == 0.01
        assert [list(classes) for classes in selector.classes_] == [[0, 1], [0, 1]]

    def test_several_outputs_of_classes(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((120, 8))
        Y = np.c_[np.digitize(X[:, 0], [-0.5, 0.5]), X[:, 1] > 0]
        selector = CCMSelector(2, task="classification").fit(X, Y)
        assert_array_equal(selector.get_support(indices=True), [0, 1])
        assert [len(classes) for classes in selector.classes_] == [3, 2]

    def test_several_outputs_of_a_real_response(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((120, 8))
        Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1] ** 2]
        assert_array_equal(CCMSelector(2).fit(X, Y).get_support(indices=True), [0, 1])

    @pytest.mark.parametrize("response_kernel", ["linear", "gaussian"])
    def test_the_unit_of_an_output_does_not_matter(self, response_kernel):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 5))
        weight = rng.integers(1, 4, 60)
        Y = np.c_[X[:, 0] + 0.1 * rng.standard_normal(60), X[:, 1] ** 2]
        selector = CCMSelector(2, response_kernel=response_kernel)
        alike = clone(selector).fit(X, Y, weight)
        other_units = np.c_[1e4 * Y[:, 0] - 7.0, Y[:, 1], np.full(60, 3.0)]
        same_fit(clone(selector).fit(X, other_units, weight), alike, rtol=1e-6)
        assert_array_equal(alike.get_support(indices=True), [0, 1])

    def test_several_outputs_are_told_as_a_mean_of_shares(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 3))
        weight = rng.uniform(0.5, 2.0, 60)
        Y = np.c_[1e4 * X[:, 0], X[:, 1] ** 2]
        variances = np.cov(Y.T, aweights=weight, bias=True).diagonal()
        trace = partial(conditional_covariance_trace, X, sample_weight=weight)
        shares = [trace(y) / variance for y, variance in zip(Y.T, variances, strict=True)]
        assert_allclose(trace(Y), np.mean(shares), rtol=1e-9)

    def test_ordered_classes(self):
        """Steps: a mistake by two classes costs twice a mistake by one."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((90, 4))
        grade = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
        selector = CCMSelector(2, task="ordinal").fit(X, grade)
        assert_array_equal(selector.get_support(indices=True), [0, 1])
        steps = (grade[:, None] > np.arange(3)).astype(float)
        encoded = encode_response(grade, "ordinal")
        assert_allclose(encoded.scale * encoded.Y, steps - steps.mean(axis=0), atol=1e-12)
        assert selector.task_ == "classification"
        assert_array_equal(selector.classes_, range(4))

    def test_an_ordered_categorical_keeps_its_order(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((90, 4))
        grade = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
        words = np.array(["poor", "fair", "good", "best"])
        y = pd.Series(pd.Categorical(words[grade], categories=words, ordered=True))
        by_name = CCMSelector(2).fit(X, y)
        same_fit(by_name, CCMSelector(2, task="ordinal").fit(X, grade), rtol=0)
        assert_array_equal(by_name.classes_, words)
        enum = pl.Series(words[grade], dtype=pl.Enum(list(words)))
        same_fit(by_name, CCMSelector(2).fit(X, enum), rtol=0)
        with pytest.raises(ValueError, match="order of the classes"):
            CCMSelector(2, task="ordinal").fit(X, words[grade])

    @pytest.mark.parametrize("task", ["auto", "ordinal"])
    def test_the_order_counts_wherever_a_response_is_taken(self, task):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((90, 5))
        grade = np.digitize(X[:, 0], [-1, 0, 1])
        words = np.array(["poor", "fair", "good", "best"])
        y = pd.Series(pd.Categorical(words[grade], categories=words, ordered=True))
        inner = CCMSelector(1, mixing=0.5, epsilon=0.01)

        def answers(y, task):
            selector = KnockoffSelector(clone(inner).set_params(task=task), fdr=0.5)
            return [
                conditional_covariance_trace(X, y, task=task),
                conditional_dependence_test(X, y, task=task, n_resamples=5).statistic,
                *selector.fit(X, y).W_,
            ]

        assert answers(y, task) == answers(grade, "ordinal")

    def test_a_kernel_on_the_response_finds_what_changes_its_spread(self):
        """The mean depends on feature 1, the spread on feature 0."""
        found = {"linear": 0, "gaussian": 0}
        for seed in range(8):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((200, 8))
            y = X[:, 1] + np.exp(0.8 * X[:, 0]) * rng.standard_normal(200)
            for kernel in found:
                selector = CCMSelector(2, response_kernel=kernel).fit(X, y)
                found[kernel] += int(selector.support_[:2].all())
        assert found["gaussian"] == 8
        assert found["linear"] < 6

    def test_its_factor(self, additive):
        _, y = additive
        Y = y[:, None]
        p = np.full(60, 1 / 60)
        L = kernel_factor(Gaussian(2.0), Y, p)
        K = Gaussian(2.0).cross(Y, Y, np.ones(1))
        assert L.shape[1] < 30
        assert np.trace(K - L @ L.T) / 60 < 1e-4
        assert kernel_factor(Gaussian(2.0), Y, p, max_rank=2).shape[1] == 2

    def test_not_for_classes(self, xor):
        with pytest.raises(ValueError, match="real response"):
            CCMSelector(1, response_kernel="gaussian").fit(*xor)


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

    @pytest.mark.parametrize("options", FORMULATIONS)
    def test_against_the_criterion_itself(self, additive, options):
        """Every figure is the criterion of the weights it stands for."""
        X, y = additive
        seen = []

        class Spy(CCMSelector):
            def _run(self, problem, m, bar):
                path, history = super()._run(problem, m, bar)
                seen.append((problem, path))
                return path, history

        selector = Spy(2, n_substitutes=3, **options).fit(X, y)
        problem, path = seen[-1]
        stage = next(s for s in path.stages if s.budget == 2)
        found = substitutes(problem, stage, 3)
        every = np.arange(6)
        gram = problem.gram(every, stage.bandwidth, 2, among=stage.columns)
        w = np.zeros(6)
        w[stage.columns] = stage.weights
        w = np.where(np.isin(every, stage.features), np.maximum(w, 1e-4), 0.0)
        for row, feature in enumerate(found.feature):
            alone = np.where(every == feature, 0.0, w)
            value = self.value(gram, alone, problem)
            assert found.without[row] == pytest.approx(value, rel=1e-6)
            for candidate, replaced in zip(found.candidate[row], found.replaced[row], strict=True):
                value = self.value(gram, np.where(every == candidate, w[feature], alone), problem)
                assert replaced == pytest.approx(value, rel=1e-6)
            assert (np.diff(found.replaced[row]) >= 0).all()
        assert selector.substitutes_.unexplained[0] == pytest.approx(
            problem.formulation.epsilon * found.criterion
        )

    @staticmethod
    def value(gram, w, problem):
        operator = gram.at(w)
        f = operator.solve(problem.formulation.epsilon)
        return float(np.sum(operator.dots(operator.Y, f)))

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


def test_public_names_are_documented():
    for name in covmin.__all__:
        assert getattr(covmin, name).__doc__, name


def test_budgets_are_of_units():
    X = np.random.default_rng(0).standard_normal((40, 6))
    units = Units(np.array([0, 0, 1, 1, 2, ALWAYS_ON]), np.ones(6) / np.sqrt([2, 2, 2, 2, 1, 1]))
    Y = X[:, 2:3] * X[:, 3:4]
    problem = Problem(
        X, Y - Y.mean(), np.full(40, 1 / 40), Formulation(0.01, mixing=None), units=units
    )
    path = run_path(problem, default_budgets(3))
    assert path.order[0] == 1
    assert sorted(path.order) == [0, 1, 2]
