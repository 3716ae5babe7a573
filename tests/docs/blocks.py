"""Code blocks of a page, and the output that the page shows below them.

A fence of ``output`` is what the fence of ``python`` or ``bash`` above it prints. ``python
tests/docs/blocks.py docs/quickstart.md`` runs the Python blocks of a page and writes their
output into it; the tests run the same blocks and compare.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"^```(?P<language>python|bash|output)\n(?P<text>.*?)^```", re.M | re.S)
_NUMBER = re.compile(r"\d+\.\d+(?:e[+-]\d+)?|\d+(?=\s?%)")
_FOLDER = re.compile(r"(?:/[\w.-]+)+/(?=[\w-]+\.html)")
# Another processor may round otherwise: decimals agree to 3 % or to one in the last place.
_TOLERANCE = 0.03


class Block(NamedTuple):
    """A fence, and what the page says it prints (None where it says nothing)."""

    language: str
    code: str
    output: str | None
    span: tuple[int, int]


def blocks(text: str) -> Iterator[Block]:
    """Fences of Python and of the shell, each with the output below it."""
    fences = list(_FENCE.finditer(text))
    for fence, after in zip(fences, [*fences[1:], None], strict=True):
        if fence["language"] == "output":
            continue
        output, span = None, (0, 0)
        if after is not None and after["language"] == "output":
            output, span = after["text"], after.span("text")
        yield Block(fence["language"], fence["text"], output, span)


def printed(code: str, names: dict[str, object], name: str = "page") -> str:
    """What a block prints."""
    out = StringIO()
    with redirect_stdout(out):
        exec(compile(code, name, "exec"), names)
    return out.getvalue()


def same(shown: str, got: str) -> bool:
    """Whether two outputs say the same: words to the letter, decimals to a tolerance.

    The folder that a report is written to does not count.
    """
    shown, got = (_FOLDER.sub("", text) for text in (shown, got))
    words = [" ".join(_NUMBER.sub("#", text).split()) for text in (shown, got)]
    numbers = zip(_NUMBER.findall(shown), _NUMBER.findall(got), strict=False)
    return words[0] == words[1] and all(_close(a, b) for a, b in numbers)


def _close(a: str, b: str) -> bool:
    place = 10.0 ** -len(a.partition(".")[2].partition("e")[0])
    return abs(float(a) - float(b)) <= _TOLERANCE * abs(float(a)) + 1.01 * place


def filled(text: str, name: str = "page") -> str:
    """The page with the output of its Python blocks made anew."""
    names: dict[str, object] = {}
    parts, end = [], 0
    for block in blocks(text):
        if block.language == "python":
            got = printed(block.code, names, name)
            # Long lines may be broken by hand.
            if block.output is not None and block.output.split() != got.split():
                lines = "".join(f"{line.rstrip()}\n" for line in got.rstrip().splitlines())
                parts += [text[end : block.span[0]], lines]
                end = block.span[1]
    return "".join([*parts, text[end:]])


if __name__ == "__main__":
    for each in map(Path, sys.argv[1:]):
        each.write_text(filled(each.read_text(encoding="utf-8"), each.name), encoding="utf-8")
