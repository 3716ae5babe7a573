"""Tables, numbers and pictures of the documentation, made from the files of results.

``python -m experiments.pages`` makes all of them (``make evidence``) and names the sentences that
the results do not bear out. ``--check`` says what is not as in the results (exit status 1),
``--runs`` lists the commands that make the results from scratch with their hours, and ``--run``
runs them too (``make evidence-full``). What there is stands in :mod:`experiments.registry`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from experiments.claims import CLAIMS
from experiments.numbers import TABLES
from experiments.registry import PICTURES, RUNS, STUDIES, TEXTS
from experiments.tables import markdown_table

ROOT = Path(__file__).resolve().parents[1]
# What each picture was drawn from: files of pictures differ between versions of Matplotlib.
CHECKSUMS = ROOT / "experiments" / "checksums.json"
MARKED = r"(?P<start><!-- (?P<kind>table|number): (?P<name>[\w-]+) -->).*?(?P<end><!-- end -->)"
_MADE = {"_build", "api", "auto_examples"}


def pages() -> list[Path]:
    """All pages that may have tables and numbers."""
    docs = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not _MADE & set(page.parts)]
    return [ROOT / "README.md", ROOT / "paper" / "paper.md", *docs]


def filled(page: str) -> str:
    """The page with every table and number between its markers made anew."""

    def made(match: re.Match[str]) -> str:
        make, digits = TABLES[match["name"]]
        found = make()
        if isinstance(found, pd.DataFrame):
            text = f"\n\n{markdown_table(found, digits)}\n\n"
        else:
            text = found if isinstance(found, str) else f"{found:,.{digits}f}"
        return f"{match['start']}{text}{match['end']}"

    return re.sub(MARKED, made, page, flags=re.DOTALL)


def marked(page: str) -> list[str]:
    """Names of the tables and numbers that a page has markers for."""
    return [match["name"] for match in re.finditer(MARKED, page, flags=re.DOTALL)]


def texts() -> Iterator[tuple[Path, str]]:
    """Every file of text that is made from results, and what should be in it."""
    for page in pages():
        if marked(text := page.read_text(encoding="utf-8")):
            yield page, filled(text)
    for study in STUDIES.values():
        if study.report is not None and study.path.exists():
            yield study.path.with_suffix(".md"), study.tables()
    for name, make in TEXTS.items():
        yield ROOT / name, make()


def checksums(picture: str) -> dict[str, str]:
    """Of a picture and of the files it is drawn from."""
    files = [picture, *PICTURES[picture][1]]
    return {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest()[:16] for name in files}


def stale() -> list[str]:
    """Files that are not those of the results, and sentences that these do not bear out."""
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
    for name, (draw, files) in PICTURES.items():
        draw(*(pd.read_csv(ROOT / file) for file in files), ROOT / name)
    drawn = {name: checksums(name) for name in PICTURES}
    CHECKSUMS.write_text(json.dumps(drawn, indent=1) + "\n", encoding="utf-8")


def commands() -> dict[str, float]:
    """The commands that make all results, and their hours."""
    studies = {f"experiments {name}": study.hours for name, study in STUDIES.items()}
    return {**studies, **{name: hours for name, (hours, _) in RUNS.items()}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail where something is stale")
    parser.add_argument("--runs", action="store_true", help="list what makes the results")
    parser.add_argument("--run", action="store_true", help="make the results from scratch")
    options = parser.parse_args()
    if options.runs or options.run:
        for command, hours in commands().items():
            print(f"{hours:6.1f} h  python -m {command}", flush=True)
            if options.run:
                words = [sys.executable, "-m", *shlex.split(command)]
                if subprocess.run(words, cwd=ROOT).returncode:  # it may need a GPU
                    print(f"failed: {command}", flush=True)
        print(f"{sum(commands().values()):6.1f} h  in all, on one core")
    if not (options.check or options.runs):
        make_all()
    found = [*stale(), *unfounded()] if not options.runs else []
    print("\n".join(f"stale: {name}" for name in found))
    return int(bool(found) and options.check)


if __name__ == "__main__":
    sys.exit(main())
