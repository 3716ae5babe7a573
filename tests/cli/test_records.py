"""Tables out of JSON."""

from __future__ import annotations

import json

import pytest

from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.tables import Source, parse_table

RECORDS = [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": 3, "b": "z"}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORDS),
        json.dumps(RECORDS, indent=2),
        "\n".join(map(json.dumps, RECORDS)),
        json.dumps({"data": RECORDS, "count": 3}),
        json.dumps({"a": [1, 2, 3], "b": ["x", None, "z"]}),
        json.dumps({"a": {"0": 1, "1": 2, "2": 3}, "b": {"0": "x", "1": None, "2": "z"}}),
        json.dumps({"columns": ["a", "b"], "data": [[1, "x"], [2, None], [3, "z"]]}),
        json.dumps([["a", "b"], [1, "x"], [2, None], [3, "z"]]),
    ],
)
@pytest.mark.parametrize("named", ["json", None])
def test_every_usual_form_is_read(text, named):
    frame = parse_table(text.encode(), Source("-"), named)
    assert list(frame) == ["a", "b"]
    assert frame["a"].tolist() == [1, 2, 3]
    assert frame["b"].isna().tolist() == [False, True, False]


def test_records_in_records_and_lists():
    text = '{"a": {"x": 1, "y": 2}, "tags": ["p", "q"]}\n{"a": {"x": 3}, "tags": []}\n'
    frame = parse_table(text.encode(), Source("-"), "json")
    assert sorted(frame) == ["a.x", "a.y", "tags"]
    assert frame["tags"].tolist() == ['["p", "q"]', "[]"]


@pytest.mark.parametrize(
    "text", ["3", "{}", "[]", '{"a": 1}', '["x", "y"]', '{"a": [1], "b": [1, 2]}']
)
def test_what_is_no_table_says_so(text):
    with pytest.raises(CommandError, match="does not contain a table") as caught:
        parse_table(text.encode(), Source("-"), "json")
    assert caught.value.code == ExitCode.INPUT


def test_a_damaged_line_is_named():
    with pytest.raises(CommandError, match="record 2"):
        parse_table(b'{"a": 1}\n{"a": \n{"a": 3}\n', Source("-"), "json")
