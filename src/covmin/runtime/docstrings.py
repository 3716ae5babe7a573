"""Insert shared sections into the docstrings of public names."""

import re
from collections.abc import Mapping
from inspect import cleandoc

_HEADING = re.compile(r"^([A-Z][\w ]+)\n-{3,}\n", flags=re.MULTILINE)
# The order that numpydoc prescribes for the shared sections.
_ORDER = ("", "Parameters", "Attributes", "Returns")


def sections_of(doc: str) -> dict[str, str]:
    r"""Return the sections of a numpydoc docstring by title; the text before them is "".

    >>> sections_of("Title.\n\nNotes\n-----\nText.")
    {'': 'Title.', 'Notes': 'Text.'}
    """
    first, *rest = _HEADING.split(cleandoc(doc))
    titles = ["", *rest[::2]]
    return {title: text.strip() for title, text in zip(titles, [first, *rest[1::2]], strict=True)}


def with_sections(doc: str, shared: Mapping[str, str]) -> str:
    """Return a docstring with shared entries placed before its own, section by section.

    ``shared`` maps a section title (Parameters, Attributes or Returns) to its entries. The result
    is not indented.

    >>> with_sections("Add.", {"Returns": "total : int"}).splitlines()
    ['Add.', '', 'Returns', '-------', 'total : int']
    """
    own = sections_of(doc)
    titles = [title for title in _ORDER if title in own or title in shared]
    titles += [title for title in own if title not in titles]
    parts = []
    for title in titles:
        entries = "\n".join(filter(None, (shared.get(title), own.get(title))))
        parts.append(f"{title}\n{'-' * len(title)}\n{entries}" if title else entries)
    return "\n\n".join(parts)
