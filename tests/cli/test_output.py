"""Files that are written."""

from __future__ import annotations

import pandas as pd
import pytest

from covmin.cli.output import write_table
from covmin.cli.tables import read_table

TRUE = ["x0", "x1", "x2"]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv.gz", "out.parquet", "out.feather"])
def test_output_holds_selected_columns_and_target(name, table, tmp_path, run):
    source = tmp_path / "data.parquet"
    typed = table.astype({"x0": "float32"})
    typed.to_parquet(source)
    result = run("select", source, "-t", "group", "-m", 3, "-o", tmp_path / name)
    assert result.exit_code == 0, result.output
    written = read_table(str(tmp_path / name))
    assert list(written) == [*TRUE, "group"]
    if name.endswith(("parquet", "feather")):
        pd.testing.assert_frame_equal(written, typed[[*TRUE, "group"]])


@pytest.mark.parametrize("option", ["--output", "--report"])
def test_the_input_is_never_overwritten(option, table, tmp_path, run):
    source = tmp_path / "data.csv"
    table.to_csv(source, index=False)
    before = source.read_bytes()
    result = run("select", source, "-t", "group", "-m", 2, option, source)
    assert result.exit_code == 6
    assert "would destroy" in result.output
    assert source.read_bytes() == before


@pytest.mark.parametrize("name", ["=1+2", "+1", "-1", "@a", "\ta", "\ra"])
def test_no_name_is_written_as_a_formula(name, tmp_path):
    for path in (tmp_path / "out.csv", tmp_path / "out.tsv"):
        write_table(pd.DataFrame({name: [1], "a=1": [2]}), path)
        line = path.read_bytes().decode().split("\n")[0].replace('"', "")
        assert line.startswith(f"'{name}")
        assert line.endswith("a=1")
