"""Columns by name: found, misspelt, and suggested in words to paste."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from covmin.data.checks import listed, printable

from .errors import CommandError, ExitCode

if TYPE_CHECKING:
    from .tables import Source

# Characters of names up to which a suggestion lists them.
_LONGEST_WORDS = 2000
_RANGE = re.compile(r"(-?\d*):(-?\d*)")
_TARGETS = ("y", "Y", "target", "label", "class")


@dataclass(frozen=True)
class Roles:
    """The column of the response, those to choose from, those always kept, and groups."""

    target: str
    features: list[str]
    given: list[str]
    groups: dict[str, list[str]]
    # Whether the event was seen, where the target is a time, and the value that says so.
    event: str | None = None
    event_value: str | None = None

    def check(self, left: Iterable[str]) -> None:
        """Refuse a column that an option names and that is not among those that are left."""
        there = set(left)
        grouped = [name for names in self.groups.values() for name in names]
        for option, names in (("--given", self.given), ("--groups", grouped)):
            for name in [name for name in names if name not in there]:
                raise CommandError(
                    f"{option} names {name!r}, which is not among the features left.",
                    ExitCode.USAGE,
                    "Name another column, or do not leave it out.",
                )


def find_roles(columns: list[str], source: Source) -> Roles:
    """What each column is there for, by the options of a command."""
    target = source.target
    name = _find_column(target, columns, "--target") if target else _usual_target(columns)
    dropped = find_columns(source.drop, columns, "--drop")
    given = find_columns(source.given, columns, "--given")
    groups = _find_groups(source.groups, columns)
    grouped = [column for members in groups.values() for column in members]
    event, value = _find_event(source.event, columns)
    for option, names in (
        ("--drop", dropped),
        ("--given", given),
        ("--groups", grouped),
        ("--event", [event]),
    ):
        if name in names:
            raise CommandError(
                f"{option} names the target {name!r} itself.",
                ExitCode.USAGE,
                f"Leave it out of {option}, or name another target.",
            )
    left_out = {name, event, *dropped}
    features = [column for column in columns if column not in left_out]
    if not features:
        raise CommandError("No column is left to select from.", ExitCode.DATA, "Drop fewer.")
    return Roles(name, features, given, groups, event, value)


def _find_event(text: str | None, columns: list[str]) -> tuple[str | None, str | None]:
    """The column that ``died`` or ``status=2`` names, and the value that stands for an event."""
    if text is None:
        return None, None
    column, equals, value = text.rpartition("=")
    if text in columns or not equals:
        return _find_column(text, columns, "--event"), None
    return _find_column(column, columns, "--event"), value


def _find_groups(given: Iterable[str] | None, columns: list[str]) -> dict[str, list[str]]:
    """Labels and columns that words such as ``size=width,height`` stand for."""
    groups: dict[str, list[str]] = {}
    for text in given or ():
        label, equals, members = text.partition("=")
        if not (label and equals):
            raise CommandError(
                f"--groups {text} has no label.",
                ExitCode.USAGE,
                "Write a label before the columns, such as --groups size=width,height.",
            )
        groups.setdefault(label, []).extend(find_columns([members], columns, "--groups"))
    return groups


def find_kinds(source: Source, columns: list[str], features: Sequence[str]) -> Any:
    """What options say that columns are to be read as, for ``column_types``."""
    from covmin.data.kinds import READERS

    kinds = dict.fromkeys(find_columns(source.categorical, columns, "--categorical"), "category")
    if source.strict and source.kinds:
        raise CommandError("--strict leaves nothing for --as to say.", ExitCode.USAGE)
    for text in _assignments(source.kinds or (), list(READERS)):
        names, _, kind = text.rpartition("=")
        if not names or kind not in READERS:
            hint = f"Write --as COL=KIND, where KIND is {', '.join(READERS)}."
            raise CommandError(
                f"--as {text} does not say what a column is.",
                ExitCode.USAGE,
                did_you_mean(nearest(kind, READERS)) + hint,
            )
        for name in find_columns([names], columns, "--as"):
            if name not in features:
                raise CommandError(
                    f"--as names {name!r}, which is not among the features.",
                    ExitCode.USAGE,
                    "Name another column.",
                )
            kinds[name] = kind
    kinds = {name: kind for name, kind in kinds.items() if name in features}
    return "strict" if source.strict else kinds or "auto"


def _assignments(texts: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """Split at commas after a kind; other commas separate columns of the same kind.

    >>> _assignments(["a,b=date,c=drop"], ["date", "drop"])
    ['a,b=date', 'c=drop']
    """
    after_kind = rf"(={'|='.join(map(re.escape, kinds))}),"
    return [part for text in texts for part in re.sub(after_kind, "\\1\n", text).split("\n")]


def _usual_target(columns: list[str]) -> str:
    if usual := [name for name in _TARGETS if name in columns]:
        return usual[0]
    example = in_option("--target", columns[-1:], columns)
    raise CommandError(
        "Which column is the response?",
        ExitCode.USAGE,
        f"Name it with --target, for example {example} (or --target -1).",
    )


def find_columns(given: Iterable[str] | None, columns: list[str], option: str) -> list[str]:
    """The columns that words such as ``a,b`` stand for; a name may itself hold a comma.

    ``3:250`` are the columns at these places, the last of them left out, as in Python.
    """
    known = set(columns)
    found: list[str] = []
    for text in given or ():
        for part in ([text] if text in known else _parts(text, known)) or [text]:
            places = None if part in known else _RANGE.fullmatch(part.strip())
            if places is None:
                found.append(_find_column(part, columns, option, known))
            else:
                found += columns[slice(*(int(end) if end else None for end in places.groups()))]
    return list(dict.fromkeys(found))


def _parts(text: str, known: set[str]) -> list[str]:
    """The names in a text with commas between them, the longest that are known first."""
    pieces, parts, start = text.split(","), [], 0
    most = 1 + max(name.count(",") for name in known)
    while start < len(pieces):
        ends = range(min(start + most, len(pieces)), start + 1, -1)
        end = next((end for end in ends if ",".join(pieces[start:end]) in known), start + 1)
        parts.append(",".join(pieces[start:end]))
        start = end
    return [part for part in parts if part.strip()]


def _find_column(name: str, columns: list[str], option: str, known: set[str] | None = None) -> str:
    """The column that a name, or else an index, given to an option stands for."""
    for wanted in (name, name.strip()):
        if wanted in (columns if known is None else known):
            return wanted
    try:
        return columns[int(name)]
    except ValueError:
        there = f"The {len(columns)} columns are: {listed(columns)}"
        hint = did_you_mean(nearest(name, columns)) + there
    except IndexError:
        hint = f"Indices go from 0 to {len(columns) - 1}, or from -1 for the last."
    raise CommandError(f"{option}: there is no column {name!r}.", ExitCode.COLUMN, hint)


def in_option(option: str, names: Sequence[str], columns: list[str]) -> str:
    """Words for a shell that name some of the columns in an option.

    Names are listed while there are few; a shell takes no argument of any length, and of many
    the places are named.
    """
    place = {name: j for j, name in enumerate(columns)}
    # What cannot be copied from a terminal is named by its place.
    words = [name if name.isprintable() else _at(place[name], place) for name in names]
    if sum(map(len, words)) > _LONGEST_WORDS:
        words = _ranges(sorted(place[name] for name in names), place)
    if "" not in words and not any("," in column for column in columns):
        words = [",".join(words)]
    return " ".join(f"{option} {shlex.quote(word)}" for word in words)


def _at(j: int, place: dict[str, int]) -> str:
    """The place of a column in words that are no name of another."""
    return str(j) if str(j) not in place else f"{j}:{j + 1}"


def _ranges(places: list[int], place: dict[str, int]) -> list[str]:
    """Places, in increasing order, as few ranges."""
    ends = [k for k, j in enumerate(places) if k == 0 or j > places[k - 1] + 1]
    runs = [places[start:end] for start, end in pairwise([*ends, len(places)])]
    return [_at(run[0], place) if len(run) == 1 else f"{run[0]}:{run[-1] + 1}" for run in runs]


def nearest(name: str, names: Iterable[str], cutoff: float = 0.5) -> list[str]:
    """Up to three names that resemble a mistyped one, whatever their case."""
    by_folded = {candidate.casefold(): candidate for candidate in reversed(list(names))}
    close = get_close_matches(name.casefold(), list(by_folded), cutoff=cutoff)
    return [by_folded[folded] for folded in close]


def did_you_mean(close: Iterable[str]) -> str:
    """A question that offers names, with a blank after it; nothing where there are none."""
    offered = " or ".join(map(printable, close))
    return f"Did you mean {offered}? " if offered else ""
