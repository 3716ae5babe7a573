"""Categories beside numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from covmin import (
    CCMSelector,
)
from covmin.data import TableOptions, read

from .common import same_fit


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
    def test_gaps_in_numbers_are_refused_whatever_comes_out(self, shop, library):
        X, y = shop
        selector = CCMSelector(2, column_types="strict").set_output(transform=library).fit(X, y)
        gap = X.assign(price=X["price"].where(X.index > 0))
        numbers = X[["price", "size", "margin"]]
        only_numbers = CCMSelector(1, column_types="strict").set_output(transform=library)
        only_numbers.fit(numbers, y)
        for frame in (gap, pl.from_pandas(gap)):
            with pytest.raises(ValueError, match="missing in 'price'"):
                selector.transform(frame)
        for table in (gap[numbers.columns], pl.from_pandas(gap[numbers.columns])):
            with pytest.raises(ValueError, match="contains NaN"):
                only_numbers.transform(table)

    def test_gaps_in_categories_come_back(self, shop):
        X, y = shop
        gap = X.assign(region=X["region"].where(X.index > 0))
        selector = CCMSelector(2).set_output(transform="pandas").fit(gap, y)
        pd.testing.assert_frame_equal(selector.transform(gap), gap[["region", "price"]])

    def test_lists_keep_their_numbers(self, shop):
        X, y = shop
        rows = X[["price", "region"]].astype({"region": object}).to_numpy().tolist()
        kept = CCMSelector(2, column_types={1: "category"}).fit(rows, y).transform(rows)
        assert kept.tolist() == rows

    def test_one_column_by_name_or_number(self, shop):
        X, y = shop
        X = X.assign(region=X["region"].cat.codes).select_dtypes("number")
        listed = CCMSelector(2, column_types={"region": "category"}).fit(X, y)
        for column in ("region", X.columns.get_loc("region")):
            same_fit(CCMSelector(2, column_types={column: "category"}).fit(X, y), listed, rtol=0)
        assert listed.objective_ != CCMSelector(2).fit(X, y).objective_

    def test_without_set_output_a_frame_comes_back(self, shop):
        X, y = shop
        selector = CCMSelector(2).fit(X, y)
        kept = selector.transform(X)
        pd.testing.assert_frame_equal(kept, X[kept.columns])
        assert selector.transform(pl.from_pandas(X)).columns == kept.columns.tolist()

    def test_an_encoder_behind_the_selector_finds_columns_by_dtype(self, shop):
        X, y = shop
        one_hot = OneHotEncoder(sparse_output=False)
        is_text = make_column_selector(dtype_exclude="number")
        encoder = make_column_transformer((one_hot, is_text), remainder="passthrough")
        model = make_pipeline(CCMSelector(2), encoder, KNeighborsRegressor())
        text = X.astype({"region": str})
        assert model.fit(text, y).score(text, y) > 0.5
        assert model[0].get_feature_names_out().tolist() == ["region", "price"]
        boosted = make_pipeline(CCMSelector(2), HistGradientBoostingRegressor(random_state=0))
        assert boosted.fit(X, y).score(X, y) > 0.5  # which takes categories, if the dtype says so

    def test_codes_in_an_array(self, shop):
        X, y = shop
        codes = X.assign(region=X["region"].cat.codes, colour=X["colour"].cat.codes)
        array = codes.astype(np.float64).to_numpy()
        by_code = CCMSelector(2, column_types={0: "category", 3: "category"}).fit(array, y)
        same_fit(by_code, CCMSelector(2).fit(X, y))
        assert_array_equal(by_code.transform(array), array[:, [0, 1]])
        as_numbers = CCMSelector(2).fit(array, y)
        assert as_numbers.objective_ > by_code.objective_

    def test_a_one_hot_group_ranks_as_one_column(self, shop):
        X, y = shop
        dummies = pd.get_dummies(X, columns=["region", "colour"], dtype=float)
        origin = [name.split("_")[0] for name in dummies.columns]
        grouped = CCMSelector(2, feature_groups=origin).fit(dummies, y)
        whole = CCMSelector(2).fit(X, y)
        chosen = set(grouped.feature_groups_[grouped.group_support_])
        assert chosen == {"region", "price"} == set(X.columns[whole.support_])

    def test_any_two_levels_are_equally_far(self):
        frame = pd.DataFrame({"c": pd.Categorical(["a"] * 10 + ["b"] * 5 + ["c"])})
        columns = read(frame, np.arange(16.0) ** 1.5, TableOptions()).columns(True)
        Z = columns.X.take(np.arange(16)) * columns.units.scale
        distances = {round(float(((Z[i] - Z[j]) ** 2).sum()), 9) for i in (0, 12) for j in (12, 15)}
        assert len(distances - {0.0}) == 1
        assert Z.var(axis=0).sum() == pytest.approx(1.0)

    def test_the_rarest_of_too_many_levels_are_merged(self):
        rng = np.random.default_rng(0)
        levels = np.r_[np.repeat(np.arange(10), 50), 10 + np.arange(300) // 2]
        y = rng.standard_normal(10)[levels % 10] * (levels < 10) + 0.1 * rng.standard_normal(800)
        X = pd.DataFrame({"x": rng.standard_normal(800), "shop": levels})
        selector = CCMSelector(1, column_types={"shop": "category"}).fit(X, y)
        assert selector.support_.tolist() == [False, True]

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
            found.append(CCMSelector(1, column_types={6: "category"}).fit(table, y).support_[0])
        assert np.mean(found) >= 0.75

    def test_a_group_of_many_columns_that_says_nothing(self):
        found = []
        for seed in range(8):
            rng, X, y = self.weak_effect(seed)
            table = np.column_stack([X, rng.standard_normal((len(y), 10))])
            groups = [*range(6), *[6] * 10]
            found.append(CCMSelector(1, feature_groups=groups).fit(table, y).support_[0])
        assert np.mean(found) >= 0.75

    def test_the_ridge_is_that_of_columns_where_all_are_alike(self):
        _, X, y = self.weak_effect(0)
        plain = CCMSelector(1).fit(X, y).epsilon_
        pairs = CCMSelector(1, feature_groups=[0, 0, 1, 1, 2, 2]).fit(X, y).epsilon_
        unequal = CCMSelector(1, feature_groups=[0, 0, 0, 0, 1, 2]).fit(X, y).epsilon_
        assert (plain, pairs, unequal) == (0.01, 0.01, 0.03)
        given = CCMSelector(1, feature_groups=[0, 0, 0, 0, 1, 2], epsilon=0.02).fit(X, y).epsilon_
        assert given == 0.02


@pytest.mark.parametrize("n", [500, 3000])
def test_the_error_on_a_table_of_categories_alone(n):
    """A tenth of the labels are wrong, which leaves 4 · 0.1 · 0.9 of their variance."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {f"c{j}": pd.Categorical(rng.integers(0, 4, n).astype(str)) for j in range(4)}
    )
    y = (frame.c0.cat.codes > 1) ^ (rng.random(n) < 0.1)
    selector = CCMSelector().fit(frame, y.astype(int))
    assert_array_equal(selector.get_support(indices=True), [0])
    assert 0.3 < selector.cv_results_.mean_error[0, 0] < 0.5


def noise_with(kind, rng, n=100):
    """Ten columns, one a date or a category, that say nothing about y."""
    X = pd.DataFrame(rng.standard_normal((n, 10))).rename(columns=str)
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    X["3"] = dates
    if kind != "date":
        X["3"] = pd.Categorical(rng.integers(0, int(kind), n).astype(str))
    return X, rng.standard_normal(n)


@pytest.mark.parametrize("kind", ["date", "8", "20"])
def test_noise_in_several_columns_is_not_first_among_noise(kind):
    rng = np.random.default_rng(0)
    fits = (CCMSelector(3, random_state=0).fit(*noise_with(kind, rng)) for _ in range(30))
    ranks = np.array([each.ranking_[3] for each in fits])
    assert (ranks == 1).mean() <= 0.3
    assert ranks.mean() >= 4.0


@pytest.mark.parametrize("kind", ["date", "8"])
def test_an_effect_of_several_columns_is_first(kind):
    rng, first = np.random.default_rng(0), []
    for _ in range(10):
        X, y = noise_with(kind, rng)
        seen = X["3"].dt.month < 7 if kind == "date" else X["3"].isin(["1", "3", "6"])
        first.append(CCMSelector(1, random_state=0).fit(X, y + 1.2 * seen).ranking_[3] == 1)
    assert np.mean(first) >= 0.8
