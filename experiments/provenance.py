"""What a file of results says of its making: the command, the commit, and the code it measured.

The first line of the file holds all three. The code is a checksum of the packages that a result
depends on, so that a result of other code is known without asking anybody.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "covmin"
# Parts of the package that a fit consists of; nearly every result depends on them.
FIT = ("constants.py", "core", "data", "plan", "selection")
COMPARED = (*FIT, "evaluation")
MIXED = "mixed"  # some rows are of earlier code than others
_READ: list[Path] = []


@dataclass(frozen=True)
class Made:
    """The first line of a file of results."""

    command: str
    commit: str
    code: str

    def __str__(self) -> str:
        return f"# {self.command} | commit {self.commit} | code {self.code}"


def made(path: Path) -> Made:
    """What a file says of its making."""
    with path.open(encoding="utf-8") as file:
        command, commit, code = file.readline().removeprefix("# ").strip().split(" | ")
    return Made(command, commit.removeprefix("commit "), code.removeprefix("code "))


def significant(source: str) -> list[str]:
    """Lines of a module that can change a result: no docstrings, comments or blank lines."""
    lines = source.splitlines()
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(ast.parse(source)):
        first = node.body[0] if isinstance(node, documented) and node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            for number in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[number] = ""
    return [line for line in lines if line.strip() and not line.strip().startswith("#")]


@cache
def code(parts: Sequence[str]) -> str:
    """A checksum of some parts of the package, modules or folders."""
    paths = [PACKAGE / part for part in parts]
    files = [f for p in paths for f in ([p] if p.is_file() else sorted(p.rglob("*.py")))]
    text = "\n".join(line for file in files for line in significant(file.read_text("utf-8")))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def commit() -> str:
    """The commit that is checked out, with a plus where the package differs from it."""

    def git(*words: str) -> str:
        found = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return found.stdout.strip()

    changed = git("status", "--porcelain", "--", "src")
    return (git("rev-parse", "--short=7", "HEAD") or "unknown") + ("+" if changed else "")


def is_current(path: Path, parts: Sequence[str]) -> bool:
    """Whether a file of results was made by the code as it is."""
    return made(path).code == code(tuple(parts))


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
    partly: bool = False,
    made_by: Made | None = None,
) -> None:
    """Write rows below the line of their making; ``partly`` where some rows are older."""
    now = code(tuple(parts))
    if partly and path.exists() and made(path).code != now:
        now = MIXED
    rows = frame.to_csv(index=False, float_format=digits, lineterminator="\n")
    path.write_text(f"{made_by or Made(command, commit(), now)}\n{rows}", encoding="utf-8")
