"""Tables and pictures of the documentation are those of the results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from experiments import pages
from experiments.registry import MADE, RUNS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "api", "auto_examples"} & set(page.parts)]
FILES = {each.file for each in MADE} | {name for run in RUNS for name in run.results}


def test_nothing_is_stale():
    assert list(pages.stale(MADE)) == [], "run `make evidence`"


def test_a_changed_table_and_a_picture_of_other_results_are_stale(tmp_path, monkeypatch):
    page, results = tmp_path / "page.md", tmp_path / "r.csv"
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "CHECKSUMS", tmp_path / "checksums.json")
    page.write_text("a\n<!-- table: t -->\nold\n<!-- end -->\nb\n")
    results.write_text("x\n1\n")
    table = {"t": (lambda: pd.read_csv(results), 0)}
    made = pages.Marked("page.md", "m:TABLES", "r.csv")
    drawn = pages.Picture("p.svg", "m:draw", "r.csv")
    makers = {"m:TABLES": table, "m:draw": lambda frame, path: path.write_text(str(frame))}
    monkeypatch.setattr(pages.Made, "maker", lambda self: makers[self.by])
    assert list(pages.stale([made, drawn])) == ["page.md", "p.svg"]
    pages.make_all([made, drawn])
    assert list(pages.stale([made, drawn])) == []
    assert page.read_text().startswith("a\n<!-- table: t -->\n\n| x |")
    results.write_text("x\n2\n")
    assert list(pages.stale([made, drawn])) == ["page.md", "p.svg"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_and_picture_is_registered(page):
    text, name = page.read_text("utf-8"), page.relative_to(ROOT).as_posix()
    tables = {t for each in MADE if each.file == name for t in each.maker()}
    assert set(pages.marked(text)) <= tables
    shown = re.findall(r"\{include\} (\S+)", text) + re.findall(r"!\[[^\]]*\]\(([^)\s]+)", text)
    for link in shown:
        file = (page.parent / link).resolve()
        if {"results", "figures"} & set(file.parts):
            assert file.relative_to(ROOT).as_posix() in FILES, link


def test_every_table_is_on_a_page():
    for by in {each.by for each in MADE if isinstance(each, pages.Marked)}:
        entries = [each for each in MADE if each.by == by]
        shown = {t for each in entries for t in pages.marked(each.path.read_text("utf-8"))}
        assert set(entries[0].maker()) <= shown, by


def test_every_file_of_results_has_a_run():
    made_by_runs = {name for run in RUNS for name in run.results}
    needed = {name for each in MADE for name in each.results}
    assert needed <= made_by_runs
    for each in MADE:
        assert each.is_ready() or not each.path.exists(), f"{each.file} without its results"
    for run in RUNS:
        assert 0.0 <= run.estimate() < 100.0, run.command
    assert set(json.loads(pages.CHECKSUMS.read_text("utf-8"))) == {
        each.file for each in MADE if isinstance(each, pages.Picture)
    }


def test_figures_in_the_text_of_the_paper_are_in_its_tables():
    text = (ROOT / "paper" / "paper.md").read_text("utf-8").split("# Results")[1]
    tables = "".join(re.findall(r"^\|.*$", text, flags=re.MULTILINE))
    prose = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    known = {*re.findall(r"\d+\.\d+", tables), "2.5", "0.2"}  # an optimum and a nominal rate
    assert set(re.findall(r"\d+\.\d+", prose)) <= known
