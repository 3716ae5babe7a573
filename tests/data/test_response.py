"""Responses: what is missing, mixed or of several columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils import _safe_indexing

from covmin import CCMSelector
from covmin.data.response import guess_task

LABELS = ["a", "b", None, "a", "b", "a"]
NUMBERS = [1.0, 2.0, None, 1.5, 2.5, 3.5]
X = np.random.default_rng(0).standard_normal((6, 2))


@pytest.mark.parametrize(
    "y",
    [
        np.array(LABELS, dtype=object),
        np.array([*LABELS[:2], np.nan, *LABELS[3:]], dtype=object),
        pd.Series(LABELS),
        pd.Series(LABELS, dtype="string"),
        pd.Series(LABELS, dtype="category"),
        pd.Series(NUMBERS),
        pd.DataFrame({"u": NUMBERS, "v": range(6)}),
        pl.Series(LABELS),
        pl.Series(NUMBERS),
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]}-{getattr(y, 'dtype', 'frame')}",
)
def test_samples_without_a_response_are_left_out(y):
    with pytest.warns(UserWarning, match="response of 1 of 6 samples is missing"):
        fitted = CCMSelector(1).fit(X, y)
    there = [0, 1, 3, 4, 5]
    without = CCMSelector(1).fit(X[there], _safe_indexing(y, there))
    assert_array_equal(fitted.weights_, without.weights_)
    assert fitted.objective_ == without.objective_


@pytest.mark.parametrize(
    "y",
    [
        pd.DataFrame({"u": np.arange(6.0), "v": list("xyxyxy")}),
        np.array(["a", 1.5] * 3, dtype=object),
    ],
    ids=["frame", "array"],
)
def test_text_beside_numbers(y):
    with pytest.raises(ValueError, match="both text and numbers"):
        CCMSelector(1).fit(X, y)


def test_several_labels_of_text_are_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Y = pd.DataFrame({"u": np.where(X[:, 0] > 0, "p", "q"), "v": np.where(X[:, 1] > 0, "r", "s")})
    selector = CCMSelector(2).fit(X, Y)
    assert selector.task_ == "classification"
    assert_array_equal(selector.get_support(indices=True), [0, 1])


def test_a_class_that_only_repeats_rows_of_another():
    X = np.array([[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]]).T * [1.0, -1.0]
    y = ["b", "a", "b", "a", "c", "c", "c", "c"]  # no row of a comes first
    selector = CCMSelector(n_features_to_select="auto").fit(np.hstack([X, X**2]), y)
    assert selector.n_features_ >= 1


def test_a_price_is_read_as_a_number_without_a_word():
    price = np.random.default_rng(0).integers(300, 18_000, 1000)
    assert guess_task(price) == "regression"  # warnings are errors
    assert guess_task(25 * np.arange(2700, 5000, 9) // 25) == "regression"  # of grams
    with pytest.warns(UserWarning, match="distinct integers in 400 samples"):
        assert guess_task(np.arange(400) // 8) == "classification"


def test_few_samples_are_said_to_be_few():
    X = np.random.default_rng(0).standard_normal((19, 3))
    with pytest.warns(UserWarning, match="With 19 samples, ranks are hardly better than chance"):
        CCMSelector(1).fit(X, X[:, 0])
