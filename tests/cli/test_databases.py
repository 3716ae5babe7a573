"""Tables out of SQLite files."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from covmin.cli.errors import ExitCode


@pytest.fixture
def database(table, tmp_path):
    path = tmp_path / "lab #1.db"
    with closing(sqlite3.connect(path)) as connection:
        table.to_sql('the "wines"', connection, index=False)
        table.head(3).to_sql("notes", connection, index=False)
    return path


def selected(result):
    assert result.exit_code == 0, result.output
    return sorted(json.loads(result.stdout)["selected"])


def test_a_table_by_name_or_by_query(database, run):
    common = ("select", database, "-t", "group", "-m", 3, "--json")
    assert selected(run(*common, "--table", 'the "wines"')) == ["x0", "x1", "x2"]
    query = 'SELECT x0, x1, x2, x3, "group" FROM "the ""wines""" WHERE x4 < 99'
    assert selected(run(*common, "--query", query)) == ["x0", "x1", "x2"]
    # The code in the answer repeats it.
    answer = json.loads(run(*common, "--query", query).stdout)
    assert "--query" in answer["code"]


def test_several_tables_are_named(database, run):
    result = run("select", database, "-t", "group")
    assert result.exit_code == ExitCode.INPUT
    assert "contains 2 tables" in result.stderr
    result = run("select", database, "-t", "group", "--table", "note")
    assert "Did you mean notes?" in result.stderr


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE notes",
        "INSERT INTO notes SELECT * FROM notes",
        "ATTACH 'other.db' AS other",
        "PRAGMA writable_schema = 1",
        "SELECT nothing FROM notes",
        "nonsense",
        "SELECT 1; SELECT 2",
    ],
)
def test_a_query_can_only_read(query, database, run, monkeypatch):
    monkeypatch.chdir(database.parent)
    before = database.read_bytes()
    result = run("select", database, "-t", 0, "--query", query)
    assert result.exit_code == ExitCode.INPUT, result.output
    assert "--query" in result.stderr
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_a_database_from_standard_input(table, tmp_path, run):
    path = tmp_path / "one.db"
    with closing(sqlite3.connect(path)) as connection:
        table.to_sql("only", connection, index=False)
    result = run("select", "-", "-t", "group", "-m", 3, "--json", input=path.read_bytes())
    assert selected(result) == ["x0", "x1", "x2"]
