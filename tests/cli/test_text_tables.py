"""Tables of text: encodings, separators, and what stands above the names of the columns."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest

from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.tables import Source, parse_table
from covmin.cli.text_tables import find_layout

GERMAN = "größe,preis\n1,2\n3,4\n"


def read(text, encoding="utf-8", **options):
    return parse_table(text.encode(encoding), Source("-", **options))


@pytest.mark.parametrize(
    ("encoding", "noted"),
    [
        ("utf-8", False),
        ("utf-8-sig", False),
        ("utf-16", False),
        ("utf-16-le", False),
        ("utf-16-be", False),
        ("utf-32", False),
        ("cp1252", True),
    ],
)
def test_encodings_are_noticed(encoding, noted, tmp_path):
    for frame in (read(GERMAN, encoding), _from_file(tmp_path, GERMAN.encode(encoding))):
        assert list(frame) == ["größe", "preis"]
        assert frame["preis"].tolist() == [2, 4]
        assert any("Windows-1252" in note for note in frame.attrs["notes"]) == noted


def _from_file(folder, data):
    path = folder / "data.csv"
    path.write_bytes(data)
    return Source(str(path)).read()


def test_a_letter_far_down_is_read_too(tmp_path):
    """No mere look at the first lines decides."""
    text = "name,x\n" + "plain,1\n" * 50_000 + "Müller,2\n"
    frame = _from_file(tmp_path, text.encode("cp1252"))
    assert frame["name"].iloc[-1] == "Müller"


def test_the_encoding_may_be_named(tmp_path, run):
    text = "名前,y\n1,2\n"
    data = text.encode("shift_jis")
    assert list(parse_table(data, Source("-", encoding="shift_jis"))) == ["名前", "y"]
    with pytest.raises(CommandError, match="is not utf-8"):
        parse_table(data, Source("-", encoding="utf-8"))
    path = tmp_path / "data.csv"
    path.write_text(text)
    result = run("select", path, "--encoding", "klingon")
    assert result.exit_code == ExitCode.USAGE
    assert "utf-16" in result.stderr
    # A codec that is no encoding of text.
    assert run("select", path, "--encoding", "base64").exit_code == ExitCode.USAGE


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " ", "   "])
@pytest.mark.parametrize("above", ["", "\n\n", "# made by a machine\n# in 2020, or so\n\n"])
def test_blank_lines_and_comments_above_the_names(separator, above):
    if separator == " " * len(separator) and above.strip():
        pytest.skip("blanks separate the words of a comment too")
    frame = read(above + separator.join("abc") + ("\n" + separator.join("123")) * 5)
    assert list(frame) == ["a", "b", "c"]
    assert frame.shape == (5, 3)
    assert frame.attrs["notes"] == []


@pytest.mark.parametrize("title", ["Sales of 2023\n", "Sales of 2023,,\n,,\n", "Sales of 2023\n\n"])
def test_a_title_is_told_and_left_out(title):
    frame = read(title + "a,b,c\n" + "1,2,3\n" * 5)
    assert list(frame) == ["a", "b", "c"]
    assert frame.attrs["notes"] == ["Skipped above the column names: “Sales of 2023”."]


def test_names_may_stand_in_the_last_comment():
    frame = read("# a file\n# chrom;pos;y\n" + "1;2;3\n" * 4)
    assert list(frame) == ["chrom", "pos", "y"]


@pytest.mark.parametrize(
    "text",
    [
        ",y\n0,5\n1,6\n",  # numbers of rows, which have no name
        "a,b\nr1,1,2\nr2,3,4\nr3,5,6\n",  # names of rows, as R writes them
        'a,"b, or\nc"\n1,2\n3,4\n',
        "a,b\n1,\n2,\n",
        "a\n1\n2\n",
    ],
)
def test_what_has_no_title_is_read_as_by_pandas(text):
    expected = pd.read_csv(io.StringIO(text)).reset_index(drop=True)
    pd.testing.assert_frame_equal(read(text).reset_index(drop=True), expected, check_names=False)


def test_values_above_others_are_no_title():
    frame = read("1,,\n2,3,4\n5,6,7\n", header=False)
    assert frame.shape == (3, 3)


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a,b\n1;2,3\n4;5,6\n", ","),
        ("x|y\n1|2\n", "|"),
        ("one column of words\nand some\n", ","),
    ],
)
def test_separators_by_what_makes_lines_equal(text, separator):
    assert find_layout(text).separator == separator


def test_a_table_with_all_these_troubles(table, tmp_path, run):
    path = tmp_path / "export.csv"
    text = table.rename(columns={"x0": "Größe"}).to_csv(index=False, sep=";", decimal=",")
    path.write_bytes(("Messwerte\n\n" + text).encode("cp1252"))
    result = run("select", path, "-t", "group", "-m", 3, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert sorted(answer["selected"]) == ["Größe", "x1", "x2"]
    assert len(answer["notes"]) == 3
