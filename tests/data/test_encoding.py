"""Tables as they come, read as one matrix, and what is said about it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from covmin import CCMSelector, StabilitySelector, unexplained_variance
from covmin.data import TableOptions, read

N = 300


def ship(seed=0):
    """Passengers with every trouble but missing numbers: names, tickets, money, gaps in text."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["male", "female"], N)
    place = rng.integers(1, 4, N)
    fare = np.exp(4.6 - 0.9 * place + 0.5 * rng.standard_normal(N))
    chance = 1 / (1 + np.exp(-3.0 * (sex == "female") + 1.5 * (place - 2) + 1.5))
    frame = pd.DataFrame(
        {
            "PassengerId": np.arange(1, N + 1),
            "Pclass": place,
            "Name": [f"Person, Mr. {i}" for i in range(N)],
            "Sex": sex,
            "Ticket": [f"A/{rng.integers(9)} {rng.integers(10**6)}" for _ in range(N)],
            "Fare": [f"${x:,.2f}" for x in fare],
            "Cabin": np.where(rng.random(N) < 0.7, None, [f"C{i}" for i in range(N)]),
            "Embarked": rng.choice(["S", "C", "Q", None], N, p=[0.7, 0.2, 0.07, 0.03]),
            "Boarded": pd.Timestamp("1912-04-01")
            + pd.to_timedelta(rng.integers(0, 14_400, N), unit="min"),
        }
    )
    return frame, (rng.random(N) < chance).astype(int)


KINDS = ["identifier", "number", "free text", "category", "identifier", "number", "category"]
KINDS += ["category", "date"]
OUT = ["identifier", "free text"]


@pytest.fixture(scope="module")
def fitted():
    X, y = ship()
    with pytest.warns(UserWarning, match="free text: 'Name'. column_types"):
        return CCMSelector(2).fit(X, y)


class TestShip:
    def test_the_drivers_are_found(self, fitted):
        assert set(fitted.get_feature_names_out()) == {"Sex", "Pclass"}
        assert sorted(fitted.ranking_) == list(range(1, 10))
        assert_array_equal(fitted.column_kinds_, KINDS)

    def test_names_of_rows_are_ranked_last(self, fitted):
        last = np.isin(KINDS, OUT)
        assert fitted.ranking_[last].tolist() == [7, 8, 9]
        assert not fitted.weights_[last].any()

    def test_the_plan_lists_every_decision(self, fitted):
        said = [str(each) for each in fitted.plan_.decisions if each.topic == "columns"]
        assert len(said) == 8  # all but Pclass
        told = str(fitted.plan_)
        assert "'Ticket' excluded (" in told
        assert "which hardly repeat: used only as an indicator of missingness" in told
        assert "'Sex' read as categories (2 values in 300 rows)" in told
        assert "'Fare' read as numbers (numbers as text, such as '$" in told
        assert "'Boarded' read as dates (dates: time since the first date, hour of day" in told

    @pytest.mark.filterwarnings("ignore:Excluded")
    def test_polars(self, fitted):
        X, y = ship()
        other = CCMSelector(2).fit(pl.from_pandas(X), y)
        assert_array_equal(other.ranking_, fitted.ranking_)
        assert_array_equal(other.column_kinds_, KINDS)
        assert list(other.set_output(transform="polars").transform(pl.from_pandas(X)).columns) == [
            "Pclass",
            "Sex",
        ]

    @pytest.mark.filterwarnings("ignore:Excluded")
    def test_an_array_of_objects(self, fitted):
        X, y = ship()
        array = X.drop(columns="PassengerId").astype(object).to_numpy()
        other = CCMSelector(2).fit(array, y)
        assert_array_equal(other.column_kinds_, KINDS[1:])
        assert other.get_support(indices=True).tolist() == [0, 2]
        array[pd.isna(array)] = ""
        assert other.transform(array)[0].tolist() == X[["Pclass", "Sex"]].iloc[0].tolist()

    def test_columns_come_back_as_they_are(self, fitted):
        X, y = ship()
        selector = CCMSelector(6).set_output(transform="pandas")
        with pytest.warns(UserWarning, match="Excluded"):
            kept = selector.fit(X, y).transform(X)
        pd.testing.assert_frame_equal(
            kept, X[["Pclass", "Sex", "Fare", "Cabin", "Embarked", "Boarded"]], check_exact=True
        )

    def test_what_is_read_can_be_said(self):
        X, y = ship()
        said = {
            "PassengerId": "number",
            "Pclass": "category",
            "Name": "drop",
            "Ticket": "drop",
            "Cabin": "drop",
            "Boarded": "number",
        }
        selector = CCMSelector(2, column_types=said).fit(X, y)  # and no warning
        assert selector.column_kinds_.tolist() == [
            "number",
            "category",
            "dropped",
            "category",
            "dropped",
            "number",
            "dropped",
            "category",
            "number",
        ]
        assert selector.ranking_[[2, 4, 6]].min() == 7

    def test_other_ways_to_read_it(self):
        X, y = ship()
        with pytest.raises(ValueError, match="are not numeric: 'Name', 'Sex'"):
            CCMSelector(2, column_types="strict").fit(X, y)
        with pytest.raises(ValueError, match=r"column_types names 'Sexe'.* Did you mean 'Sex'"):
            CCMSelector(2, column_types={"Sexe": "category"}).fit(X, y)
        with pytest.raises(ValueError, match="column_types has 'words' for column 'Sex'"):
            CCMSelector(2, column_types={"Sex": "words"}).fit(X, y)
        with pytest.raises(ValueError, match="'column_types' parameter"):
            CCMSelector(2, column_types="any").fit(X, y)

    @pytest.mark.filterwarnings("ignore:Excluded")
    def test_other_entries(self):
        X, y = ship()
        assert unexplained_variance(X[["Sex", "Pclass"]], y) < 0.8
        stable = StabilitySelector(CCMSelector(2), n_pairs=3).fit(X, y)
        assert stable.frequencies_[X.columns.get_loc("Sex")] == 1.0
        assert not stable.frequencies_[np.isin(KINDS, OUT)].any()

    def test_every_half_is_read_as_all_samples_are(self):
        """In halves, row numbers have holes and levels hardly repeat."""
        rng = np.random.default_rng(0)
        X = pd.DataFrame(
            {
                "id": np.arange(N),
                "shop": [f"s{i}" for i in rng.integers(0, 120, N)],
                "x": rng.standard_normal(N),
            }
        )
        with pytest.warns(UserWarning, match="values hardly repeat, as in row identifiers: 'id'"):
            stable = StabilitySelector(CCMSelector(1), n_pairs=2).fit(X, np.arange(N) % 2)
        assert stable.frequencies_[0] == 0.0


def test_row_numbers_that_are_given_or_plain_arrays_are_used():
    rng = np.random.default_rng(0)
    t = np.arange(N)
    X = pd.DataFrame({"t": t, "x": rng.standard_normal(N), "z": rng.standard_normal(N)})
    y = X["x"] + np.sin(t / 30.0)
    given = CCMSelector(1, given="t").fit(X, y)
    assert given.column_kinds_.tolist() == ["number"] * 3
    assert CCMSelector(1).fit(np.c_[t, X["x"]], y).column_kinds_.tolist() == ["number"] * 2


def test_nothing_is_left():
    X = pd.DataFrame({"id": np.arange(N), "name": [f"r{i}" for i in range(N)]})
    with pytest.raises(ValueError, match=r"No column is left to select from. Excluded because"):
        CCMSelector(1).fit(X, np.arange(N) % 2)


def test_a_group_without_its_row_numbers():
    X, y = ship()
    frame = X[["PassengerId", "Pclass", "Sex"]]
    with pytest.warns(UserWarning, match="'PassengerId'"):
        selector = CCMSelector(1, feature_groups={"g": ["PassengerId", "Pclass"]}).fit(frame, y)
    assert selector.ranking_.tolist() in ([2, 2, 1], [1, 1, 2])


def test_constants_and_columns_left_out_are_told_apart():
    X, y = ship()
    frame = X[["PassengerId", "Pclass", "Sex"]].assign(k="same", nothing=None)
    with pytest.warns(UserWarning, match="1 constant feature|Excluded") as said:
        selector = CCMSelector(1).fit(frame, y)
    texts = [str(each.message) for each in said]
    assert any(text.startswith("1 constant feature") for text in texts)
    assert any("because empty: 'nothing'" in text for text in texts)
    assert selector.column_kinds_[-1] == "empty"


@pytest.mark.parametrize("effect", ["trend", "hour", "weekday", "season"])
def test_a_date_is_found_by_its_trend_and_by_its_cycles(effect):
    rng = np.random.default_rng(0)
    when = pd.Series(
        pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 2 * 525_600, N), unit="min")
    )
    signal = {
        "trend": when.astype("int64").to_numpy().astype(float),
        "hour": np.sin(2 * np.pi * when.dt.hour / 24),
        "weekday": (when.dt.day_of_week > 4).astype(float),
        "season": np.cos(2 * np.pi * when.dt.day_of_year / 365),
    }[effect]
    y = (signal - signal.mean()) / signal.std() + 0.7 * rng.standard_normal(N)
    X = pd.DataFrame(rng.standard_normal((N, 6)), columns=list("abcdef")).assign(when=when)
    assert CCMSelector(1).fit(X, y).support_[-1]
    assert CCMSelector(1).fit(X.assign(when=when.astype(str)), y).support_[-1]


def test_a_date_has_a_variance_of_one():
    days = pd.date_range("2020-01-01", periods=N, freq="53h")
    X = pd.DataFrame({"x": np.arange(N) ** 1.5, "when": days})
    columns = read(X, np.arange(N) % 2, TableOptions()).columns(True)
    Z = columns.X.take(np.arange(N)) * columns.units.scale
    assert_array_equal(columns.units.sizes[np.argsort(columns.units.sizes)], [1, 7])
    assert Z.var(axis=0).sum() == pytest.approx(2.0)


def test_long_tables_of_text_are_read_in_seconds():
    """No loop over cells does more than look a value up."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"t{j}": rng.choice(list("abcdefgh"), 100_000) for j in range(4)})
    assert read(X, X["t0"] == "a", TableOptions()).X.shape == (100_000, 32)


def test_row_numbers_among_many_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 5, (50, 400))).add_prefix("c")
    X["row"] = rng.permutation(50)
    X["big"] = np.int64(2**62) - np.arange(50)
    kinds = read(X, np.arange(50) % 2, TableOptions()).kinds
    assert np.flatnonzero(kinds == "identifier").tolist() == [400, 401]
