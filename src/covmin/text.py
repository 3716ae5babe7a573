"""Names and numbers in words: quoted names, percentages, counts, p-values."""

import math
from collections.abc import Hashable, Sequence
from unicodedata import category

# Unicode categories of control, format, surrogate and private characters, and line separators.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def percent(share: float) -> str:
    """Format a fraction as a percentage, with one decimal if it is small.

    >>> percent(0.0312), percent(0.62), percent(-0.001)
    ('3.1%', '62%', '0%')
    """
    value = 100.0 * max(share, 0.0)
    return f"{value:.1f}%" if 0.05 <= value < 9.95 else f"{value:.0f}%"


def number(value: float) -> str:
    """Format a number with four digits, or in full if it has up to seven digits.

    Numbers of four digits have no comma, because they may be years.

    >>> number(0.123456), number(2001), number(1234567.0), number(1.5e9)
    ('0.1235', '2001', '1,234,567', '1.5e+09')
    """
    size = abs(value)
    return f"{value:.4g}" if size < 1e4 else f"{value:,.0f}" if size < 1e7 else f"{value:.3g}"


def p_value(value: float | None) -> str:
    """Format a p-value with two digits; empty if it is unknown.

    >>> [p_value(p) for p in (0.5, 0.0123, 3e-9, None)]
    ['0.50', '0.012', '< 0.0001', '']
    """
    if value is None or math.isnan(value):
        return ""
    return "< 0.0001" if value < 1e-4 else f"{value:#.2g}"


def with_p_value(value: float | None) -> str:
    """Format a p-value with the letter p; None, of rows that depend on each other, in words."""
    if not (text := p_value(value)):
        return "no p-value, as rows depend on each other"
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def count_of(n: int, noun: str, plural: str | None = None) -> str:
    """Format a number with its noun, such as ``1,200 features``."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def verb(n: int, plural: str) -> str:
    """Return a verb in the singular or plural.

    >>> verb(1, "are"), verb(1, "explain"), verb(2, "explain")
    ('is', 'explains', 'explain')
    """
    return {"are": "is", "have": "has"}.get(plural, f"{plural}s") if n == 1 else plural


def listed(names: Sequence[Hashable]) -> str:
    """Return the first few names, quoted."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(shortened(repr(name)) for name in names[:5]) + more


def shortened(name: str, most: int = 80) -> str:
    """Shorten a name by its middle: the beginning and the end often distinguish it.

    >>> shortened("temperature_of_sensor_17", 16)
    'temperatu…sor_17'
    """
    if len(name) <= most:
        return name
    begin = (5 * most) // 8
    return f"{name[: begin - 1]}…{name[begin - most :]}"


def printable(text: str) -> str:
    r"""Escape invisible characters, so that a name cannot hide its content or control a terminal.

    >>> print(printable("price\u202e\x1b[2J"), printable("größe"))
    price\u202e\x1b[2J größe
    """
    seen = (c.encode("unicode_escape").decode() if category(c) in _UNSEEN else c for c in text)
    return "".join(seen)
