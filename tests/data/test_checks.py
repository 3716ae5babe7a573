"""Input that is refused or taken, one test for each kind."""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from covmin import (
    CCMSelector,
    KnockoffSelector,
    StabilitySelector,
    conditional_covariance_trace,
    unexplained_variance,
)
from covmin.kernels import Gaussian

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcde"))
TEXT = FRAME.assign(b=list("uvwx") * 10)
STRICT = {"column_types": "strict"}


@pytest.fixture(scope="module")
def expected():
    return CCMSelector(2).fit(X, y)


class Table(pd.DataFrame):
    @property
    def _constructor(self):
        return Table


class Streamed:
    """What a relation of DuckDB and others offer: a stream of Arrow data, and nothing else."""

    def __init__(self, frame):
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self._frame.__arrow_c_stream__(requested_schema)


def with_entry(value, dtype=np.float64):
    changed = X.astype(dtype)
    changed[3, 2] = value
    return changed


def read_only():
    array = X.copy()
    array.flags.writeable = False
    return array


def memory_mapped(folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


SAME = "same as the plain array"
WORKS = "works"

# row of the table: (X, y, parameters, what happens: SAME, WORKS, or the words of the error)
CASES = {
    "NaN in X": (with_entry(np.nan), y, {}, WORKS),
    "NaN in X refused": (
        with_entry(np.nan),
        y,
        STRICT,
        "values are missing in 2",
    ),
    "infinity in X": (with_entry(np.inf), y, {}, "infinity in 1 column: 2. Replace"),
    "None in X": (with_entry(None, object), y, {}, WORKS),
    "NaN in a frame": (
        FRAME.mask(FRAME > 2),
        y,
        STRICT,
        "values are missing in",
    ),
    "NaN in a polars frame": (
        pl.DataFrame(with_entry(np.nan)),
        y,
        STRICT,
        "missing in 'column_2'",
    ),
    "lazy frame": (pl.DataFrame(X).lazy(), y, {}, SAME),
    "Arrow table": (pa.Table.from_pandas(FRAME), y, {}, SAME),
    "stream of Arrow data": (Streamed(pl.DataFrame(X)), y, {}, SAME),
    "frame without columns": (pl.DataFrame(X)[:, :0], y, {}, "no columns"),
    "text among numbers": (with_entry("x", object), y, {}, WORKS),
    "text in an array": (TEXT.to_numpy(), y, {}, WORKS),
    "text in a frame": (TEXT, y, {}, WORKS),
    "text where numbers are asked for": (TEXT, y, STRICT, "are not numeric: 'b'"),
    "numbers as objects": (X.astype(object), y, {}, SAME),
    "numbers as text": (X.astype(str), y, {}, SAME),
    "dates in a frame": (FRAME.assign(b=pd.date_range("2020", periods=40)), y, {}, WORKS),
    "durations in an array": (
        (X * 1e6).astype("timedelta64[s]"),
        y,
        {},
        WORKS,
    ),
    "short durations in an array": ((X * 1e9).astype("timedelta64[ns]"), y, {}, WORKS),
    "durations in a frame": (FRAME.assign(b=pd.to_timedelta(range(40))), y, {}, WORKS),
    "dates where numbers are asked for": (
        FRAME.assign(b=pd.date_range("2020", periods=40)),
        y,
        STRICT,
        "are not numeric: 'b'",
    ),
    "nullable dtype": (FRAME.astype("Float64"), y, {}, SAME),
    "nullable dtype with a gap": (FRAME.astype("Float64").mask(FRAME > 2), y, {}, WORKS),
    "bool": (X > 0, y, {}, WORKS),
    "integers near overflow": ((X * 2.0**61).astype(np.int64), y, {}, WORKS),
    "unsigned integers near overflow": (np.abs(X * 2.0**61).astype(np.uint64), y, {}, WORKS),
    "float16": (X.astype(np.float16), y, {}, WORKS),
    "longdouble": (X.astype(np.longdouble), y, {}, SAME),
    "big-endian": (X.astype(">f8"), y, {}, SAME),
    "complex": (X + 0j, y, {}, "Complex data not supported"),
    "sparse matrix": (scipy.sparse.csr_matrix(X), y, {}, SAME),
    "masked array": (np.ma.masked_array(X, X > 2), y, {}, "Masked arrays are not supported"),
    "dict": ({"a": X[:, 0]}, y, {}, "X is a dict, not a table. Pass an array or a frame"),
    "numpy matrix": (X.view(np.matrix), y, {}, "np.matrix is not supported"),
    "list of lists": (X.tolist(), y.tolist(), {}, SAME),
    "polars frame": (pl.DataFrame(X), y, {}, SAME),
    "subclass of a frame": (Table(FRAME), y, {}, SAME),
    "no rows": (X[:0], y[:0], {}, "0 sample"),
    "no columns": (X[:, :0], y, {}, "0 feature"),
    "one row": (X[:1], y[:1], {}, "1 sample"),
    "one column": (X[:, :1], y, {"n_features_to_select": 1}, WORKS),
    "one-dimensional X": (X[:, 0], y, {}, "Expected 2D array"),
    "three-dimensional X": (X[:, :, None], y, {}, "dim 3"),
    "no X": (None, y, {}, "Expected 2D array"),
    "no y": (X, None, {}, "requires y to be passed"),
    "y of another length": (X, y[:-1], {}, "inconsistent numbers of samples"),
    "only NaN in y": (X, np.full(40, np.nan), {}, "y contains NaN"),
    "complex y": (X, X[:, 0] + 1j, {}, "Complex data not supported"),
    "dates as y": (X, pd.date_range("2020", periods=40), {}, "y holds dates"),
    "bool y": (X, y > 0, {}, SAME),
    "one class": (X, np.zeros(40, int), {}, "y is constant"),
    "constant y": (X, np.full(40, 0.5), {}, "y is constant"),
    "a class with one member": (X, np.r_[2, y[1:]], {}, WORKS),
    "a class for every sample": (
        X,
        [f"s{i}" for i in range(40)],
        {},
        "Check that y does not identify the rows",
    ),
    "hardly two samples in a class": (
        X,
        [f"s{max(i, 4)}" for i in range(40)],
        {},
        "most classes have a single sample",
    ),
    "constant column": (np.c_[X, np.ones(40)], y, {}, WORKS),
    "only constant columns": (np.ones((40, 3)), y, {}, "nothing to select"),
    "duplicated columns": (np.c_[X, X], y, {}, WORKS),
    "collinear columns": (np.c_[X, X.sum(axis=1)], y, {}, WORKS),
    "columns of size 1e300": (X * 1e300, y, {}, SAME),
    "columns of size 1e-300": (X * 1e-300, y, {}, SAME),
    "columns of all sizes": (X * 10.0 ** np.array([300, -300, 0, 9, -9]), y, {}, SAME),
    "columns far from zero": (X + 1e9, y, {}, SAME),
    "y of size 1e300": (X, y * 1e300, {"task": "regression"}, WORKS),
    "y of size 1e-300": (X, y * 1e-300, {"task": "regression"}, WORKS),
    "repeated column names": (pd.DataFrame(X, columns=list("aabcd")), y, {}, "two columns named"),
    "names of mixed kinds": (pd.DataFrame(X, columns=["a", 1, 2, 3, 4]), y, {}, "Feature names"),
    "names that are numbers": (pd.DataFrame(X), y, {}, SAME),
    "not contiguous": (np.repeat(X, 2, axis=1)[:, ::2], y, {}, SAME),
    "Fortran order": (np.asfortranarray(X), y, {}, SAME),
    "read-only": (read_only(), y, {}, SAME),
    "memory-mapped": (memory_mapped, y, {}, SAME),
    "epsilon=0": (X, y, {"epsilon": 0}, "'epsilon' parameter"),
    "epsilon=1e-300": (X, y, {"epsilon": 1e-300}, WORKS),
    "epsilon=1e300": (X, y, {"epsilon": 1e300}, WORKS),
    "epsilon=NaN": (X, y, {"epsilon": np.nan}, "'epsilon' parameter"),
    "epsilon=[]": (X, y, {"epsilon": []}, "epsilon must be positive"),
    "bandwidth=0": (X, y, {"kernel": Gaussian(0.0)}, 'must be "median" or a positive number'),
    "bandwidth=1e300": (X, y, {"kernel": Gaussian(1e300)}, "is too extreme"),
    "bandwidth=1e-300": (X, y, {"kernel": Gaussian(1e-300)}, "is too extreme"),
    "m=0": (X, y, {"n_features_to_select": 0}, "'n_features_to_select' parameter"),
    "m=-1": (X, y, {"n_features_to_select": -1}, "'n_features_to_select' parameter"),
    "m over the number of columns": (X, y, {"n_features_to_select": 6}, "X has 5 feature"),
    "m=1.5": (X, y, {"n_features_to_select": 1.5}, "'n_features_to_select' parameter"),
    "m=NaN": (X, y, {"n_features_to_select": np.nan}, "'n_features_to_select' parameter"),
    "m=None": (X, y, {"n_features_to_select": None}, "'n_features_to_select' parameter"),
    'm="3"': (X, y, {"n_features_to_select": "3"}, "'n_features_to_select' parameter"),
    "m=[2]": (X, y, {"n_features_to_select": [2]}, "has two integers"),
    "m=1.0": (X, y, {"n_features_to_select": 1.0}, WORKS),
    "m=0.01": (X, y, {"n_features_to_select": 0.01}, WORKS),
    "epsilon<0": (X, y, {"epsilon": -1.0}, "'epsilon' parameter"),
    "epsilon=[0.1, -1]": (X, y, {"epsilon": [0.1, -1]}, "must be positive"),
    "no jobs": (X, y, {"n_jobs": 0}, "'n_jobs' parameter"),
    "sparse y": (X, scipy.sparse.csr_array(y[:, None]), {}, "y is sparse"),
    "text y": (X, ["a", "b"] * 20, {"task": "regression"}, "requires numbers"),
    "continuous classes": (X, X[:, 0], {"task": "classification"}, "continuous"),
    "polynomial fourier": (
        X,
        y,
        {"kernel": "polynomial", "approximation": "fourier"},
        "no random Fourier features",
    ),
    "m as a NumPy integer": (X, y, {"n_features_to_select": np.int64(2)}, SAME),
}


@pytest.mark.parametrize("name", CASES)
def test_input(name, tmp_path, expected):
    samples, response, parameters, outcome = CASES[name]
    if callable(samples):
        samples = samples(tmp_path)
    parameters = {"n_features_to_select": 2} | parameters
    selector = CCMSelector(**parameters)
    if outcome not in (SAME, WORKS):
        with pytest.raises((TypeError, ValueError), match=re.escape(outcome)):
            selector.fit(samples, response)
        assert not hasattr(selector, "support_")
        return
    with warnings.catch_warnings():
        # The two warnings that belong to a table; any other is a leak. Two signs give y away.
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="1 constant feature|Too good to be true")
        selector.fit(samples, response)
    kept = selector.transform(samples)
    d = selector.n_features_in_
    assert kept.shape == (40, selector.n_features_)
    assert sorted(selector.ranking_) == list(range(1, d + 1))
    assert np.isfinite(selector.weights_).all()
    if outcome == SAME:
        assert_array_equal(selector.ranking_, expected.ranking_)


ENTRY_POINTS = {
    "CCMSelector": CCMSelector(2, column_types="strict").fit,
    "KnockoffSelector": KnockoffSelector(CCMSelector(column_types="strict")).fit,
    "StabilitySelector": StabilitySelector(CCMSelector(2, column_types="strict"), n_pairs=1).fit,
    "trace": conditional_covariance_trace,
    "share": partial(unexplained_variance, column_types="strict"),
}
DATES = pd.DataFrame({name: pd.date_range("2020", periods=40) for name in "ab"})


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.filterwarnings("ignore:fdr=")
class TestEveryEntryPoint:
    def test_masks(self, entry_point):
        for samples, response in (
            (np.ma.masked_array(X, X > 2), y),
            (X, np.ma.masked_array(y, X[:, 0] > 2)),
        ):
            with pytest.raises(TypeError, match="Masked arrays are not supported"):
                ENTRY_POINTS[entry_point](samples, response)

    def test_dates(self, entry_point):
        for dates in (DATES, pl.from_pandas(DATES)):
            with pytest.raises(ValueError, match="are not numeric: 'a', 'b'"):
                ENTRY_POINTS[entry_point](dates, y)
        for array in (DATES.to_numpy(), DATES.to_numpy() - DATES.to_numpy()[0]):
            with pytest.raises(ValueError, match="X holds dates or durations"):
                ENTRY_POINTS[entry_point](array, y)


def test_the_criterion_takes_categories_but_no_missing_values():
    frame = FRAME.assign(k=pd.Categorical(np.where(y > 0, "u", "v")))
    alone = conditional_covariance_trace(frame[["k"]], y, epsilon=1e-3)
    assert alone < 0.1 * conditional_covariance_trace(frame[["b"]], y, epsilon=1e-3)
    with pytest.raises(ValueError, match="values are missing in 'b'"):
        conditional_covariance_trace(FRAME.assign(b=FRAME["b"].where(FRAME["b"] > 0)), y)


def test_the_response_to_a_mapped_file_is_looked_at(tmp_path):
    with pytest.raises(TypeError, match="Masked arrays are not supported"):
        CCMSelector(2).fit(memory_mapped(tmp_path), np.ma.masked_array(y, X[:, 0] > 2))
    with pytest.raises(ValueError, match="y holds dates"):
        CCMSelector(2).fit(memory_mapped(tmp_path), DATES["a"])
