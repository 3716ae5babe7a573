"""Tables, sentences and pictures of the documentation are those of the results."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from experiments import pages, provenance
from experiments.claims import CLAIMS
from experiments.registry import PICTURES, STUDIES
from experiments.study import Study

ROOT = Path(__file__).resolve().parents[2]
PAGES = pages.pages()
# Decimals and percentages that nobody measured: parameters, levels, optima, chance, versions.
FIXED = {
    *(
        "0.001",
        "0.003",
        "0.01",
        "0.05",
        "0.1",
        "0.15",
        "0.2",
        "0.3",
        "0.4",
        "0.5",
        "0.6",
        "0.7",
        "0.8",
    ),
    *("1.0", "1.5", "2.5", "5.5", "5%", "10%", "80%", "86%"),
    *(
        "0.2.8",
        "1.6.0",
        "1.10",
        "1.12.0",
        "1.26.0",
        "2.1.0",
        "2.11",
        "3.11",
        "3.12",
        "3.13",
        "3.14",
    ),
    "13.0",
}
INCLUDED_WHOLE = ("CHANGELOG.md", "CONTRIBUTING.md")
MADE_BY_STUDIES = {study.path.relative_to(ROOT).as_posix() for study in STUDIES.values()}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def test_nothing_is_stale():
    has_browser = shutil.which("chromium") or shutil.which("chromium-browser")
    photographed = set() if has_browser else {"docs/images/report-top.png"}
    assert set(pages.stale()) <= photographed, "run `make evidence`"


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
    """A page without what is made from results, code, formulas and links."""
    text = re.sub(r"<!-- table: [\w-]+ -->.*?<!-- end -->", "", text, flags=re.DOTALL)
    text = re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", "", text, flags=re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "", text)


# Decisions keep numbers of programs that are only in the history.
@pytest.mark.parametrize(
    "page", [p for p in PAGES if p.name != "decisions.md"], ids=lambda page: page.name
)
def test_no_measured_number_is_typed_by_hand(page):
    text = page.read_text("utf-8")
    found = re.findall(r"\d+(?:\.\d+)+|\d+\s?%", prose(text))
    assert {re.sub(r"\s", "", number) for number in found} <= FIXED


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A page with a table, a picture, and the results that both are made of."""
    results = tmp_path / "r.csv"
    for name, value in {
        "ROOT": tmp_path,
        "CHECKSUMS": tmp_path / "checksums.json",
        "STUDIES": {"r": Study("r", list, dict, 0.5, parts=("fit",))},
        "RESULTS": "results.md",
        "pages": lambda: [tmp_path / "README.md"],
        "PICTURES": {"p.svg": (lambda frame, path: path.write_text(str(frame)), ["r.csv"])},
        "TABLES": {"t": (lambda: provenance.read(results), 0)},
    }.items():
        monkeypatch.setattr(pages, name, value)
    monkeypatch.setattr("experiments.study.RESULTS", tmp_path)
    (tmp_path / "README.md").write_text("a\n<!-- table: t --><!-- end -->\n")
    provenance.write(results, pd.DataFrame({"x": [1]}), "python -m experiments r", ["fit"])
    return tmp_path


def test_a_changed_table_and_a_picture_of_other_results_are_stale(site):
    pages.make_all()
    assert pages.stale() == []
    assert (site / "README.md").read_text().startswith("a\n<!-- table: t -->\n\n| x |")
    provenance.write(site / "r.csv", pd.DataFrame({"x": [2]}), "python -m experiments r", ["fit"])
    assert pages.stale() == ["README.md", "p.svg"]


def test_results_of_earlier_code_are_marked_below_their_table(site, monkeypatch):
    """A page that shows them as if they were current is stale, like a picture drawn otherwise."""
    pages.make_all()
    assert "**earlier code**" not in (site / "README.md").read_text()
    assert pages.all_results()["state"].tolist() == ["current"]
    monkeypatch.setattr(provenance, "version", lambda part: "other")
    assert pages.outdated() == [site / "r.csv"]
    assert pages.stale() == ["README.md", "results.md", "p.svg"]
    pages.make_all()
    assert "**earlier code**" in (site / "README.md").read_text()
    assert pages.all_results()["state"].tolist() == ["earlier code"]
    assert pages.stale() == []


def test_a_picture_that_could_not_be_drawn_stays_stale(site, monkeypatch):
    pages.make_all()
    monkeypatch.setattr(provenance, "version", lambda part: "other")
    monkeypatch.setitem(pages.PICTURES, "p.svg", (lambda frame, path: False, ["r.csv"]))
    pages.make_all()
    assert pages.stale() == ["p.svg"]


def test_results_that_are_not_there_are_said_to_be_missing(site):
    (site / "r.csv").unlink()
    assert "Not measured: `r.csv`" in pages.filled((site / "README.md").read_text())
    assert pages.all_results()["commit"].tolist() == ["not run"]


@every_page
def test_every_picture_and_included_file_is_made(page):
    links = re.findall(
        r"\{(?:include|image)\} (\S+)|!\[[^\]]*\]\(([^)\s]+)", page.read_text("utf-8")
    )
    reports = {name.replace(".csv", ".md") for name in MADE_BY_STUDIES}
    for link in map("".join, links):
        file = (page.parent / link).resolve()
        if "auto_examples" not in file.parts and file.name not in INCLUDED_WHOLE:
            assert file.relative_to(ROOT).as_posix() in {*PICTURES, *reports, pages.RESULTS}, link


def test_every_table_is_on_a_page():
    shown = {name for page in PAGES for name in pages.marked(page.read_text("utf-8"))}
    assert shown == set(pages.TABLES)


def test_every_file_of_results_has_a_maker():
    kept = list(ROOT.glob("experiments/results/*.csv"))
    found = {path.relative_to(ROOT).as_posix() for path in kept}
    assert found <= MADE_BY_STUDIES
    assert all(provenance.made(path).commit for path in kept)
    assert {name for _, files in PICTURES.values() for name in files} <= found
    assert set(json.loads(pages.CHECKSUMS.read_text("utf-8"))) == set(PICTURES)
    assert {page for page, _, _ in CLAIMS} <= {p.relative_to(ROOT).as_posix() for p in PAGES}


def test_hours_are_listed(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["pages", "--runs"])
    assert pages.main() == 0
    printed = capsys.readouterr().out
    assert "python -m experiments accuracy" in printed
    assert "in all" in printed
