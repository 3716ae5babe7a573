"""Read tables from JSON: a list of records, one record per line, or one list per column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .errors import CommandError, ExitCode
from .text_tables import decoded

if TYPE_CHECKING:
    import pandas as pd

    from .tables import Source


def read_json(data: bytes, source: Source) -> pd.DataFrame:
    """Read a table from JSON; nested records become columns with dots in their names."""
    import pandas as pd

    text, notes = decoded(data, source)
    value = _records(_parsed(text))
    frame = pd.json_normalize(value) if isinstance(value, list) else pd.DataFrame(value)
    for name, dtype in frame.dtypes.items():
        # Lists cannot be compared; their text can.
        if dtype.kind == "O" and frame[name].map(lambda cell: isinstance(cell, list | dict)).any():
            frame[name] = frame[name].map(json.dumps, na_action="ignore")
    frame.attrs["notes"] = notes
    return frame


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or error.msg != "Extra data":
            raise
    parsed = []
    for number, line in enumerate(lines, start=1):
        try:
            parsed.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(f"record {number}: {error.msg}") from error
    return parsed


def _records(value: Any) -> Any:
    """Extract records or columns from parsed JSON; a table may be wrapped in an object."""
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return value
    if isinstance(value, list) and len(value) > 1 and all(isinstance(x, list) for x in value):
        names, *rows = value
        return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    if isinstance(value, dict):
        if {"columns", "data"} <= set(value):
            return _records([value["columns"], *value["data"]])
        if value and all(isinstance(column, list | dict) for column in value.values()):
            lengths = {len(column) for column in value.values()}
            simple = not any(isinstance(x, dict) for column in value.values() for x in column)
            if simple and len(lengths) == 1:
                return value
        inner = [each for each in value.values() if isinstance(each, list) and each]
        if len(inner) == 1 and isinstance(inner[0][0], dict):
            return _records(inner[0])
    raise CommandError(
        "The JSON does not contain a table.",
        ExitCode.INPUT,
        'It must be a list of records, such as [{"a": 1, "b": 2}, …], or one record per line.',
    )
