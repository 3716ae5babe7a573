"""Tables out of files."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sqlite3
import time
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from covmin.cli.columns import find_columns
from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.tables import Source, parse_table, read_table

TRUE = ["x0", "x1", "x2"]


def write_npz(table, path):
    X = table.drop(columns="group")
    np.savez(path, X=X.to_numpy(), y=table["group"].to_numpy(dtype=str), feature_names=list(X))


def write_mat(table, path):
    from scipy.io import savemat

    X = table.drop(columns="group")
    y = table["group"].astype("category").cat.codes
    savemat(path, {"X": X.to_numpy(), "y": y.to_numpy()[:, None]})


def write_zst(table, path):
    import pyarrow as pa

    path.write_bytes(pa.compress(table.to_csv(index=False).encode(), codec="zstd", asbytes=True))


def write_sqlite(table, path):
    with closing(sqlite3.connect(path)) as connection:
        table.to_sql("wines", connection, index=False)


def write_excel(table, path):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    table.to_excel(path, index=False)


WRITERS = {
    "data.csv.zst": write_zst,
    "data.json": lambda t, p: t.to_json(p, orient="records"),
    "data.jsonl": lambda t, p: t.to_json(p, orient="records", lines=True),
    "data.ndjson.gz": lambda t, p: t.to_json(p, orient="records", lines=True),
    "data.sqlite": write_sqlite,
    "data.xlsx": write_excel,
    "data.csv": lambda t, p: t.to_csv(p, index=False),
    "data.csv.gz": lambda t, p: t.to_csv(p, index=False),
    "data.csv.bz2": lambda t, p: t.to_csv(p, index=False),
    "data.csv.xz": lambda t, p: t.to_csv(p, index=False),
    "data.csv.zip": lambda t, p: t.to_csv(p, index=False),
    "data.tsv": lambda t, p: t.to_csv(p, index=False, sep="\t"),
    "semicolons.csv": lambda t, p: t.to_csv(p, index=False, sep=";"),
    "data.parquet": lambda t, p: t.to_parquet(p),
    "data.feather": lambda t, p: t.to_feather(p),
    "data.npz": write_npz,
    "data.mat": write_mat,
}


@pytest.mark.parametrize("name", WRITERS)
def test_select_reads_every_format(name, table, tmp_path, run):
    path = tmp_path / name
    WRITERS[name](table, path)
    target = "y" if name.endswith((".npz", ".mat")) else "group"
    result = run("select", path, "--target", target, "-m", 3, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert sorted(answer["selected"]) == TRUE
    assert answer["n_selected"] == 3
    assert [row["rank"] for row in answer["ranking"]] == list(range(1, 11))


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_select_reads_standard_input(compress, csv, run):
    result = run("select", "-", "-t", -1, "-m", 3, "--json", input=compress(csv.read_bytes()))
    assert result.exit_code == 0, result.output
    assert sorted(json.loads(result.stdout)["selected"]) == TRUE


def test_no_header_and_index_target(table, tmp_path, run):
    path = tmp_path / "bare.csv"
    table.to_csv(path, index=False, header=False)
    result = run("select", path, "--no-header", "-t", 10, "-m", 3, "--json")
    assert sorted(json.loads(result.stdout)["selected"]) == ["0", "1", "2"]


@pytest.mark.parametrize("name", ["evil.pkl", "evil.joblib", "evil.npy"])
def test_pickles_are_refused(name, tmp_path, run):
    (tmp_path / name).write_bytes(b"\x80\x04.")
    result = run("select", tmp_path / name, "-t", 0)
    assert result.exit_code == ExitCode.INPUT
    assert "contain code" in result.stderr


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"a,b\n", "no rows"),
        (b"\x1f\x8bgarbage", "compressed"),
        (b"PAR1garbage", "parquet"),
        (b"MATLABgarbage", "mat"),
        (b"a,b\n1,2\n1,2,3,4\n", "CSV"),
        (b"a,b\n1,2\n1,2,3,4\n", "line 3 has 4 cells, but earlier lines have 2"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b'[{"a": 1}, {"a":', "json"),
        (b"SQLite format 3\x00garbage", "database"),
    ],
)
def test_bad_bytes_are_input_errors(data, says):
    with pytest.raises(CommandError, match=says) as caught:
        parse_table(data, Source("-"))
    assert caught.value.code == ExitCode.INPUT


def test_decimal_commas_are_noticed_or_asked_for(table, tmp_path, run):
    german, quoted = tmp_path / "german.csv", tmp_path / "quoted.csv"
    table.to_csv(german, index=False, sep=";", decimal=",")
    table.to_csv(quoted, index=False, decimal=",", quoting=1)
    answer = json.loads(run("select", german, "-t", "group", "-m", 3, "--json").stdout)
    assert sorted(answer["selected"]) == TRUE
    assert answer["notes"] == ["Numbers were read with decimal commas (--decimal ,)."]
    for words in ((), ("--decimal", ",")):
        result = run("select", quoted, "-t", "group", "-m", 3, *words, "--json")
        assert sorted(json.loads(result.stdout)["selected"]) == TRUE


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_empty_files_say_so(content, tmp_path, run):
    path = tmp_path / "empty.csv"
    path.write_text(content)
    result = run("select", path, "-t", "a")
    assert result.exit_code == ExitCode.INPUT
    assert "The input is empty." in result.stderr


def test_a_name_may_be_wrong_about_the_format(table, tmp_path, run):
    """What programs call a spreadsheet is often text, and a column may be called as a format."""
    text, parquet = tmp_path / "data.xls", tmp_path / "data.csv"
    table.to_csv(text, index=False, sep="\t")
    table.to_parquet(parquet)
    for path in (text, parquet):
        answer = json.loads(run("select", path, "-t", "group", "-m", 3, "--json").stdout)
        assert sorted(answer["selected"]) == TRUE
    assert list(parse_table(b"PAR1,y\n1,2\n2,3\n", Source("-"), "csv")) == ["PAR1", "y"]


@pytest.mark.parametrize("name", ["model.duckdb", "data.h5", "data.sav"])
def test_formats_that_are_not_read_say_what_to_do(name, tmp_path, run):
    (tmp_path / name).write_bytes(b"whatever")
    result = run("select", tmp_path / name)
    assert result.exit_code == ExitCode.INPUT
    assert "Save the table as CSV" in result.stderr


@pytest.mark.parametrize("option", ["--table", "--sheet", "--query"])
def test_options_for_parts_of_a_file_are_refused_where_there_are_none(option, csv, run):
    result = run("select", csv, "-t", "group", option, "x")
    assert result.exit_code == ExitCode.USAGE
    assert "has no effect on csv files" in result.stderr


def test_empty_rows_and_columns_without_a_name_are_left_out():
    frame = parse_table(b"a,b,,\n1,2,,\n,,,\n,3,,\n", Source("-"))
    assert list(frame) == ["a", "b"]
    assert frame["b"].tolist() == [2, 3]


def test_wide_tables_are_read_as_fast_as_by_pandas(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"feature_{j}" for j in range(5000)]
    pd.DataFrame(np.ones((20, 5000)), columns=names).to_csv(path, index=False)
    start = time.process_time()
    pd.read_csv(path)
    alone = time.process_time() - start
    start = time.process_time()
    columns = list(read_table(str(path)))
    found = find_columns([",".join(names[::2])], columns, "--drop")
    assert time.process_time() - start < 10 * alone + 1.0
    assert found == names[::2]


def test_files_that_share_only_an_ending_are_not_suggested(csv, run):
    result = run("select", csv.parent / "measurements.csv")
    assert "Did you mean" not in result.stderr
