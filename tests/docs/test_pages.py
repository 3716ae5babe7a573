"""What the README, the pages and the gallery show works as it stands there."""

from __future__ import annotations

import importlib.util
import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covmin.datasets import make_survival, make_xor

from .blocks import Block, blocks, printed, same

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "api", "auto_examples"} & set(page.parts)]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


def fences(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def needs(page: Path) -> list[str]:
    """Optional libraries that a page names in a comment, such as <!-- needs: torch -->."""
    return re.findall(r"<!-- needs: ([\w.]+) -->", page.read_text(encoding="utf-8"))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A folder with the tables that the pages speak of."""
    X, y = make_xor(60, random_state=0, return_X_y=True)
    table = pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(10)])
    table["outcome"] = np.array(["red", "green", "blue", "white"])[y]
    for name in ("table.csv", "table.csv.gz"):
        table.to_csv(tmp_path / name, index=False)
    table.to_csv(tmp_path / "german.csv", index=False, sep=";", decimal=",")
    houses = table[["x0", "x1"]].assign(district=table["outcome"], price=table["x2"])
    houses.to_csv(tmp_path / "houses.csv", index=False)
    X, y = make_survival(100, 2, random_state=0, return_X_y=True)
    trial = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)])
    trial = trial.assign(days=y["time"], died=y["event"], status=y["event"] + 1)
    trial.to_csv(tmp_path / "trial.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if fences(p, "python")], ids=name_of)
def test_python_blocks_run(page, workspace):
    for library in needs(page):
        pytest.importorskip(library)
    names: dict[str, object] = {}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python":
            assert_shown(block, printed(block.code, names, name_of(page)))


def assert_shown(block: Block, got: str) -> None:
    if block.output is not None:
        assert same(block.output, got), f"{block.code}\nshown:\n{block.output}\ngot:\n{got}"


def commands(code: str) -> list[str]:
    lines = code.replace("\\\n", " ").splitlines()
    return [line.split(" #")[0].strip() for line in lines if line.strip()]


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if fences(p, "bash")], ids=name_of)
def test_shell_blocks_run(page, workspace):
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "bash":
            got = "".join(run_line(line, workspace) for line in commands(block.code))
            assert_shown(block, got)


def run_line(line: str, folder: Path) -> str:
    """Run a covmin command; check that what other commands name exists."""
    piped = None
    if line.startswith("cat ") and " | " in line:
        source, line = line.split(" | ", 1)
        piped = (folder / source.removeprefix("cat ").strip()).read_bytes()
    words = shlex.split(line)
    if words[0] == "covmin":
        from typer.testing import CliRunner

        from covmin.cli.app import app

        result = CliRunner().invoke(app, words[1:], input=piped)
        assert result.exit_code == 0, f"{line}\n{result.output}"
        return result.stdout
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    elif words[:2] == ["python", "-m"]:
        assert importlib.util.find_spec(words[2]), line
    elif words[0] == "pip":
        for extra in re.findall(r"\[([\w,]+)\]", line):
            assert_extras_exist(extra.split(","))
    else:
        assert (ROOT / words[-1 if words[0] == "python" else 0]).exists(), line
    return ""


def assert_extras_exist(extras: list[str]) -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras) <= set(project["optional-dependencies"]), extras


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!http)([^)#\s]+)[^)]*\)", text):
        if made := re.fullmatch(r"/auto_examples/images/sphx_glr_(\w+)_\d+\.png", link):
            assert (ROOT / "examples" / f"{made[1]}.py").exists(), link  # the gallery draws it
        else:
            assert (page.parent / link).exists(), link
    # A clone without a network shows its own pages and pictures.
    assert not re.search(r"https://(covmin\.readthedocs|raw\.githubusercontent\.com/covmin)", text)
    for document in re.findall(r"\{doc\}`([^`<]+)`", text):
        if document.startswith("auto_examples/"):
            assert (ROOT / "examples" / f"{Path(document).name}.py").exists(), document


def test_files_that_contributing_names_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|md|yaml|cff))`", text))
    assert "tests/naive.py" in named
    for name in named - {"NAME.md"}:
        there = [ROOT / name, ROOT / "src" / name]
        assert any(p.exists() for p in there) or [*ROOT.glob(f"src/covmin/**/{name}")], name


def test_shown_output_is_compared_to_a_tolerance():
    assert same("error 8.2% of 13\n", "error  8.3% of 13")
    assert not same("error 8.2% of 13", "error 9.2% of 13")
    assert not same("error 8.2% of 13", "error 8.2% of 14")
    assert not same("kept", "left")


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_examples_run(example, workspace, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for library in re.findall(r"^# needs: ([\w.]+)", example.read_text("utf-8"), re.MULTILINE):
        pytest.importorskip(library)
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    runpy.run_path(str(example))
    assert pyplot.get_fignums(), "an example of the gallery draws something"
    pyplot.close("all")


def test_the_reference_names_every_public_object():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    modules = re.findall(r"currentmodule:: ([\w.]+)", text)
    assert "covmin" in modules
    listed = set(re.findall(r"^   (?:~[\w.]+\.)?(\w+)$", text, flags=re.MULTILINE))
    for module in modules:
        public = set(importlib.import_module(module).__all__) - {"__version__"}
        assert public <= listed, f"{module}: {sorted(public - listed)}"
