"""Files in archives, and what is packed for output."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from covmin.cli.errors import ExitCode
from covmin.cli.packing import COMPRESSIONS


@pytest.fixture
def archive(table, tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("folder/", "")
        packed.writestr("__MACOSX/._wines.csv", "rubbish")
        packed.writestr("folder/wines.csv", table.to_csv(index=False))
        packed.writestr("readme.txt", "Read me.")
    return path


def test_a_file_in_an_archive_by_its_name(archive, run):
    result = run("select", archive, "-t", "group")
    assert result.exit_code == ExitCode.INPUT
    assert "2 files: 'folder/wines.csv', 'readme.txt'" in result.stderr
    assert "--table" in result.stderr
    result = run("select", archive, "-t", "group", "-m", 3, "--table", "folder/wines.csv", "--json")
    assert result.exit_code == 0, result.output
    assert sorted(json.loads(result.stdout)["selected"]) == ["x0", "x1", "x2"]


def test_a_spreadsheet_or_json_in_an_archive(table, run):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("wines.jsonl", table.to_json(orient="records", lines=True))
    result = run("select", "-", "-t", "group", "-m", 3, "--json", input=buffer.getvalue())
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_what_is_packed_is_unpacked(suffix):
    compression = COMPRESSIONS[suffix]
    packed = compression.pack(b"rows" * 1000)
    assert packed.startswith(compression.magic)
    assert compression.unpack(packed) == b"rows" * 1000
