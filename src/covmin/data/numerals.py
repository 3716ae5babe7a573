"""Parse numbers written as text, with signs, units, thousands separators and decimal commas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

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
