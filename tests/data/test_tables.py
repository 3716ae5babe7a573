"""Tables: categories, groups, mapped files and tensors become one matrix."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from covmin import data, open_parquet
from covmin.data.blocks import array
from covmin.data.blocks.array import ArrayBlocks

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcde"))


def read(X, y, **options):
    """The matrix and the layout of its columns."""
    table = data.read(X, y, data.TableOptions(**options))
    return table.X, table.layout


@pytest.mark.parametrize("dtype", ["object", "string", "Int64", "datetime64[ns]"])
def test_a_missing_category_is_a_level_of_its_own(dtype):
    values = [pd.Timestamp(1) if dtype.startswith("date") else 1] * 39
    frame = FRAME.assign(k=pd.Series([*values, pd.NA], dtype="object").astype(dtype))
    matrix, _ = read(frame, y, column_types={"k": "category"})
    assert_array_equal(matrix[:, 5:], np.eye(2)[[0] * 39 + [1]])


class TestSparseCategories:
    table = scipy.sparse.csr_matrix((X > 0).astype(float))

    def test_are_encoded_where_the_table_is_made_dense(self):
        matrix, plan = read(self.table, y, column_types=dict.fromkeys(range(5), "category"))
        assert matrix.shape == (40, 10)
        assert plan.categorical.all()

    def test_are_refused_where_it_is_read_in_blocks(self, monkeypatch):
        monkeypatch.setattr(array, "MEMORY_NUMBERS", 10)
        with pytest.raises(ValueError, match=r"read in blocks\. Encode these columns"):
            read(self.table, y, column_types=dict.fromkeys(range(5), "category"))


@pytest.mark.parametrize("groups", [np.zeros((5, 2)), [["a", "b"], ["c", "d", "e"]]])
def test_groups_of_two_dimensions(groups):
    with pytest.raises(ValueError, match="groups must be a flat list"):
        read(X, y, feature_groups=groups)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
def test_a_mapped_file_is_read_in_blocks(mapped, dtype):
    source, _ = read(mapped((10 * X).astype(dtype)), y)
    assert isinstance(source, ArrayBlocks)
    assert source.dtype == ("float32" if dtype == "float32" else "float64")
    assert_array_equal(source.take(np.arange(40)), (10 * X).astype(dtype))


def test_categories_of_a_mapped_file_are_those_of_the_array(mapped):
    """Its levels are counted, so it is a table like any other."""
    codes = np.c_[X[:, :3], np.arange(40) % 4]
    matrix, plan = read(mapped(codes), y, column_types={3: "category"})
    expected, expected_plan = read(codes, y, column_types={3: "category"})
    assert matrix.shape == (40, 7)
    assert_array_equal(matrix, expected)
    assert_array_equal(plan.source, expected_plan.source)
    assert isinstance(read(mapped(codes), y, column_types={})[0], ArrayBlocks)


def test_categories_of_a_file_read_in_blocks_are_refused(tmp_path):
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    FRAME.assign(y=y).to_parquet(tmp_path / "x.parquet")
    source, response = open_parquet(tmp_path, "y")
    with pytest.raises(ValueError, match="Encode these columns first"):
        read(source, response, column_types={"b": "category"})
    with pytest.raises(ValueError, match="names 'z', which is not a column"):
        read(source, response, column_types={"z": "category"})


class TestTensors:
    def test_in_main_memory_they_are_arrays_to_numpy(self):
        torch = pytest.importorskip("torch", reason="pip install 'covmin[torch]'")
        tensor = torch.as_tensor(X)
        table = data.read(tensor, torch.as_tensor(y), data.TableOptions())
        assert table.device is None
        assert np.shares_memory(table.X, X)
        assert_array_equal(table.passed[1], y)

    def test_elsewhere_they_are_computed_on_where_they_are(self):
        """Also where no such device is at hand: torch's has no numbers, but a place."""
        torch = pytest.importorskip("torch", reason="pip install 'covmin[torch]'")

        class Elsewhere(torch.Tensor):
            device = torch.device("meta")

        tensor = torch.as_tensor(X).as_subclass(Elsewhere)
        table = data.read(tensor, y, data.TableOptions())
        assert table.device == "meta"
        assert_array_equal(table.X, X)
