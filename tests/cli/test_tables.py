"""Tables out of files."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma

import numpy as np
import pytest

from covmin.cli.errors import CommandError, ExitCode
from covmin.cli.tables import Source, parse_table

TRUE = ["x0", "x1", "x2"]


def write_npz(table, path):
    X = table.drop(columns="group")
    np.savez(path, X=X.to_numpy(), y=table["group"].to_numpy(dtype=str), feature_names=list(X))


def write_mat(table, path):
    from scipy.io import savemat

    X = table.drop(columns="group")
    y = table["group"].astype("category").cat.codes
    savemat(path, {"X": X.to_numpy(), "y": y.to_numpy()[:, None]})


WRITERS = {
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
    assert "carry code" in result.stderr


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"a,b\n", "no rows"),
        (b"\x1f\x8bgarbage", "compressed"),
        (b"PAR1garbage", "parquet"),
        (b"MATLABgarbage", "mat"),
        (b"a,b\n1,2\n1,2,3,4\n", "CSV"),
        (b"a\xff,b\n1,2\n", "not UTF-8"),
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
    assert answer["notes"] == ["Numbers were read with a decimal comma (--decimal ,)."]
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


def test_files_that_share_only_an_ending_are_not_suggested(csv, run):
    result = run("select", csv.parent / "measurements.csv")
    assert "Did you mean" not in result.stderr
