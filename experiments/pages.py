"""Tables and pictures of the documentation, made from the files of results.

``python -m experiments.pages`` makes all of them (``make evidence``), and names the results of
earlier code and the sentences that the results do not bear out. ``--check`` says what is not as in
the results (exit status 1), ``--runs`` lists the commands that make the results from scratch with
their hours, and ``--run`` runs them too (``make evidence-full``). What there is stands in
:mod:`experiments.registry`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from experiments import provenance
from experiments.claims import CLAIMS
from experiments.numbers import TABLES
from experiments.registry import PICTURES, STUDIES
from experiments.tables import markdown_table

ROOT = provenance.ROOT
# What each picture was drawn from, and by what: files differ between versions of Matplotlib.
CHECKSUMS = ROOT / "experiments" / "checksums.json"
MARKED = r"(?P<start><!-- table: (?P<name>[\w-]+) -->).*?(?P<end><!-- end -->)"
RESULTS = "experiments/results/README.md"  # the table that lists all files of results
_MADE = {"_build", "api", "auto_examples"}


def pages() -> list[Path]:
    """All pages that may have tables."""
    docs = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not _MADE & set(page.parts)]
    return [ROOT / "README.md", *docs]


def outdated() -> list[Path]:
    """Files of results that were made by other code than there is."""
    return [study.path for study in STUDIES.values() if study.is_old]


def origin(files: Sequence[Path]) -> str:
    """A line below a table: what made it, and whether the code has changed since."""
    said = []
    for path in files:
        made, earlier = provenance.made(path), ", **earlier code**" if path in outdated() else ""
        said.append(f"`{made.command}` ({made.commit}{earlier})")
    return f"Made by {', '.join(dict.fromkeys(said))}."


def all_results() -> pd.DataFrame:
    """Every file of results with its command, hours and commit."""
    rows = []
    for study in STUDIES.values():
        command, made = f"`python -m experiments {study.name}`", "not run"
        state = ("current", "earlier code")[study.is_old]
        if study.path.exists():
            made = provenance.made(study.path).commit
        rows.append((command, f"{study.hours:g}", made, state if study.path.exists() else ""))
    return pd.DataFrame(rows, columns=["command", "hours", "commit", "state"])


def filled(page: str) -> str:
    """The page with every table between its markers made anew, and what made it below."""

    def made(match: re.Match[str]) -> str:
        make, digits = TABLES[match["name"]]
        try:
            with provenance.noted() as files:
                text = markdown_table(make(), digits)
            text += f"\n\n{origin(files)}"
        except FileNotFoundError as error:
            text = f"Not measured: `{Path(error.filename).name}` is not there."
        return f"{match['start']}\n\n{text}\n\n{match['end']}"

    return re.sub(MARKED, made, page, flags=re.DOTALL)


def marked(page: str) -> list[str]:
    """Names of the tables that a page has markers for."""
    return [match["name"] for match in re.finditer(MARKED, page, flags=re.DOTALL)]


def texts() -> Iterator[tuple[Path, str]]:
    """Every file of text that is made from results, and what should be in it."""
    for page in pages():
        if marked(text := page.read_text(encoding="utf-8")):
            yield page, filled(text)
    yield ROOT / RESULTS, f"{markdown_table(all_results())}\n"
    for study in STUDIES.values():
        if study.report is not None and study.path.exists():
            yield study.path.with_suffix(".md"), f"{study.tables()}\n{origin([study.path])}\n"


def checksums(picture: str) -> dict[str, str]:
    """Of a picture, of the files it is drawn from, and of what draws it."""
    files = [picture, *PICTURES[picture][1]]
    found = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest()[:16] for name in files}
    return found | {"code": provenance.version("pictures")}


def stale() -> list[str]:
    """Files that are not those of the results."""
    found = [
        path.relative_to(ROOT).as_posix()
        for path, text in texts()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    drawn = json.loads(CHECKSUMS.read_text(encoding="utf-8"))
    return found + [name for name in PICTURES if checksums(name) != drawn.get(name)]


def unfounded() -> list[str]:
    """Sentences that the results do not bear out, or that their page does not have."""
    found = []
    for page, sentence, holds in CLAIMS:
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        if sentence not in text or not holds():
            found.append(f"{page}: “{sentence}”")
    return found


def make_all() -> None:
    """Write every table and draw every picture."""
    for path, text in texts():
        path.write_text(text, encoding="utf-8")
    drawn, before = {}, json.loads(CHECKSUMS.read_text("utf-8")) if CHECKSUMS.exists() else {}
    for name, (draw, files) in PICTURES.items():
        is_kept = draw(*(provenance.read(ROOT / file) for file in files), ROOT / name) is False
        drawn[name] = before.get(name, {}) if is_kept else checksums(name)
    CHECKSUMS.write_text(json.dumps(drawn, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail where something is stale")
    parser.add_argument("--runs", action="store_true", help="list what makes the results")
    parser.add_argument("--run", action="store_true", help="make the results from scratch")
    options = parser.parse_args()
    if options.runs or options.run:
        for study in STUDIES.values():
            print(f"{study.hours:6.1f} h  python -m experiments {study.name}", flush=True)
            if options.run:
                words = [sys.executable, "-m", "experiments", study.name]
                if subprocess.run(words, cwd=ROOT).returncode:  # it may need a GPU
                    print(f"failed: {study.name}", flush=True)
        print(f"{sum(study.hours for study in STUDIES.values()):6.1f} h  in all, on one core")
        if options.runs:
            return 0
    if not options.check:
        make_all()
    found = [*stale(), *unfounded()]
    print("\n".join(f"stale: {name}" for name in found))
    print("\n".join(f"of earlier code: {path.stem}" for path in outdated()))
    return int(bool(found) and options.check)


if __name__ == "__main__":
    sys.exit(main())
