"""Notebooks run from top to bottom, and are kept without outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_are_kept_without_outputs(notebook):
    nbformat.validate(notebook)
    for cell in code_cells(notebook):
        assert not cell.outputs
        assert cell.execution_count is None


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of Jupyter's own
def test_run_from_top_to_bottom(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    streams = [output for output in outputs if output.output_type == "stream"]
    said = "".join(output.text for output in streams if output.name == "stderr")
    # No warning, and no progress bar that stays: what is left after the last return is blank.
    assert not [line for line in said.split("\n") if line.split("\r")[-1].strip()]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 2
    assert outputs[-1].data["text/html"].startswith("<iframe srcdoc=")
