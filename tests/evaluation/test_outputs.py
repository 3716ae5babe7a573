"""The paper's experiments, from the command to tables and pictures."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from covmin.baselines import available_selectors
from covmin.cli.reproduce import app
from covmin.evaluation.paper import METHODS, SETS, VARIANTS, curve_task, run_real


def test_synthetic(tmp_path):
    arguments = ["synthetic", "--quick", "--output", str(tmp_path), "--quiet", "--repeats", "2"]
    arguments += ["--samples", "20", "--samples", "30"]
    for name in ("ccm-single", "pearson", "ccm-soft-0.1"):
        arguments += ["--only", name]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 0, outcome.output
    table = pd.read_csv(tmp_path / "results" / "synthetic-quick.csv")
    assert set(table["protocol"]) == {"median rank"}
    assert len(table) == 3 * 3 * 2
    assert "protocol: median rank" in (tmp_path / "results/synthetic-quick.md").read_text()
    for stem in ("synthetic-quick", "synthetic-quick-variants"):
        for suffix in ("png", "svg"):
            assert (tmp_path / "figures" / f"{stem}.{suffix}").stat().st_size > 1000
    (tmp_path / "results" / "synthetic-quick.csv").unlink()
    again = CliRunner().invoke(app, [*arguments, "--no-run", "--only", "mi"])
    assert "Resuming the run" in again.output
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "results" / "synthetic-quick.csv"), table)


def test_real(tmp_path):
    arguments = ["real", "--quick", "--output", str(tmp_path), "--quiet", "--dataset", "wine"]
    arguments += ["--only", "pearson", "--only", "ccm-single"]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 0, outcome.output
    table = pd.read_csv(tmp_path / "results" / "real-quick.csv")
    assert set(table["protocol"]) == {"paper", "nested"}
    assert len(table) == 2 * 2 * 13
    for protocol in ("paper", "nested"):
        picture = (tmp_path / "figures" / f"real-quick-{protocol}.svg").read_text()
        assert f"protocol: {protocol}" in picture


def test_settings_mismatch_is_a_message(tmp_path):
    path = tmp_path / "results" / "real.jsonl"
    path.parent.mkdir()
    path.write_text('{"format":"covmin-results-1","settings":{"random_state":7}}\n')
    outcome = CliRunner().invoke(app, ["real", "-o", str(tmp_path), "--dataset", "wine", "-q"])
    assert outcome.exit_code == 2
    assert "other settings" in outcome.output


def test_full_settings_cover_the_paper():
    assert len(SETS) == 14
    assert {"ccm", "ccm-single", *available_selectors()} <= set(METHODS)
    assert VARIANTS[0] == "ccm-soft-0.001"
    assert len(VARIANTS) == 10
    assert curve_task("wine").sizes == list(range(1, 14))


def test_protocol_by_name():
    with pytest.raises(ValueError, match="honest"):
        run_real(datasets=["wine"], selectors=["pearson"], protocols=["honest"])
