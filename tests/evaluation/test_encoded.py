"""A category is one feature to every selector, however many levels it has."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.data import TableOptions, read
from covmin.evaluation import compare_selectors, named_selectors
from covmin.evaluation.curves import prefix_scores
from covmin.evaluation.selectors import ComparedTable, order_of_features


@pytest.fixture
def shop():
    rng = np.random.default_rng(0)
    city = rng.choice(["Bonn", "Oslo", "Rome"], 120)
    age = rng.uniform(18, 80, 120)
    y = np.where((age > 45) ^ (city == "Rome"), "yes", "no")
    frame = pd.DataFrame({"noise": rng.normal(size=120), "city": city, "age": age})
    return frame.astype({"city": "category"}), y


def test_features_are_counted_not_levels(shop):
    X, y = shop
    result = compare_selectors(X, y, ["ccm", "anova", "mrmr"], random_state=0)
    assert set(result.frame["n_features"]) == {1, 2, 3}
    table = result.summary().set_index(["selector", "n_features"])["mean_score"]
    assert table["ccm", 2] > 0.9
    # With all features every selector gives the machine the same columns.
    assert table.xs(3, level="n_features").nunique() == 1


def test_named_columns_of_an_array_are_as_good_as_dtypes(shop):
    X, y = shop
    options = {"n_features": [1, 2], "random_state": 0}
    by_dtype = compare_selectors(X, y, ["ccm", "anova"], **options)
    by_number = compare_selectors(
        X.astype(object).to_numpy(), y, ["ccm", "anova"], column_types={1: "category"}, **options
    )
    columns = ["selector", "fold", "n_features", "score"]
    pd.testing.assert_frame_equal(by_dtype.frame[columns], by_number.frame[columns])


def test_a_category_stands_where_its_best_level_does():
    matrix = np.array([[1.0, 0, 0, 7], [0, 1, 0, 7], [0, 0, 1, 9]])
    categories = ComparedTable(None, {}, matrix, np.array([0, 0, 0, 1]), 2)
    selector = SimpleNamespace(get_params=dict)
    selector.fit = lambda X, y: SimpleNamespace(ranking_=[4, 1, 3, 2])
    order = order_of_features(selector, categories, None)
    assert order.tolist() == [0, 1]
    selector.fit = lambda X, y: SimpleNamespace(ranking_=[4, 2, 3, 1])
    assert order_of_features(selector, categories, None).tolist() == [1, 0]


def test_what_is_missing_is_an_indicator_and_the_mean_of_the_rest():
    """A gap that says all is found by a selector of numbers, and used by the machine."""
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal((80, 2))
    y = np.repeat([0, 1], 40)
    numbers[y == 1, 1] = np.where(rng.random(40) < 0.9, np.nan, 0.0)
    missing = np.isnan(numbers[:, [1]])
    matrix = np.column_stack([numbers, missing])
    table = ComparedTable(numbers, {}, matrix, np.array([0, 1, 1]), 3)
    order = order_of_features(named_selectors()["anova"](1), table, y)
    assert order.tolist() == [1, 0, 2]  # a feature without a column comes last
    split = np.arange(0, 80, 2), np.arange(1, 80, 2)
    [score] = prefix_scores(order, [1], table, y, split, classification=True)
    assert score > 0.85


def test_selectors_that_know_categories_are_given_the_table_itself(shop):
    X, y = shop
    seen = []

    class Known(CCMSelector):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    compare_selectors(X, y, {"known": Known(1)}, n_features=[1], random_state=0)
    assert all(isinstance(part, pd.DataFrame) for part in seen)
    assert seen[0]["city"].dtype == "category"


def test_missing_levels_are_a_level(shop):
    X, y = shop
    X.loc[3, "city"] = None
    result = compare_selectors(X, y, ["ccm", "anova"], random_state=0)
    assert result.summary().set_index(["selector", "n_features"])["mean_score"]["ccm", 2] > 0.9


def test_text_dates_and_names_of_rows_are_read_as_the_selector_does(shop):
    X, y = shop
    X = X.assign(
        city=X["city"].astype(str),
        who=[f"person {i}" for i in range(120)],
        day=pd.date_range("2020", periods=120),
    )
    with pytest.warns(UserWarning, match="values hardly repeat, as in row identifiers: 'who'"):
        result = compare_selectors(X, y, ["ccm", "anova"], n_features=[2, 5], random_state=0)
    table = result.summary().set_index(["selector", "n_features"])["mean_score"]
    assert table["ccm", 2] > 0.9
    assert table.notna().all()


def test_a_table_that_was_read_is_not_read_again(shop, monkeypatch):
    X, y = shop
    table = read(X, y, TableOptions())
    options = {"n_features": [2], "random_state": 0}
    expected = compare_selectors(X, y, ["anova"], **options).frame["score"]
    monkeypatch.setattr("covmin.data.table.read_matrix", None)
    found = compare_selectors(table, None, ["anova"], **options).frame["score"]
    assert found.tolist() == expected.tolist()
