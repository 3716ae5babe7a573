"""Parquet files: what they hold, what is refused, and the same fit as in memory."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin import CCMSelector, Fourier, open_parquet

pa = pytest.importorskip("pyarrow", reason="pip install pyarrow")
parquet = pytest.importorskip("pyarrow.parquet", reason="pip install pyarrow")

N, D = 2200, 5
NAMES = [f"c{j}" for j in range(D)]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D))
y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * RNG.standard_normal(N)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The data in three files, with row groups that fit no block."""
    folder = tmp_path_factory.mktemp("files")
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y)
    for part, rows in enumerate(np.array_split(np.arange(N), 3)):
        table = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        parquet.write_table(table, folder / f"{part}.parquet", row_group_size=300)
    return folder


def test_the_files_of_a_folder_are_one_table(folder):
    source, response = open_parquet(folder, target="y")
    assert source.shape == (N, D)
    assert source.names == NAMES
    assert_array_equal(response, y)
    starts, blocks = zip(*source.blocks(), strict=True)
    assert_array_equal(starts, np.cumsum([0, *map(len, blocks[:-1])]))
    assert_array_equal(np.concatenate(blocks), X)
    rows = np.array([0, 733, 734, 2199])  # on both sides of an end of a file
    assert_array_equal(source.take(rows), X[rows])
    assert_array_equal(source.keep(np.arange(N) >= 733).take(np.array([0, 1])), X[[733, 734]])
    narrow = source.restrict(np.array([3, 0]))
    assert narrow.names == ["c3", "c0"]
    assert_array_equal(narrow.take(rows), X[rows][:, [3, 0]])


def test_a_file_is_decoded_a_part_at_a_time(tmp_path):
    a = np.arange(20_000.0)
    parquet.write_table(pa.table({"a": a, "y": a}), tmp_path / "x.parquet")
    blocks = [block for _, block in open_parquet(tmp_path, "y")[0].blocks()]
    assert max(map(len, blocks)) <= 1024
    assert_array_equal(np.concatenate(blocks)[:, 0], a)


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (("float32", "float32"), "float32"),
        (("float32", "float64"), "float64"),
        (("int8", "bool"), "float64"),
    ],
)
def test_numbers_of_any_kind(dtypes, expected, tmp_path):
    frame = pd.DataFrame({name: [0, 1, 0, 1] for name in "uv"})
    frame = frame.astype(dict(zip("uv", dtypes, strict=True))).assign(y=range(4))
    frame.to_parquet(tmp_path / "x.parquet")
    source, _ = open_parquet(tmp_path, "y")
    assert source.dtype == expected
    assert_array_equal(source.take(np.arange(4)), frame[["u", "v"]].to_numpy(float))


def test_a_fit_is_that_in_memory(folder):
    options = {
        "approximation": Fourier(64),
        "epsilon": 0.01,
        "task": "regression",
        "interactions": False,
    }
    fitted = CCMSelector(3, **options).fit(*open_parquet(folder, "y"))
    expected = CCMSelector(3, **options).fit(X, y)
    assert fitted.approximation_ == "fourier"
    assert list(fitted.get_feature_names_out()) == ["c0", "c1", "c2"]
    assert_array_equal(fitted.ranking_, expected.ranking_)
    assert_allclose(fitted.weights_, expected.weights_, atol=1e-6)
    assert_allclose(fitted.objective_, expected.objective_, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, "no column 'z'"),
        ({"target": "y", "columns": ["c0", "nope"]}, "'nope'"),
        ({"target": "y", "columns": iter(["c0", "y"])}, "remove it from columns"),
    ],
)
def test_columns_that_cannot_be_features(folder, options, message):
    with pytest.raises(ValueError, match=message):
        open_parquet(folder, **options)


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        open_parquet(tmp_path / "nowhere", "y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no \*.parquet files"):
        open_parquet(tmp_path / "empty", "y")
    parquet.write_table(pa.table({"word": ["a", "b"], "y": [1, 2]}), tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="'word'"):
        open_parquet(tmp_path / "text.parquet", "y")
    (tmp_path / "table.csv").write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match="not a Parquet file"):
        open_parquet(tmp_path / "table.csv", "y")


@pytest.mark.parametrize("approximation", ["exact", "fourier"], ids=["in memory", "in blocks"])
def test_gaps_are_told_by_name(tmp_path, approximation):
    frame = pd.DataFrame(X[:60, :2], columns=["u", "v"]).assign(y=y[:60])
    frame.loc[59, "v"] = np.nan
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="values are missing in 'v'"):
        CCMSelector(1, approximation=approximation, column_types="strict").fit(
            *open_parquet(tmp_path, "y")
        )
    frame["v"] = frame["v"].fillna(np.inf)
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="infinity in 1 column: 'v'"):
        CCMSelector(1, approximation=approximation).fit(*open_parquet(tmp_path, "y"))
