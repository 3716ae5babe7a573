"""What a file of results says of its making: the command, the commit, and the answers it rests on.

A part of covmin is what it does: its version is a checksum of its golden answers, small fixed
problems that a test compares. A result is current as long as the answers of the parts that it
depends on are the same. Times have no answers: they depend on the sources of a fit. Pictures depend
on these too, because they show more than the answers, and on the sources that draw them.
"""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
# What results may depend on; those of inference name their tool.
FIT, COMPARED, TIMED = ("fit",), ("fit", "evaluation"), ("times",)
MIXED = "mixed"  # some rows are of earlier answers than others
_READ: list[Path] = []


@dataclass(frozen=True)
class Made:
    """The first line of a file of results; ``parts`` are the versions of those it depends on."""

    command: str
    commit: str
    parts: Mapping[str, str]

    def __str__(self) -> str:
        versions = " ".join(f"{part}={version}" for part, version in self.parts.items())
        return f"# {self.command} | commit {self.commit} | {versions}"


def made(path: Path) -> Made:
    """What a file says of its making."""
    with path.open(encoding="utf-8") as file:
        command, commit, parts = file.readline().removeprefix("# ").strip().split(" | ")
    versions = dict(each.split("=") for each in parts.split())
    return Made(command, commit.removeprefix("commit "), versions)


# Versions ---------------------------------------------------------------------------------------


def golden(folder: str, part: str | None = None) -> str:
    """The golden answers of a folder of tests, or of a part of it."""
    answers = json.loads((ROOT / "tests" / folder / "golden.json").read_text("utf-8"))
    return json.dumps(answers if part is None else answers[part], sort_keys=True)


def significant(source: str) -> list[str]:
    """Lines of a module that can change a time: no docstrings, comments or blank lines."""
    lines = source.splitlines()
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(ast.parse(source)):
        first = node.body[0] if isinstance(node, documented) and node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            for number in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[number] = ""
    return [line for line in lines if line.strip() and not line.strip().startswith("#")]


def sources(folder: str, *parts: str) -> str:
    """What modules do, and what pages hold; ``plotting/*.py`` names several files of a folder."""
    files = sorted(file for part in parts for file in (ROOT / folder).glob(part) if file.is_file())
    texts = [(file.suffix, file.read_text("utf-8")) for file in files if file.suffix != ".pyc"]
    lines = [significant(text) if suffix == ".py" else [text] for suffix, text in texts]
    return "\n".join(line for each in lines for line in each)


_PACKAGE, _DRAWING = "src/covmin", ("pictures.py", "paper/figures.py")
_OF_A_FIT = ("core/**/*.py", "plan/**/*.py", "selection/assemble.py", "selection/crossval.py")
_OF_A_FIT += ("selection/fit.py",)
_SHOWING = ("plotting/*.py", "report/**/*", "selection/headline.py", "selection/summary.py")
_TEXTS: dict[str, Callable[[], str]] = {
    "fit": lambda: golden("selection"),
    "evaluation": lambda: golden("evaluation"),
    "times": lambda: sources(_PACKAGE, *_OF_A_FIT),
    "pictures": lambda: "".join(
        [sources(_PACKAGE, *_OF_A_FIT, *_SHOWING), sources("experiments", *_DRAWING)]
    ),
}


@cache
def version(part: str) -> str:
    """A checksum of what a part does; a part of inference has its name in the golden file."""
    text = _TEXTS[part]() if part in _TEXTS else golden("inference", part)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@cache
def commit() -> str:
    """The commit that is checked out, with a plus where the package differs from it."""

    def git(*words: str) -> str:
        found = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return found.stdout.strip()

    changed = git("status", "--porcelain", "--", "src")
    return (git("rev-parse", "--short=7", "HEAD") or "unknown") + ("+" if changed else "")


def is_current(path: Path, parts: Sequence[str]) -> bool:
    """Whether the parts of covmin that a file of results depends on answer as they did then."""
    return made(path).parts == {part: version(part) for part in parts}


# Files ------------------------------------------------------------------------------------------


def read(path: Path) -> pd.DataFrame:
    """The rows of a file; its name is noted for :func:`noted`."""
    _READ.append(path)
    return pd.read_csv(path, comment="#")


@contextmanager
def noted() -> Iterator[list[Path]]:
    """The files of results that are read inside."""
    start = len(_READ)
    files: list[Path] = []
    yield files
    files += dict.fromkeys(_READ[start:])


def write(
    path: Path,
    frame: pd.DataFrame,
    command: str,
    parts: Sequence[str],
    *,
    digits: str = "%.4f",
    ran: Sequence[str] | None = None,
    kept: Sequence[str] = (),
) -> None:
    """Write rows below the line of their making.

    ``kept`` are the parts that rows taken over from the file depend on, ``ran`` those of new rows:
    where only the former do, the file says what it said.
    """
    head = Made(command, commit(), {part: version(part) for part in parts})
    if kept and path.exists():
        old, ran = made(path), parts if ran is None else ran
        versions = {**head.parts}
        for part in kept:
            before = old.parts.get(part, "unknown")
            versions[part] = before if part not in ran or before == versions[part] else MIXED
        at = head.commit if set(kept) <= set(ran) else old.commit
        head = Made(command, at, versions)
    rows = frame.to_csv(index=False, float_format=digits, lineterminator="\n")
    path.write_text(f"{head}\n{rows}", encoding="utf-8")
