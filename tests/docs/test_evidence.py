"""Tables, numbers, sentences and pictures of the documentation are those of the results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from experiments import pages
from experiments.claims import CLAIMS
from experiments.registry import OLDER, PICTURES, RUNS, STUDIES, TEXTS

ROOT = Path(__file__).resolve().parents[2]
PAGES = pages.pages()
# Decimals and percentages that nobody measured: parameters, levels, optima, chance, versions.
FIXED = {
    *("0.001", "0.003", "0.01", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8"),
    *("1.0", "1.5", "2.5", "5.5", "5%", "10%", "80%", "86%"),
    *("0.2.8", "1.6.0", "1.10", "1.12.0", "1.26.0", "2.1.0", "2.11", "3.11", "3.12", "3.13"),
    "13.0",
}
INCLUDED_WHOLE = ("CHANGELOG.md", "CONTRIBUTING.md")
MADE_BY_STUDIES = {study.path.relative_to(ROOT).as_posix() for study in STUDIES.values()}
MADE_BY_RUNS = {name for _, files in RUNS.values() for name in files}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def test_nothing_is_stale():
    assert pages.stale() == [], "run `make evidence`"


def test_sentences_are_borne_out():
    assert pages.unfounded() == [], "rewrite the sentence, or its claim"


def test_a_sentence_that_left_its_page_or_does_not_hold_is_unfounded(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("It is\nthe best. It is cheap.")
    said = [("It is the best.", True), ("It is cheap.", False), ("It is dear.", True)]
    claims = [("page.md", sentence, lambda holds=holds: holds) for sentence, holds in said]
    monkeypatch.setattr(pages, "CLAIMS", claims)
    assert pages.unfounded() == ["page.md: “It is cheap.”", "page.md: “It is dear.”"]


def prose(text: str) -> str:
    """A page without what is made from results, code, formulas, links, and the estimate."""
    text = re.sub(r"<!-- (?:table|number): [\w-]+ -->.*?<!-- end -->", "", text, flags=re.DOTALL)
    text = re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", "", text, flags=re.DOTALL)
    text = re.sub(r"## A billion rows: an estimate.*?\n## ", "", text, flags=re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "", text)


# Decisions keep numbers of programs that are only in the history.
@pytest.mark.parametrize(
    "page", [p for p in PAGES if p.name != "decisions.md"], ids=lambda page: page.name
)
def test_no_measured_number_is_typed_by_hand(page):
    text = page.read_text("utf-8")
    found = re.findall(r"\d+(?:\.\d+)+|\d+\s?%", prose(text))
    assert {re.sub(r"\s", "", number) for number in found} <= FIXED
    assert not re.search(r"^\s*<!-- number", text, flags=re.MULTILINE), "it would begin a block"


def test_a_changed_table_and_a_picture_of_other_results_are_stale(tmp_path, monkeypatch):
    page, results = tmp_path / "README.md", tmp_path / "r.csv"
    for name, value in {
        "ROOT": tmp_path,
        "CHECKSUMS": tmp_path / "checksums.json",
        "STUDIES": {},
        "TEXTS": {},
        "pages": lambda: [page],
        "PICTURES": {"p.svg": (lambda frame, path: path.write_text(str(frame)), ["r.csv"])},
        "TABLES": {
            "t": (lambda: pd.read_csv(results), 0),
            "n": (lambda: float(pd.read_csv(results)["x"].sum()), 1),
        },
    }.items():
        monkeypatch.setattr(pages, name, value)
    page.write_text(
        "a <!-- number: n -->0<!-- end --> s\n<!-- table: t -->\nold\n<!-- end -->\nb\n"
    )
    results.write_text("x\n1\n")
    pages.make_all()
    assert pages.stale() == []
    assert page.read_text().startswith(
        "a <!-- number: n -->1.0<!-- end --> s\n<!-- table: t -->\n\n| x |"
    )
    results.write_text("x\n2\n")
    assert pages.stale() == ["README.md", "p.svg"]


@every_page
def test_every_picture_and_included_file_is_made(page):
    links = re.findall(
        r"\{(?:include|image)\} (\S+)|!\[[^\]]*\]\(([^)\s]+)", page.read_text("utf-8")
    )
    reports = {name.replace(".csv", ".md") for name in MADE_BY_STUDIES}
    for link in map("".join, links):
        file = (page.parent / link).resolve()
        if "auto_examples" not in file.parts and file.name not in INCLUDED_WHOLE:
            assert file.relative_to(ROOT).as_posix() in {*PICTURES, *TEXTS, *OLDER, *reports}, link


def test_every_table_is_on_a_page():
    shown = {name for page in PAGES for name in pages.marked(page.read_text("utf-8"))}
    assert shown == set(pages.TABLES)


def test_every_file_of_results_has_a_maker():
    kept = [*ROOT.glob("experiments/results/*.csv"), *ROOT.glob("benchmarks/results/*.csv")]
    found = {path.relative_to(ROOT).as_posix() for path in kept}
    assert found <= {*MADE_BY_STUDIES, *MADE_BY_RUNS, *OLDER}
    assert {name for _, files in PICTURES.values() for name in files} <= found
    assert all((ROOT / name).exists() for name in OLDER)
    assert set(json.loads(pages.CHECKSUMS.read_text("utf-8"))) == set(PICTURES)
    assert {page for page, _, _ in CLAIMS} <= {p.relative_to(ROOT).as_posix() for p in PAGES}


def test_hours_are_listed(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["pages", "--runs"])
    assert pages.main() == 0
    printed = capsys.readouterr().out
    assert "python -m experiments accuracy" in printed
    assert "in all" in printed


def test_figures_in_the_text_of_the_paper_are_in_its_tables():
    text = (ROOT / "paper" / "paper.md").read_text("utf-8").split("# Results")[1]
    tables = "".join(re.findall(r"^\|.*$", text, flags=re.MULTILINE))
    prose = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    known = {*re.findall(r"\d+\.\d+", tables), "2.5", "0.2"}  # an optimum and a nominal rate
    assert set(re.findall(r"\d+\.\d+", prose)) <= known
