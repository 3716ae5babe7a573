"""Times to an event in the forms in which users hold them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from covmin.data import TableOptions, read
from covmin.data.response import encode_response
from covmin.data.survival import as_structured, survival_times

EVENT = np.array([True, False, True, True])
TIME = np.array([3.0, 5.0, 1.0, 2.5])
PLAIN = np.column_stack([EVENT, TIME])


def records(kinds=("?", "f8"), names=("died", "days"), columns=(EVENT, TIME)):
    dtype = list(zip(names, kinds, strict=True))
    return np.array(list(zip(*columns, strict=True)), dtype=dtype)


@pytest.mark.parametrize(
    "y",
    [
        records(),
        records(("f8", "?"), ("days", "died"), (TIME, EVENT)),
        PLAIN,
        PLAIN[:, ::-1],
        list(zip(EVENT.tolist(), TIME.tolist(), strict=True)),
        pd.DataFrame({"died": EVENT, "days": TIME}),
        pd.DataFrame({"days": TIME, "died": EVENT.astype(int)}),
        pd.DataFrame({"days": TIME, "died": pd.array(EVENT, dtype="boolean")}),
        pl.DataFrame({"days": TIME, "died": EVENT}),
        PLAIN.astype(object),
        records(("O", "f8")),
    ],
    ids=lambda y: type(y).__name__,
)
def test_every_form_is_the_same(y):
    np.testing.assert_array_equal(survival_times(y, "survival"), PLAIN)


def test_only_records_are_read_without_being_told():
    np.testing.assert_array_equal(survival_times(records(), "auto"), PLAIN)
    np.testing.assert_array_equal(survival_times(as_structured(PLAIN), "auto"), PLAIN)


def test_where_both_could_be_events_the_first_is():
    both = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(survival_times(both, "survival"), both)
    frame = pd.DataFrame({"time": [1, 0, 1], "seen": [True, True, False]})
    assert survival_times(frame, "survival")[:, 0].tolist() == [1.0, 1.0, 0.0]


def test_gaps_are_not_numbers():
    frame = pd.DataFrame({"died": [True, None, False, True], "days": [1.0, 2.0, np.nan, 4.0]})
    found = survival_times(frame, "survival")
    assert np.isnan(found).any(axis=1).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (TIME, r"an event and a time, but y has 1 column: pass a structured"),
        (np.column_stack([PLAIN, TIME]), r"y has 3 columns"),
        (
            np.column_stack([EVENT + 1, TIME]),
            'For a status of 1 and 2, for example, pass y."status"',
        ),
        (pd.DataFrame({"s": ["dead"] * 4, "t": TIME}), "a column of y contains 'dead'. Convert"),
        (
            pd.DataFrame({"s": EVENT, "t": pd.to_timedelta(TIME, unit="D")}),
            "a column of y contains timedelta64",
        ),
    ],
)
def test_what_is_no_event_and_time_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        survival_times(y, "survival")


def test_other_records_are_refused():
    with pytest.raises(ValueError, match=r"'a' \(float64\), 'b' \(float64\), which is not a valid"):
        survival_times(records(("f8", "f8"), ("a", "b"), (TIME, TIME)), "auto")
    with pytest.raises(ValueError, match="Pass one column of classes or numbers"):
        encode_response(records(), "auto")


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (PLAIN - [0.0, 2.0], "A time in y is -1; times must be"),
        (PLAIN * [0.0, 1.0], r"events in y occur at 0 times"),
        (
            np.column_stack([EVENT, np.ones(4)]),
            r"events in y occur at 1 time,",
        ),
        (PLAIN * [1.0, np.inf], "A time in y is inf"),
    ],
)
def test_times_that_tell_nothing_are_refused(times, message):
    with pytest.raises(ValueError, match=message):
        encode_response(times, "survival")


def test_the_response_has_unit_variance_and_keeps_its_times():
    weight = np.array([1.0, 2.0, 1.0, 3.0])
    response = encode_response(PLAIN, "survival", sample_weight=weight)
    assert response.task == "survival"
    assert weight @ response.Y[:, 0] == pytest.approx(0.0, abs=1e-12)
    assert weight @ response.Y[:, 0] ** 2 / weight.sum() == pytest.approx(1.0)
    some = response.of_rows(np.array([True, False, True, False]))
    np.testing.assert_array_equal(some.times, PLAIN[[0, 2]])
    np.testing.assert_array_equal(response.strata, [1, 0, 1, 1])
    np.testing.assert_array_equal(some.strata, [0, 0])  # of one kind


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="Masked arrays"):
        read(PLAIN, np.ma.masked_array(PLAIN, PLAIN > 4.0), TableOptions(task="survival"))
