"""Parse numbers, dates and times written as text, and encode dates as elapsed time and cycles."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import numpy as np

# Cells that mean "missing" in a column of numbers or dates.
_MISSING_MARKS = frozenset(
    ("", "-", "--", "–", "—", ".", "?", "na", "n/a", "#n/a", "nan", "null", "none", "missing")
)
_CURRENCIES = "$€£¥₹₽₩"
# Blanks within a line; each text is one line.
_BLANK = " \t\xa0\u2009\u202f"
# A number with an optional currency sign and unit; brackets mean a negative number in accounting.
_CELL = re.compile(
    rf"[+−-]?(?P<open>\(?)[{_BLANK}]*(?P<before>[{_CURRENCIES}]?)[{_BLANK}]*[+−-]?"
    rf"(?P<digits>9(?:[9.,'’{_BLANK}]*9)?\.?|[.,]9+)(?:[eE][+-]?9+)?"
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
# Texts that differ only in digits have the same shape.
_DIGITS = str.maketrans("012345678", "9" * 9)
# A leading zero before another digit: codes are written like this, numbers are not.
_CODE = re.compile(rf"(?<![0-9.,'’{_BLANK}])0[0-9]")


def is_missing_mark(text: str) -> bool:
    """Tell whether a cell of a column of numbers or dates marks a missing value."""
    return text.strip().casefold() in _MISSING_MARKS


def look_like_numbers(texts: Iterable[str]) -> np.ndarray:
    """Return a mask of the texts that look like numbers, each on its own."""
    shapes = (text.replace("\n", " ").strip().translate(_DIGITS) for text in texts)
    return np.array([_CELL.fullmatch(shape) is not None for shape in shapes], dtype=bool)


def read_numerals(texts: Sequence[str]) -> tuple[np.ndarray, str] | None:
    """Parse texts as numbers if all are written in the same format, and describe the format.

    Returns None otherwise. One currency sign and one unit are allowed. Integers with a leading zero
    are codes, not numbers.

    >>> read_numerals(["$1,234.50", "(3)"])
    (array([1234.5,   -3. ]), "numbers as text, such as '$1,234.50' for 1234.5")
    >>> read_numerals(["1.234,5", "12"])[0].tolist(), read_numerals(["007", "12"])
    ([1234.5, 12.0], None)
    """
    lines = "\n".join(text.strip() for text in texts)
    shapes = dict.fromkeys(lines.translate(_DIGITS).split("\n"))
    found = [cell for shape in shapes if (cell := _CELL.fullmatch(shape))]
    are_closed = all(bool(cell["open"]) == bool(cell["close"]) for cell in found)
    are_lines = len(found) == len(shapes) and lines.count("\n") < len(texts)
    if not (are_lines and are_closed) or _CODE.search(lines):
        return None
    units = {cell[place] for cell in found for place in ("before", "after")} - {""}
    unit = units.pop() if units else ""
    # A unit that is a word must be in every cell: "12" and "12 kg" may have different units.
    if units or (unit.isalpha() and any(cell["after"] != unit for cell in found)):
        return None
    styles = (each for each in _STYLES if all(each[2].fullmatch(cell["digits"]) for cell in found))
    if (style := next(styles, None)) is None:
        return None
    thousands, decimal, _ = style
    table = str.maketrans(f"{decimal}−(", ".--", thousands + _BLANK + ")")
    plain = (lines.replace(unit, "") if unit else lines).translate(table)
    try:
        values = np.array(plain.split("\n"), dtype=np.float64)
    except ValueError:  # two signs
        return None
    # The example with the most marks, because commas and points may be ambiguous.
    marks = [mark for mark in (unit, decimal, *thousands) if mark]
    shown = max(range(min(len(texts), 100)), key=lambda i: sum(m in texts[i] for m in marks))
    words = f"numbers as text, such as {texts[shown].strip()!r} for {values[shown]:.12g}"
    return values, words


_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d{1,6})?)\d*)?"
    r"(?:\s*(?P<half>[ap])m)?"
)
_AFTER = rf"(?:[T ]\s*{_CLOCK}\s*(?:Z|UTC|GMT|[+-]\d{{2}}:?\d{{2}})?)?"
_NUMERIC = r"(?P<{}>\d{{1,2}})(?P<mark>{})(?P<{}>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}|\d{{2}})"
_CLOCKS, *_DATES = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _CLOCK,
        # Date formats; the first one that fits all cells is used. Americans write the month first,
        # usually with slashes, but a number above 12 decides.
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?" + _AFTER,
        _NUMERIC.format("month", "/", "day") + _AFTER,
        _NUMERIC.format("day", "[-/.]", "month") + _AFTER,
        _NUMERIC.format("month", "[-.]", "day") + _AFTER,
        r"(?P<day>\d{1,2})[- ](?P<name>[a-z]{3,9})\.?[- ](?P<year>\d{4})" + _AFTER,
        r"(?P<name>[a-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})" + _AFTER,
    )
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_POINTS = "datetime64[us]"
_DAY = np.timedelta64(86_400_000_000, "us")
_YEAR = 365.2425


def read_dates(texts: Sequence[str]) -> tuple[np.ndarray, str] | None:
    """Parse texts as dates if all are written in the same format, and describe the format.

    Returns None otherwise. Time zones are ignored: times are local clock times.
    """
    for pattern in _DATES if texts else ():
        if (points := _points(pattern, texts)) is not None:
            day = points[0].astype("datetime64[D]")
            first = texts[0].strip()
            said = f", such as {first!r} for {day}" if not first.startswith(str(day)) else ""
            return points, f"dates as text{said}"
    return None


def read_clock(texts: Sequence[str]) -> np.ndarray | None:
    """Parse texts as times of day, as fractions of a day, if all of them are; None otherwise."""
    points = _points(_CLOCKS, texts) if texts else None
    return None if points is None else (points - np.datetime64(0, "us")) / _DAY


def _points(pattern: re.Pattern[str], texts: Sequence[str]) -> np.ndarray | None:
    """Convert texts to points in time; None if one does not fit, or there is no such day."""
    points = []
    for text in texts:
        if (found := pattern.fullmatch(text.strip())) is None:
            return None
        points.append(found.groupdict(default=""))
    try:
        return np.array([_in_iso_format(parts) for parts in points], dtype=_POINTS)
    except ValueError:
        return None


def _in_iso_format(parts: dict[str, str]) -> str:
    """Return a date and a time of day in the format that NumPy reads, and checks."""
    year, month = parts.get("year", "1970"), parts.get("month") or "1"
    hour, half = parts["hour"], parts["half"]
    if len(year) == 2:  # from 1969 to 2068, as in POSIX
        year = f"{'20' if year < '69' else '19'}{year}"
    if "name" in parts:
        month = str(_MONTHS.index(parts["name"][:3].lower()) + 1)
    if half and not 1 <= int(hour) <= 12:
        raise ValueError
    hours = int(hour) % 12 + 12 * (half in "pP") if half else int(hour or 0)
    clock = f"{hours:02}:{parts['minute'] or '00'}:{parts['second'].replace(',', '.') or '00'}"
    return f"{year}-{month:0>2}-{parts.get('day') or '1':0>2}T{clock}"


def points_in_time(values: Sequence[Any]) -> np.ndarray:
    """Convert dates of any library to points by the local clock."""
    dates = [value.to_timestamp() if hasattr(value, "to_timestamp") else value for value in values]
    local = [each.replace(tzinfo=None) if isinstance(each, datetime) else each for each in dates]
    return np.array(local, dtype=_POINTS)


def encode_points(points: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return days since the first date, and cycles as cosine and sine, with their names.

    A cycle is included if the dates cover it more than once and fall on different phases. Dates on
    the same day of each month represent months, so they have no weekday.
    """
    there = ~np.isnat(points)
    known = points[there]
    day, month, year = (known.astype(f"datetime64[{unit}]") for unit in "DMY")
    elapsed = (known - known.min()) / _DAY
    phases = {
        "hour of day": (1.0, (known - day) / _DAY),
        "weekday": (7.0, (day.astype(np.int64) + 3) % 7 / 7.0),
        "time of year": (_YEAR, (day - year.astype(day.dtype)).astype(np.float64) / _YEAR),
    }
    if np.ptp((day - month.astype(day.dtype)).astype(np.int64)) == 0:
        del phases["weekday"]
    blocks, names = [elapsed[:, None]], []
    for name, (period, phase) in phases.items():
        if elapsed.max() > period and np.ptp(phase) > 0.0:
            blocks.append(encode_phase(phase))
            names.append(name)
    block = np.full((points.size, 1 + 2 * len(names)), np.nan)
    block[there] = np.hstack(blocks)
    return block, names


def encode_phase(phase: np.ndarray) -> np.ndarray:
    """Encode a phase from 0 to 1 as cosine and sine."""
    return np.column_stack([np.cos(2.0 * np.pi * phase), np.sin(2.0 * np.pi * phase)])
