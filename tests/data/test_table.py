"""What a fit is given: read without a trace on the selector, sampled, brought into memory."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from covmin import CCMSelector
from covmin.data import TableOptions, read
from covmin.data.blocks.array import ArrayBlocks, Blocks
from covmin.data.standardize import DistinctRows
from covmin.remarks import CovminWarning, InputError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
y = np.repeat([0, 1, 2], [50, 8, 2])
FRAME = pd.DataFrame(X, columns=list("abcd"))


OPTIONS = TableOptions()


def test_a_table_is_read_once():
    table = read(FRAME, y, OPTIONS)
    assert list(table.names) == list("abcd")
    assert read(table, None, OPTIONS) is table


class TestGroupsOfRows:
    def test_follow_the_samples(self):
        response = np.where(np.arange(60) == 3, np.nan, X[:, 0])
        weight = np.arange(60) != 7
        with pytest.warns(CovminWarning, match="is missing") as caught:
            table = read(X, response, OPTIONS, weight, groups=np.arange(60))
        assert_array_equal(table.groups, np.delete(np.arange(60), [3, 7]))
        assert [each.message.remark.code for each in caught] == ["missing-responses"]

    @pytest.mark.parametrize("groups", [range(59), [None, *range(59)]], ids=["short", "missing"])
    def test_are_refused(self, groups):
        with pytest.raises(InputError) as raised:
            read(X, y, OPTIONS, groups=groups)
        assert raised.value.parameter == "groups"


@pytest.mark.parametrize("table", [X, ArrayBlocks(X)], ids=["array", "source"])
def test_a_sample_keeps_rows_responses_and_weights_together(table):
    weight = np.arange(1.0, 61.0)
    samples = read(table, y, OPTIONS, weight)
    columns = samples.columns(True)
    some = samples.distinct(columns.distinct(1), 20)
    rows = np.rint(some.weight - 1).astype(int)
    assert np.unique(rows).size == 20
    assert_array_equal(some.X, X[rows])
    assert_array_equal(some.response.Y, samples.response.Y[rows])
    # Classes that were not drawn leave no gap in the numbers of those that were.
    assert_array_equal(np.unique(some.response.labels), np.arange(np.unique(y[rows]).size))
    again, other = (samples.distinct(columns.distinct(seed), 20).weight for seed in (1, 2))
    assert_array_equal(again, some.weight)
    assert not np.array_equal(other, some.weight)


def test_as_many_rows_as_there_are_come_into_memory():
    samples = read(ArrayBlocks(X), y, OPTIONS)
    assert isinstance(samples.X, Blocks)
    rows = DistinctRows(np.arange(60), np.full(60, 1 / 60), np.arange(60))
    assert_array_equal(samples.distinct(rows, 60).X, X)


def test_names_of_an_earlier_fit_do_not_stay():
    selector = CCMSelector(2).fit(FRAME, y)
    assert list(selector.feature_names_in_) == list("abcd")
    selector.fit(X, y)
    assert not hasattr(selector, "feature_names_in_")
    assert list(selector.get_feature_names_out()) == [
        f"x{j}" for j in selector.get_support(indices=True)
    ]
    selector.transform(X)  # and no warning of names that were there in fit


class TestWarnings:
    @pytest.fixture
    def table(self):
        rng = np.random.default_rng(0)
        names = [f"u{i}" for i in range(60)]
        return pd.DataFrame({"id": names, "a": rng.standard_normal(60), "e": np.nan, "c": 1.0})

    def test_empty_columns_are_not_called_constant(self, table):
        with pytest.warns(UserWarning, match="1 feature without values is ranked last: 'e'"):
            CCMSelector(1).fit(table[["a", "e"]], table["a"])
        with pytest.warns(UserWarning, match="1 constant feature is ranked last: 'c'"):
            CCMSelector(1).fit(table[["a", "c"]], table["a"])

    def test_a_given_identifier_is_kept(self, table):
        columns = table[["id", "a"]]
        with pytest.warns(UserWarning, match="always selected, here unused: 'id'"):
            CCMSelector(1, given="id").fit(columns, table["a"])


def test_the_response_is_a_column_of_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    for column in (pyarrow.array(y), pyarrow.chunked_array([y]), pyarrow.table({"y": y})):
        assert_array_equal(read(FRAME, column, OPTIONS).response.labels, y)


def test_an_index_in_another_order_is_noticed():
    labels = pd.Series(y)
    with pytest.warns(CovminWarning, match=r"pass y\.loc\[X\.index\]"):
        read(FRAME, labels[::-1], OPTIONS)
    read(FRAME, labels.set_axis(range(100, 160)), OPTIONS)  # warnings are errors


def test_the_name_of_the_response_is_not_the_response():
    with pytest.raises(InputError, match=r"Pass the response itself, such as X\['d'\]"):
        CCMSelector(1).fit(FRAME, "d")
