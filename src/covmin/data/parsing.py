"""Parse numbers, dates and times written as text, and encode dates as elapsed time and cycles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from .dtypes import is_missing

# Cells that mean "missing" in a column of numbers or dates.
_MISSING_MARKS = frozenset(
    ("", "-", "--", "–", "—", ".", "?", "na", "n/a", "#n/a", "nan", "null", "none", "missing")
)
_CURRENCIES = "$€£¥₹₽₩"
# Blanks within a line; each text is one line.
_BLANK = " \t\xa0\u2009\u202f"
# A number with an optional currency sign and unit; brackets mean a negative number in accounting.
_CELL = re.compile(
    rf"(?P<sign>[+−-]?)(?P<open>\(?)[{_BLANK}]*(?P<before>[{_CURRENCIES}]?)[{_BLANK}]*"
    rf"(?P<inner>[+−-]?)(?P<digits>9(?:[9.,'’{_BLANK}]*9)?\.?|[.,]9+)(?P<power>(?:[eE][+-]?9+)?)"
    rf"[{_BLANK}]*(?P<after>%|[{_CURRENCIES}]|[^\W\d_]+[²³]?|°\w?|)[{_BLANK}]*(?P<close>\)?)"
)
# Number formats, with every digit written as 9: thousands separators and decimal mark. The first
# one that fits a whole column is used.
_STYLES = [
    (thousands, decimal, re.compile(rf"9{{1,3}}(?:[{thousands}]999)+(?:[{decimal}]9*)?|{plain}"))
    for decimal, others in ((".", ","), (",", "."))
    for plain in (rf"9*[{decimal}]?9*",)
    for thousands in (others, f"'’{_BLANK}")
]
_DIGITS = str.maketrans("012345678", "9" * 9)
# A leading zero before another digit: codes are written like this, numbers are not.
_CODE = re.compile(rf"(?<![0-9.,'’{_BLANK}])0[0-9]")


@dataclass(frozen=True)
class Numerals:
    """Numbers parsed from texts, and how they were written."""

    values: np.ndarray  # (n_texts,)
    words: str


def is_missing_mark(text: str) -> bool:
    """Tell whether a cell of a column of numbers or dates marks a missing value.

    >>> is_missing_mark(" N/A "), is_missing_mark("0")
    (True, False)
    """
    return text.strip().casefold() in _MISSING_MARKS


def look_like_numbers(texts: Sequence[str]) -> np.ndarray:
    """Return a mask of the texts that look like numbers, each on its own."""
    shapes = _shapes("\n".join(" ".join(text.split("\n")).strip() for text in texts))
    fits = {shape: _CELL.fullmatch(shape) is not None for shape in dict.fromkeys(shapes)}
    return np.array([fits[shape] for shape in shapes], dtype=bool)


def _shapes(lines: str) -> list[str]:
    """Replace every digit by 9, so that texts that differ only in digits become equal."""
    return lines.translate(_DIGITS).split("\n")


def read_numerals(texts: Sequence[str]) -> Numerals | None:
    """Parse texts as numbers if all are written in the same format; None otherwise.

    One currency sign and one unit are allowed. Integers with a leading zero are codes, not
    numbers.

    >>> read_numerals(["$1,234.50", "(3)"]).values.tolist()
    [1234.5, -3.0]
    >>> read_numerals(["1.234,5", "12"]).values.tolist(), read_numerals(["007", "12"])
    ([1234.5, 12.0], None)
    """
    lines = "\n".join(text.strip() for text in texts)
    shapes = list(dict.fromkeys(_shapes(lines)))
    cells = [match.groupdict() for match in map(_CELL.fullmatch, shapes) if match is not None]
    if len(cells) < len(shapes) or lines.count("\n") >= len(texts) or _CODE.search(lines):
        return None
    units = {cell[place] for cell in cells for place in ("before", "after")} - {""}
    unit = units.pop() if units else ""
    # A unit that is a word must be in every cell: "12" and "12 kg" may have different units.
    everywhere = not unit.isalpha() or all(cell["after"] == unit for cell in cells)
    if units or not everywhere or not all(map(_is_signed_once, cells)):
        return None
    bodies = [cell["digits"] for cell in cells]
    style = next((each for each in _STYLES if all(map(each[2].fullmatch, bodies))), None)
    if style is None:
        return None
    thousands, decimal, _ = style
    plain = lines.replace(unit, "") if unit else lines
    plain = plain.translate(str.maketrans("", "", thousands + _BLANK + ")"))
    plain = plain.translate(str.maketrans(f"{decimal}−(", ".--"))
    values = np.array(plain.split("\n"), dtype=np.float64)
    return Numerals(values, _in_words(texts, bodies, unit, thousands, decimal))


def _is_signed_once(cell: dict[str, str]) -> bool:
    signs = [cell["sign"], cell["inner"], cell["open"]]
    return bool(cell["open"]) == bool(cell["close"]) and sum(map(bool, signs)) <= 1


def _in_words(
    texts: Sequence[str], bodies: list[str], unit: str, thousands: str, decimal: str
) -> str:
    """Describe how the numbers were written, with an example."""
    marks = (unit, decimal, *thousands)
    shown = max(texts[:100], key=lambda text: sum(mark in text for mark in marks if mark))
    said = f"numbers as text, such as {shown.strip()!r}"
    if decimal == "," and any("," in body for body in bodies):
        return f"{said}, with decimal commas"
    commas = [body for body in bodies if thousands == "," and "," in body]
    if commas and not any("." in body or body.count(",") > 1 for body in bodies):
        return f"{said}, with commas as thousands separators"
    return said


_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d{1,9})?))?"
_ZONE = r"\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?"
_AFTER = rf"(?:[T ]\s*{_TIME}(?P<half>\s*[aApP][mM])?{_ZONE})?"
_MONTH = r"(?P<name>[A-Za-z]{3,9})\.?"
# Date formats; the first one that fits all cells is used.
_DATES = [
    re.compile(pattern + _AFTER)
    for pattern in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?",
        r"(?P<a>\d{1,2})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})",
        rf"(?P<day>\d{{1,2}})[- ]{_MONTH}[- ](?P<year>\d{{4}})",
        rf"{_MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})",
    )
]
# ISO dates, which NumPy parses directly, with 9 for every digit.
_ISO = re.compile(r"9999-99-99(?:[T ]99:99(?::99(?:\.9{1,6})?)?)?")
_CLOCK = re.compile(_TIME + r"(?P<half>\s*[aApP][mM])?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# As in POSIX, two-digit years run from 1969 to 2068.
_CENTURY = 69
_SECONDS = "datetime64[us]"
_DAY = np.timedelta64(86_400_000_000, "us")
_YEAR = 365.2425


def read_dates(texts: Sequence[str]) -> tuple[np.ndarray, str] | None:
    """Parse texts as dates if all are written in the same format, and describe the format.

    Returns None otherwise. Time zones are ignored: times are local clock times.

    >>> read_dates(["2024-01-31 10:30", "2023-12-01"])[0].astype("datetime64[m]").tolist()
    [datetime.datetime(2024, 1, 31, 10, 30), datetime.datetime(2023, 12, 1, 0, 0)]
    """
    stripped = [text.strip() for text in texts]
    if all(map(_ISO.fullmatch, dict.fromkeys(_shapes("\n".join(stripped))))):
        try:
            return np.array(stripped, dtype=_SECONDS), f"dates as text, such as {stripped[0]!r}"
        except ValueError:  # an invalid date
            return None
    for pattern in _DATES:
        if not stripped or not pattern.fullmatch(stripped[0]):
            continue
        found = [pattern.fullmatch(text) for text in stripped]
        if all(found):
            cells = [match.groupdict() for match in found if match is not None]
            return _points(cells, stripped[0])
    return None


def read_clock(texts: Sequence[str]) -> np.ndarray | None:
    """Parse texts as times of day in seconds, if all of them are; None otherwise.

    >>> read_clock(["10:30", "1:00 pm"]).tolist()
    [37800.0, 46800.0]
    """
    found = [_CLOCK.fullmatch(text.strip()) for text in texts]
    if not found or not all(found):
        return None
    return _seconds([match.groupdict() for match in found if match is not None])


def _points(cells: list[dict[str, Any]], example: str) -> tuple[np.ndarray, str] | None:
    """Convert the parts of dates to points in time; None if a date is invalid."""
    words = f"dates as text, such as {example!r}"
    year = np.array([int(cell["year"]) for cell in cells])
    short = np.array([len(cell["year"]) == 2 for cell in cells])
    year = np.where(short, year + np.where(year < _CENTURY, 2000, 1900), year)
    if "a" in cells[0]:
        a, b = (np.array([int(cell[part]) for cell in cells]) for part in "ab")
        # Americans write the month first, usually with slashes; a number above 12 decides.
        is_month_first = cells[0]["mark"] == "/" if max(a.max(), b.max()) <= 12 else b.max() > 12
        month, day = (a, b) if is_month_first else (b, a)
        words += f", with the {'month' if is_month_first else 'day'} first"
    else:
        names = [str(cell.get("name") or "")[:3].lower() for cell in cells]
        if "name" in cells[0] and not set(names) <= set(_MONTHS):
            return None
        month = np.array(
            [
                int(c["month"]) if "month" in c else _MONTHS.index(n) + 1
                for c, n in zip(cells, names, strict=True)
            ]
        )
        day = np.array([int(cell["day"] or 1) for cell in cells])
    seconds = _seconds(cells)
    if seconds is None or not (month.min() >= 1 and month.max() <= 12 and day.min() >= 1):
        return None
    months = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
    days = months.astype("datetime64[D]") + (day - 1)
    if (days.astype("datetime64[M]") != months).any():
        return None
    return days.astype(_SECONDS) + np.rint(seconds * 1e6).astype("timedelta64[us]"), words


def _seconds(cells: list[dict[str, Any]]) -> np.ndarray | None:
    """Return seconds since midnight; None if an hour or a minute is invalid."""
    hour, minute = (
        np.array([int(cell[part] or 0) for cell in cells]) for part in ("hour", "minute")
    )
    second = np.array([float((cell["second"] or "0").replace(",", ".")) for cell in cells])
    half = [(cell["half"] or "").strip().lower() for cell in cells]
    if any(half):
        if not all(1 <= h <= 12 for h, part in zip(hour.tolist(), half, strict=True) if part):
            return None
        hour = np.where(np.array(half) == "", hour, hour % 12) + 12 * (np.array(half) == "pm")
    if hour.max() > 23 or minute.max() > 59 or second.max() >= 61.0:
        return None
    return hour * 3600.0 + minute * 60.0 + second


def points_in_time(column: Any) -> np.ndarray:
    """Convert a column of dates of any library to points in time, by the local clock."""
    clock: Any = getattr(column, "dt", None)
    if str(column.dtype).startswith("period"):
        column = clock.to_timestamp()
    elif hasattr(clock, "tz_localize") and "date32" not in str(column.dtype):
        column = clock.tz_localize(None)
    elif str(column.dtype).startswith("Datetime"):
        column = clock.replace_time_zone(None)
    array = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    return array.astype(_SECONDS) if array.dtype.kind == "M" else points_of_objects(array.tolist())


def points_of_objects(values: Sequence[Any]) -> np.ndarray:
    """Convert dates, datetimes and periods of Python and pandas to points in time."""
    points: list[Any] = []
    for value in values:
        if is_missing(value):
            points.append(None)
            continue
        if hasattr(value, "to_timestamp"):
            value = value.to_timestamp()
        if getattr(value, "tzinfo", None) is not None:
            value = value.replace(tzinfo=None)
        points.append(value.to_datetime64() if hasattr(value, "to_datetime64") else value)
    return np.array(points, dtype=_SECONDS)


def is_point(value: Any) -> bool:
    """Tell whether a value is a date, with or without a time."""
    return isinstance(value, (date, np.datetime64)) or hasattr(value, "to_timestamp")


def seconds_of_clock(values: Sequence[Any]) -> np.ndarray:
    """Return times of day in seconds since midnight, NaN if missing."""
    return np.array(
        [
            np.nan
            if is_missing(v)
            else v.hour * 3600.0 + v.minute * 60.0 + v.second + v.microsecond * 1e-6
            for v in values
        ]
    )


def encode_points(points: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return days since the first date, and cycles as cosine and sine, with their names.

    A cycle is included if the dates cover it more than once and fall on different phases;
    otherwise the elapsed time carries the same information. Dates on the same day of each month
    represent months, so they have no weekday.
    """
    there = ~np.isnat(points)
    known = points[there]
    days = np.full(points.shape, np.nan)
    days[there] = (known - known.min()) / _DAY
    day = points.astype("datetime64[D]")
    of_day = np.where(there, (points - day) / _DAY, np.nan)
    since_monday = (np.where(there, day.astype(np.int64), 0) + 3) % 7
    start = points.astype("datetime64[Y]").astype("datetime64[D]")
    of_year = np.where(there, (day - start).astype(np.float64) / _YEAR, np.nan)
    phases = {
        "hour of day": (1.0, of_day),
        "weekday": (7.0, np.where(there, since_monday / 7.0, np.nan)),
        "time of year": (_YEAR, of_year),
    }
    blocks, names = [days[:, None]], []
    of_month = day - points.astype("datetime64[M]").astype("datetime64[D]")
    if np.ptp(of_month[there]) == np.timedelta64(0, "D"):
        del phases["weekday"]
    span = float(np.nanmax(days))
    for name, (period, phase) in phases.items():
        if span > period and np.ptp(phase[there]) > 0.0:
            blocks.append(encode_phase(phase))
            names.append(name)
    return np.hstack(blocks), names


def encode_phase(phase: np.ndarray) -> np.ndarray:
    """Encode a phase from 0 to 1 as cosine and sine."""
    return np.column_stack([np.cos(2.0 * np.pi * phase), np.sin(2.0 * np.pi * phase)])
