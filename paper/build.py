"""Build paper.pdf from paper.md: ``make paper``. Pandoc and Typst come from PyPI."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pypandoc
import typst

HERE = Path(__file__).parent


def main() -> None:
    """Write paper.pdf beside this file."""
    options = ["--standalone", "--citeproc", f"--bibliography={HERE / 'paper.bib'}"]
    options += ["--metadata=author:The covmin developers"]  # JOSS has a list of its own
    options += ["--variable=papersize:a4", "--variable=fontsize:10pt"]
    text = pypandoc.convert_file(HERE / "paper.md", "typst", extra_args=options)
    with TemporaryDirectory() as folder:
        source = Path(folder) / "paper.typ"
        source.write_text(text, encoding="utf-8")
        typst.compile(source, output=HERE / "paper.pdf")
    print(f"{HERE / 'paper.pdf'}: {(HERE / 'paper.pdf').stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
