"""A page of HTML that a notebook shows and a file keeps."""

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

from .files import replace_file


@dataclass(frozen=True, repr=False)
class Report:
    """A report on a fitted selector: a notebook shows it, and ``save`` writes it to a file.

    Parameters
    ----------
    html : str
        The whole page, which needs no network.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> CCMSelector(n_features_to_select=3).fit(X, y).report()
    <covmin report: shown in a notebook, written to a file by .save("report.html")>
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, all of it or nothing; returns the absolute path."""
        target = Path(path).absolute()
        replace_file(target, self.html.encode())
        return target

    def _repr_html_(self) -> str:
        # A page of its own inside the notebook: neither changes how the other looks.
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="covmin report" '
            'style="width:100%;height:46rem;max-height:90vh;border:1px solid #8884"></iframe>'
        )

    def __repr__(self) -> str:
        return '<covmin report: shown in a notebook, written to a file by .save("report.html")>'
