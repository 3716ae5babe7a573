"""Tables, numbers, sentences and pictures of the documentation are those of the results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from experiments import pages
from experiments.registry import CLAIMS, MADE, RUNS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "paper" / "paper.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "api", "auto_examples"} & set(page.parts)]
REMOTE = "https://raw.githubusercontent.com/covmin/covmin/main/"
# Decimals and percentages that nobody measured: parameters, levels, optima, chance, versions.
FIXED = {
    *("0.001", "0.003", "0.01", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8"),
    *("1.0", "1.5", "2.5", "5.5", "5%", "10%", "80%", "86%"),
    *("0.2.8", "1.6.0", "1.10", "1.12.0", "1.26.0", "2.1.0", "2.11", "3.11", "3.12", "3.13"),
    "13.0",
}
INCLUDED_WHOLE = ("CHANGELOG.md", "CONTRIBUTING.md")
FILES = {each.file for each in MADE} | {name for run in RUNS for name in run.results}


def test_nothing_is_stale():
    assert list(pages.stale(MADE)) == [], "run `make evidence`"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.holds.partition(":")[2])
def test_sentences_are_borne_out(claim):
    assert list(pages.unfounded([claim])) == [], "rewrite the sentence, or its claim"


def test_a_sentence_that_left_its_page_or_does_not_hold_is_unfounded(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("It is\nthe best. It is cheap.")
    holds = {"m:yes": lambda: True, "m:no": lambda: False}
    monkeypatch.setattr(pages, "named", holds.__getitem__)
    said = [("It is the best.", "m:yes"), ("It is the best.", "m:no"), ("It is dear.", "m:yes")]
    claims = [pages.Claim("page.md", *each) for each in said]
    assert [claim.is_stale() for claim in claims] == [False, True, True]


def prose(text: str) -> str:
    """A page without what is made from results, code, formulas, links, and the estimate."""
    text = re.sub(r"<!-- (?:table|number): [\w-]+ -->.*?<!-- end -->", "", text, flags=re.DOTALL)
    text = re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", "", text, flags=re.DOTALL)
    text = re.sub(r"## A billion rows: an estimate.*?\n## ", "", text, flags=re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_measured_number_is_typed_by_hand(page):
    text = page.read_text("utf-8")
    found = re.findall(r"\d+(?:\.\d+)+|\d+\s?%", prose(text))
    assert {re.sub(r"\s", "", number) for number in found} <= FIXED
    assert not re.search(r"^\s*<!-- number", text, flags=re.MULTILINE), "it would begin a block"


def test_a_changed_table_and_a_picture_of_other_results_are_stale(tmp_path, monkeypatch):
    page, results = tmp_path / "page.md", tmp_path / "r.csv"
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "CHECKSUMS", tmp_path / "checksums.json")
    page.write_text(
        "a <!-- number: n -->0<!-- end --> s\n<!-- table: t -->\nold\n<!-- end -->\nb\n"
    )
    results.write_text("x\n1\n")
    table = {
        "t": (lambda: pd.read_csv(results), 0),
        "n": (lambda: float(pd.read_csv(results)["x"].sum()), 1),
    }
    made = pages.Marked("page.md", "m:TABLES", "r.csv")
    drawn = pages.Picture("p.svg", "m:draw", "r.csv")
    makers = {"m:TABLES": table, "m:draw": lambda frame, path: path.write_text(str(frame))}
    monkeypatch.setattr(pages.Made, "maker", lambda self: makers[self.by])
    assert list(pages.stale([made, drawn])) == ["page.md", "p.svg"]
    pages.make_all([made, drawn])
    assert list(pages.stale([made, drawn])) == []
    assert page.read_text().startswith(
        "a <!-- number: n -->1.0<!-- end --> s\n<!-- table: t -->\n\n| x |"
    )
    results.write_text("x\n2\n")
    assert list(pages.stale([made, drawn])) == ["page.md", "p.svg"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_and_picture_is_registered(page):
    text, name = page.read_text("utf-8"), page.relative_to(ROOT).as_posix()
    tables = {t for each in MADE if each.file == name for t in each.maker()}
    assert set(pages.marked(text)) <= tables
    links = re.findall(r"\{(?:include|image)\} (\S+)|!\[[^\]]*\]\(([^)\s]+)", text)
    for link in map("".join, links):
        local = ROOT / link.removeprefix(REMOTE) if link.startswith(REMOTE) else page.parent / link
        file = local.resolve()
        if "auto_examples" not in file.parts and file.name not in INCLUDED_WHOLE:
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
