"""Read tables and queries of SQLite files without changing them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covmin.text import listed

from .columns import did_you_mean, nearest
from .errors import CommandError, ExitCode

if TYPE_CHECKING:
    import pandas as pd

    from .tables import Source

_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
)
# A query may only read. Otherwise it could attach, and thereby create, another file.
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


def read_database(file: Path | bytes, source: Source) -> pd.DataFrame:
    """Read the only table of a database, a named one, or the result of a query."""
    import pandas as pd

    try:
        with closing(_opened(file)) as connection:
            connection.set_authorizer(_authorized)
            query = source.query or _whole(connection, source.table)
            return pd.read_sql_query(query, connection)
    except (sqlite3.Error, pd.errors.DatabaseError) as error:
        raise CommandError(
            f"The database query failed: {error}",
            ExitCode.INPUT,
            "Check --query; only reading is allowed." if source.query else "",
        ) from error


def _opened(file: Path | bytes) -> sqlite3.Connection:
    if isinstance(file, Path):
        return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    connection = sqlite3.connect(":memory:")
    connection.deserialize(file)
    return connection


def _authorized(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _whole(connection: sqlite3.Connection, wanted: str | None) -> str:
    """Return the query for a whole table."""
    names = [name for (name,) in connection.execute(_TABLES)]
    if wanted is None and len(names) == 1:
        wanted = names[0]
    if wanted not in names:
        what = "no table" if not names else f"{len(names)} tables: {listed(names)}"
        close = did_you_mean(nearest(wanted, names)) if wanted else ""
        raise CommandError(
            f"--table: there is no table {wanted!r}."
            if wanted
            else f"The database contains {what}.",
            ExitCode.INPUT,
            f"{close}It contains {what}" if wanted else "Choose one with --table, or use --query.",
        )
    quoted = str(wanted).replace('"', '""')
    return f'SELECT * FROM "{quoted}"'
