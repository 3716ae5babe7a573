"""Find columns by name, suggest corrections, and format column names for the shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from covmin.text import listed, printable

from .errors import CommandError, ExitCode

if TYPE_CHECKING:
    from .tables import Source

# Longest list of names in a suggestion, in characters.
_LONGEST_WORDS = 2000
_RANGE = re.compile(r"(-?\d*):(-?\d*)")
_TARGETS = ("y", "Y", "target", "label", "class")


@dataclass(frozen=True)
class Roles:
    """The columns for the response, the features, the given features, groups and events."""

    target: str
    features: list[str]
    given: list[str]
    groups: dict[str, list[str]]
    # Event indicator if the target is a survival time, and the value that means an event.
    event: str | None = None
    event_value: str | None = None

    def check(self, left: Iterable[str]) -> None:
        """Raise an error if an option names a column that is not among those left."""
        there = set(left)
        grouped = [name for names in self.groups.values() for name in names]
        for option, names in (("--given", self.given), ("--groups", grouped)):
            for name in [name for name in names if name not in there]:
                raise CommandError(
                    f"{option} names {name!r}, which is not among the remaining features.",
                    ExitCode.USAGE,
                    "Choose another column, or do not exclude it.",
                )


def find_roles(columns: list[str], source: Source) -> Roles:
    """Return the role of each column, given the options of a command."""
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
                f"Remove it from {option}, or choose another target.",
            )
    left_out = {name, event, *dropped}
    features = [column for column in columns if column not in left_out]
    if not features:
        raise CommandError("No column is left to select from.", ExitCode.DATA, "Drop fewer.")
    return Roles(name, features, given, groups, event, value)


def _find_event(text: str | None, columns: list[str]) -> tuple[str | None, str | None]:
    """Return the column and the value in text such as ``died`` or ``status=2``."""
    if text is None:
        return None, None
    column, equals, value = text.rpartition("=")
    if text in columns or not equals:
        return _find_column(text, columns, "--event"), None
    return _find_column(column, columns, "--event"), value


def _find_groups(given: Iterable[str] | None, columns: list[str]) -> dict[str, list[str]]:
    """Return the columns by label, from text such as ``size=width,height``."""
    groups: dict[str, list[str]] = {}
    for text in given or ():
        label, equals, members = text.partition("=")
        if not (label and equals):
            raise CommandError(
                f"--groups {text} has no label.",
                ExitCode.USAGE,
                "Put a label before the columns, such as --groups size=width,height.",
            )
        groups.setdefault(label, []).extend(find_columns([members], columns, "--groups"))
    return groups


def find_kinds(source: Source, columns: list[str], features: Sequence[str]) -> Any:
    """Return the value of ``column_types`` for the options."""
    from covmin.data.columns import KINDS

    kinds = dict.fromkeys(find_columns(source.categorical, columns, "--categorical"), "category")
    if source.strict and source.kinds:
        raise CommandError("--as cannot be combined with --strict.", ExitCode.USAGE)
    for text in _assignments(source.kinds or (), list(KINDS)):
        names, _, kind = text.rpartition("=")
        if not names or kind not in KINDS:
            hint = f"Use --as COL=KIND, where KIND is {', '.join(KINDS)}."
            raise CommandError(
                f"--as {text} is not of the form COL=KIND.",
                ExitCode.USAGE,
                did_you_mean(nearest(kind, KINDS)) + hint,
            )
        for name in find_columns([names], columns, "--as"):
            if name not in features:
                raise CommandError(
                    f"--as names {name!r}, which is not among the features.",
                    ExitCode.USAGE,
                    "Choose another column.",
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
        f"Specify it with --target, for example {example} (or --target -1).",
    )


def find_columns(given: Iterable[str] | None, columns: list[str], option: str) -> list[str]:
    """Return the columns in text such as ``a,b``; a name may contain commas.

    ``3:250`` means columns 3 to 249, as in Python.
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
    """Split text at commas into column names, preferring the longest known names."""
    pieces, parts, start = text.split(","), [], 0
    most = 1 + max(name.count(",") for name in known)
    while start < len(pieces):
        ends = range(min(start + most, len(pieces)), start + 1, -1)
        end = next((end for end in ends if ",".join(pieces[start:end]) in known), start + 1)
        parts.append(",".join(pieces[start:end]))
        start = end
    return [part for part in parts if part.strip()]


def _find_column(name: str, columns: list[str], option: str, known: set[str] | None = None) -> str:
    """Return the column with a given name or index."""
    for wanted in (name, name.strip()):
        if wanted in (columns if known is None else known):
            return wanted
    try:
        return columns[int(name)]
    except ValueError:
        there = f"The {len(columns)} columns are: {listed(columns)}"
        hint = did_you_mean(nearest(name, columns)) + there
    except IndexError:
        hint = f"Indices run from 0 to {len(columns) - 1}; -1 is the last column."
    raise CommandError(f"{option}: there is no column {name!r}.", ExitCode.COLUMN, hint)


def in_option(option: str, names: Sequence[str], columns: list[str]) -> str:
    """Return shell words that pass some of the columns to an option.

    A few columns are listed by name, many by index, because a shell limits the length of
    arguments.
    """
    place = {name: j for j, name in enumerate(columns)}
    # Names that cannot be copied from a terminal are replaced by the index.
    words = [name if name.isprintable() else _at(place[name], place) for name in names]
    if sum(map(len, words)) > _LONGEST_WORDS:
        words = _ranges(sorted(place[name] for name in names), place)
    if "" not in words and not any("," in column for column in columns):
        words = [",".join(words)]
    return " ".join(f"{option} {shlex.quote(word)}" for word in words)


def _at(j: int, place: dict[str, int]) -> str:
    """Return the index of a column, written so that it is not the name of another column."""
    return str(j) if str(j) not in place else f"{j}:{j + 1}"


def _ranges(places: list[int], place: dict[str, int]) -> list[str]:
    """Combine increasing indices into ranges."""
    ends = [k for k, j in enumerate(places) if k == 0 or j > places[k - 1] + 1]
    runs = [places[start:end] for start, end in pairwise([*ends, len(places)])]
    return [_at(run[0], place) if len(run) == 1 else f"{run[0]}:{run[-1] + 1}" for run in runs]


def nearest(name: str, names: Iterable[str], cutoff: float = 0.5) -> list[str]:
    """Return up to three names similar to a mistyped one, ignoring case."""
    by_folded = {candidate.casefold(): candidate for candidate in reversed(list(names))}
    close = get_close_matches(name.casefold(), list(by_folded), cutoff=cutoff)
    return [by_folded[folded] for folded in close]


def did_you_mean(close: Iterable[str]) -> str:
    """Return a suggestion of names, followed by a blank; empty if there are none."""
    offered = " or ".join(map(printable, close))
    return f"Did you mean {offered}? " if offered else ""
