"""Tables out of files, and into files."""

from __future__ import annotations

import gzip
import io
import json
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from covmin.cli.columns import find_columns
from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.files import FileOptions, read_file, write_table

TRUE = ["x0", "x1", "x2"]
GERMAN = "größe,preis\n1,2\n3,4\n"


@pytest.fixture
def read(tmp_path):
    """Read bytes or text as a file of a given name."""

    def read(content, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_file(FileOptions(str(path), **options))

    return read


WRITERS = {
    "data.csv": lambda t, p: t.to_csv(p, index=False),
    "data.csv.gz": lambda t, p: t.to_csv(p, index=False),
    "data.csv.bz2": lambda t, p: t.to_csv(p, index=False),
    "data.csv.xz": lambda t, p: t.to_csv(p, index=False),
    "data.csv.zip": lambda t, p: t.to_csv(p, index=False),
    "data.tsv": lambda t, p: t.to_csv(p, index=False, sep="\t"),
    "data.txt": lambda t, p: t.to_csv(p, index=False, sep=";"),
    "data.json": lambda t, p: t.to_json(p, orient="records"),
    "data.jsonl.gz": lambda t, p: t.to_json(p, orient="records", lines=True),
    "data.parquet": lambda t, p: t.to_parquet(p),
    "data.feather": lambda t, p: t.to_feather(p),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_is_read(name, table, tmp_path):
    WRITERS[name](table, tmp_path / name)
    frame = read_file(FileOptions(str(tmp_path / name))).frame
    assert sorted(frame) == sorted(table)
    np.testing.assert_allclose(frame[TRUE], table[TRUE])
    assert frame["group"].tolist() == table["group"].tolist()


def test_standard_input_and_named_formats(csv, table, run):
    words = ("select", "-", "-t", "group", "-m", 3, "--json")
    for data, more in ((csv.read_bytes(), ()), (table.to_json(orient="records"), ("-f", "json"))):
        result = run(*words, *more, input=data)
        assert result.exit_code == 0, result.output
        assert sorted(json.loads(result.stdout)["selected"]) == TRUE


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_noticed(encoding, read):
    found = read(GERMAN.encode(encoding))
    assert list(found.frame) == ["größe", "preis"]
    assert found.frame["preis"].tolist() == [2, 4]
    assert any("read as Windows-1252" in note for note in found.notes) == (encoding == "cp1252")


def test_a_letter_far_down_is_read_too(read):
    """No mere look at the first lines decides."""
    text = "name,x\n" + "plain,1\n" * 50_000 + "Müller,2\n"
    assert read(text.encode("cp1252")).frame["name"].iloc[-1] == "Müller"


def test_the_encoding_may_be_named(read):
    assert list(read("名前,y\n1,2\n".encode("shift_jis"), encoding="shift_jis").frame)[1] == "y"
    assert list(read(GERMAN.encode("utf-16-le"), encoding="utf-16-le").frame)[1] == "preis"
    for wrong in ("utf-8", "klingon"):
        with pytest.raises(CommandError, match=f"with --encoding {wrong}") as caught:
            read(GERMAN.encode("cp1252"), encoding=wrong)
        assert caught.value.code == ExitCode.INPUT


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " ", "   "])
@pytest.mark.parametrize("above", ["", "\n\n"])
def test_separators_below_blank_lines(separator, above, read):
    found = read(above + separator.join("abc") + ("\n" + separator.join("123")) * 5)
    assert list(found.frame) == ["a", "b", "c"]
    assert found.frame.shape == (5, 3)
    assert found.notes == ()


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a;b\n1,5;2,5\n3,5;4,5\n", ["a", "b"]),
        ("a,b\n1;2,3\n4;5,6\n", ["a", "b"]),
        ("one column of words\nand some\n", ["one column of words"]),
        ('a,"b, or\nc"\n1,2\n3,4\n', ["a", "b, or\nc"]),
    ],
)
def test_columns_by_what_makes_lines_equal(text, columns, read):
    assert list(read(text).frame) == columns


def test_decimal_commas_are_read_by_the_fit(table, tmp_path, run):
    answers = []
    for mark in (".", ","):
        path = tmp_path / "table.csv"
        table.to_csv(path, index=False, sep=";", decimal=mark)
        result = run("select", path, "-t", "group", "-m", 3, "--json")
        assert result.exit_code == 0, result.output
        answers.append(json.loads(result.stdout))
    assert answers[0]["notes"] == []
    assert answers[1]["notes"][-1].startswith("Read as numbers: 'x0', 'x1'")
    for key in ("selected", "features", "measures"):
        assert answers[0][key] == answers[1][key]


@pytest.mark.parametrize("first", ["1,0.5,7", "3,3,3", "-1, 2.5 ,", "1e5,2,2"])
def test_a_first_line_of_numbers_holds_values(first, read):
    found = read(f"{first}\n3,4,5\n6,7,8\n")
    assert list(found.frame) == ["column 0", "column 1", "column 2"]
    assert len(found.frame) == 3
    assert any("read as values" in note and "--header" in note for note in found.notes)
    assert len(read(f"{first}\n3,4,5\n6,7,8\n", header=True).frame) == 2


def test_numbers_among_names_are_told(read):
    found = read("M,0.25,1.5\nF,3,4\nM,1,2\n")
    assert any("some are numbers: '0.25', '1.5' (--no-header)" in note for note in found.notes)
    assert len(read("M,0.25,1.5\nF,3,4\n", header=False).frame) == 2
    assert len(read(f"a,b\n1,2\n{'x' * 200_000},3\n").frame) == 2


@pytest.mark.parametrize("first", ["0,1,2", "1999,2000,2001", "a,2,3", "a,b,b.1"])
def test_names_and_counts_are_names(first, read):
    found = read(f"{first}\n3,4,5\n6,7,8\n")
    assert ",".join(found.frame) == first
    assert found.notes == ()
    assert len(read(f"{first}\n3,4,5\n6,7,8\n", header=False).frame) == 3


def test_a_bomb_does_not_go_off(read, monkeypatch):
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 500_000)
    assert len(read(packed, "data.csv.gz").frame) == 500_000
    monkeypatch.setattr("covmin.cli.files._UNPACKED_BYTES", 10**6)
    with pytest.raises(CommandError, match=r"unpacks to more than .* GB") as caught:
        read(packed, "data.csv.gz")
    assert caught.value.code == ExitCode.INPUT
    assert "Parquet" in caught.value.hint


def test_empty_rows_and_columns_without_a_name_are_left_out(read):
    frame = read("a,b,,\n1,2,,\n,,,\n,3,,\n").frame
    assert list(frame) == ["a", "b"]
    assert frame["b"].tolist() == [2, 3]


RECORDS = [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": 3, "b": "z"}]


@pytest.mark.parametrize(
    "text", [json.dumps(RECORDS, indent=2), "\n".join(map(json.dumps, RECORDS))]
)
def test_forms_of_json(text, read):
    frame = read(text, "data.json").frame
    assert frame["a"].tolist() == [1, 2, 3]
    assert frame["b"].isna().tolist() == [False, True, False]


def test_records_in_records_and_lists(read):
    text = '{"a": {"x": 1, "y": 2}, "tags": ["p", "q"]}\n{"a": {"x": 3}, "tags": []}\n'
    frame = read(text, "data.jsonl").frame
    assert sorted(frame) == ["a.x", "a.y", "tags"]
    assert frame["tags"].tolist() == ['["p", "q"]', "[]"]


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"", "d.csv", "input is empty"),
        (b"\n\n", "d.csv", "input is empty"),
        (b"a,b\n", "d.csv", "no rows"),
        (b"a,a\n1,2\n", "d.json", "json"),
        (b"a,b\n1,2\n1,2,3,4\n", "d.csv", "Expected 2 fields in line 3, saw 4"),
        (b"\x80\x04\x95\x00\x00.", "d.pkl", "zero bytes"),
        (GERMAN.encode("utf-16-le"), "d.csv", "zero bytes"),
        (b"garbage", "d.csv.gz", "gzip"),
        (b"garbage", "d.csv.zip", "as a .zip file"),
        (b"garbage", "d.parquet", "parquet"),
        (b"3", "d.json", "does not contain a table"),
        (b'{"a": [1], "b": 2}', "d.json", "does not contain a table"),
        (b'[{"a": 1}, {"a":', "d.json", "json"),
    ],
)
def test_bad_bytes_are_input_errors(data, name, says, read):
    with pytest.raises(CommandError, match=says) as caught:
        read(data, name)
    assert caught.value.code == ExitCode.INPUT


def test_an_archive_holds_one_table(read):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("__MACOSX/._wines.csv", "rubbish")
        packed.writestr("folder/wines.csv", "a,b\n1,2\n")
    assert list(read(buffer.getvalue(), "d.csv.zip").frame) == ["a", "b"]
    with zipfile.ZipFile(buffer, "a") as packed:
        packed.writestr("readme.txt", "Read me.")
    with pytest.raises(CommandError, match="contains 2 files, not one"):
        read(buffer.getvalue(), "d.csv.zip")


def test_a_part_of_a_file_is_refused_where_there_is_none(csv, run):
    result = run("select", csv, "-t", "group", "--table", "x")
    assert result.exit_code == ExitCode.USAGE
    assert "has no effect on csv files" in result.stderr


@pytest.fixture
def book(table, tmp_path):
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    path = tmp_path / "lab.xlsx"
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        notes = pd.DataFrame({"note": [1.5, None], "by": pd.to_datetime(["2020-01-01"] * 2)})
        notes.to_excel(writer, sheet_name="Notes", index=False)
        table.to_excel(writer, sheet_name="Data", index=False, startcol=1)
    return path


def test_a_sheet_by_name(book, table):
    found = read_file(FileOptions(str(book), table="Data"))
    assert list(found.frame) == list(table)
    assert found.notes == ()


def test_the_first_of_several_sheets_is_named(book, run, monkeypatch):
    found = read_file(FileOptions(str(book)))
    assert found.notes == ("Only the first of 2 sheets was read: 'Notes' (--table).",)
    assert found.frame["by"].dtype.kind == "M"
    assert "The sheets are: 'Notes', 'Data'" in run("select", book, "--sheet", "data").stderr
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    result = run("select", book)
    assert result.exit_code == ExitCode.INPUT
    assert "pip install python-calamine" in result.stderr


def test_wide_tables_are_read_as_fast_as_by_pandas(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"feature_{j}" for j in range(5000)]
    pd.DataFrame(np.ones((20, 5000)), columns=names).to_csv(path, index=False)
    start = time.process_time()
    pd.read_csv(path)
    alone = time.process_time() - start
    start = time.process_time()
    columns = list(read_file(FileOptions(str(path))).frame)
    found = find_columns([",".join(names[::2])], columns, "--drop")
    assert time.process_time() - start < 10 * alone + 1.0
    assert found == names[::2]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv.gz", "out.parquet", "out.feather"])
def test_output_holds_selected_columns_and_target(name, table, tmp_path, run):
    source = tmp_path / "data.parquet"
    typed = table.astype({"x0": "float32"})
    typed.to_parquet(source)
    result = run("select", source, "-t", "group", "-m", 3, "-o", tmp_path / name)
    assert result.exit_code == 0, result.output
    written = read_file(FileOptions(str(tmp_path / name))).frame
    assert list(written) == [*TRUE, "group"]
    if name.endswith(("parquet", "feather")):
        pd.testing.assert_frame_equal(written, typed[[*TRUE, "group"]])


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_the_input_is_never_overwritten(option, csv, run):
    before = csv.read_bytes()
    result = run("select", csv, "-t", "group", "-m", 2, option, csv)
    assert result.exit_code == ExitCode.OUTPUT
    assert "would destroy" in result.output
    assert csv.read_bytes() == before


@pytest.mark.parametrize("text", ["=1+2", "+1+2", "-1+2", "@a", "\ta", "\ra"])
def test_no_name_and_no_cell_is_written_as_a_formula(text, tmp_path):
    frame = pd.DataFrame({text: ["plain", text], "kind": pd.Categorical([text, "-1,5"]), "a=1": -1})
    for path in (tmp_path / "out.csv", tmp_path / "out.tsv"):
        write_table(frame, path)
        written = pd.read_csv(path, sep="," if path.suffix == ".csv" else "\t")
        safe = "'" + text.replace("\r", "\n")
        assert list(written) == [safe, "kind", "a=1"]
        assert written.iloc[:, 0].tolist() == ["plain", safe]
        assert written["kind"].tolist() == [safe, "-1,5"]
        assert written["a=1"].tolist() == [-1, -1]


def test_rows_longer_than_the_names(read):
    """Pandas would take the first cells for an index, and shift the others."""
    ends_alike = read("a,b,y\n1,2,3,\n4,5,6,\n").frame
    assert ends_alike.to_numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    of_r = read("a,b\none,1,2\ntwo,3,4\n").frame
    assert of_r[["a", "b"]].to_numpy().tolist() == [[1, 2], [3, 4]]
    for rest in ("1,2,3,4\n5,6,7\n8,9,1\n", "1,2,3,4,5\n1,2,3,4,5\n", "1,2,3,,\n4,5,6\n"):
        with pytest.raises(CommandError, match="more cells than the first one has names"):
            read(f"a,b,y\n{rest}")
