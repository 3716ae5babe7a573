"""Dates and times, out of text and as columns."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin.data.columns import read_by_itself
from covmin.data.parsing import encode_points, read_clock, read_dates


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["2024-01-31", "2023-12-01"], "2024-01-31"),
        (["2024-01-31T10:30:00", "2024-01-31 10:30:01.5"], "2024-01-31T10:30"),
        (["2024-01-31T10:30:00Z", "2024-02-01T09:00:00+01:00"], "2024-01-31T10:30"),
        (["2024/1/31", "2024/12/1"], "2024-01-31"),
        (["2024-01", "2024-02"], "2024-01-01"),
        (["31.12.2024 10:30", "1.1.2025 9:00"], "2024-12-31T10:30"),
        (["12/31/2024", "1/2/2024"], "2024-12-31"),
        (["31/12/2024", "1/2/2024"], "2024-12-31"),
        (["1/2/2024", "3/4/2024"], "2024-01-02"),
        (["1.2.2024", "3.4.2024"], "2024-02-01"),
        (["1-2-24", "3-4-99"], "2024-02-01"),
        (["3-4-99"], "1999-04-03"),
        (["31 Jan 2024", "1 February 2024"], "2024-01-31"),
        (["January 5, 2024", "Feb 6 2024"], "2024-01-05"),
        (["1/2/2024 1:30 PM", "1/2/2024 12:30 am"], "2024-01-02T13:30"),
    ],
)
def test_dates_in_text(texts, first):
    assert read_dates(texts)[0][0] == np.datetime64(first)


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["2024-02-30"],
        ["2024-13-01"],
        ["13/13/2024"],
        ["2024-01-01", "soon"],
        ["Foo 5, 2024"],
        ["12.5", "13.5"],
        ["10:30"],
        ["1.2.3"],
        ["2024-01-01 25:00"],
        ["2024-01-01", "1.1.2024"],
    ],
)
def test_what_is_no_date(texts):
    assert read_dates(texts) is None


def test_what_is_ambiguous_is_said():
    assert read_dates(["1/2/2024"])[1].endswith("'1/2/2024' for 2024-01-02")
    assert read_dates(["1.2.2024"])[1].endswith("'1.2.2024' for 2024-02-01")
    assert read_dates(["2024-02-01 12:30"])[1] == "dates as text"


def test_times_of_the_day():
    assert_allclose(read_clock(["0:30", "12:00 am", "11:00 PM"]), [0.5 / 24, 0, 23 / 24])
    assert read_clock(["25:00"]) is None
    assert read_clock(["13:00 pm"]) is None
    assert read_clock(["1.5"]) is None


DAYS = [dt.datetime(2024, 3, 30, 12), dt.datetime(2024, 4, 1, 18, 30), None]
COLUMNS = {
    "pandas": pd.Series(DAYS).astype("datetime64[ns]"),
    "zoned": pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("Europe/Berlin"),
    "arrow": pd.Series(DAYS).astype("datetime64[ns]").astype("timestamp[ns][pyarrow]"),
    "zoned arrow": pd.Series(pd.to_datetime(DAYS))
    .dt.tz_localize("Europe/Berlin")
    .astype("timestamp[us, tz=Europe/Berlin][pyarrow]"),
    "polars": pl.Series(DAYS),
    "zoned polars": pl.Series(DAYS).dt.replace_time_zone("Europe/Berlin"),
}


@pytest.mark.parametrize("library", COLUMNS)
def test_times_are_those_of_the_clock(library):
    expected = np.array(DAYS, dtype="datetime64[us]")
    assert_array_equal(read_by_itself(COLUMNS[library]).points, expected)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([dt.date(2024, 3, 1), None]),
        pd.Series([dt.date(2024, 3, 1), None], dtype="date32[day][pyarrow]"),
        pd.Series(pd.PeriodIndex(["2024-03", None], freq="M")),
    ],
    ids=["polars", "arrow", "period"],
)
def test_days_and_months(column):
    points = read_by_itself(column).points
    assert points[0] == np.datetime64("2024-03-01")
    assert np.isnat(points[1])


def hours(n, step=1):
    return np.datetime64("2024-01-01T00", "us") + np.arange(0, n * step, step) * np.timedelta64(
        3600_000_000, "us"
    )


@pytest.mark.parametrize(
    ("points", "cycles"),
    [
        (hours(20), []),  # within a day the time says it all
        (hours(30), ["hour of day"]),
        (hours(10, 24), ["weekday"]),
        (hours(9 * 24), ["hour of day", "weekday"]),
        (hours(400, 24), ["weekday", "time of year"]),
        (hours(60, 24 * 7), ["time of year"]),
        (hours(2 * 8784), ["hour of day", "weekday", "time of year"]),
        (hours(1), []),
        (np.arange("2020-01", "2024-01", dtype="datetime64[M]").astype("M8[us]"), ["time of year"]),
    ],
)
def test_a_cycle_counts_where_it_comes_again(points, cycles):
    block, names = encode_points(points)
    assert names == cycles
    assert block.shape == (points.size, 1 + 2 * len(cycles))
    assert_allclose(block[:, 1::2] ** 2 + block[:, 2::2] ** 2, 1.0)


def test_gaps_stay_gaps():
    points = np.r_[hours(300), np.datetime64("NaT")]
    block, _ = encode_points(points)
    assert np.isnan(block[-1]).all()
    assert not np.isnan(block[:-1]).any()
    assert block[0, 0] == 0.0


def test_cycles_meet_at_their_ends():
    block, _ = encode_points(hours(24 * 30))
    assert_allclose(block[0, 1:3], block[24, 1:3])
    assert_allclose(block[0, 3:5], block[24 * 7, 3:5])
    assert np.abs(block[23, 1:3] - block[24, 1:3]).max() < 0.3
