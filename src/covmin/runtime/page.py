"""An HTML page that can be shown in a notebook or saved to a file."""

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

from .files import replace_file


@dataclass(frozen=True, repr=False)
class Report:
    """A report on a fitted selector, to show in a notebook or to ``save`` to a file.

    Parameters
    ----------
    html : str
        The complete page, which works offline.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> CCMSelector(n_features_to_select=3).fit(X, y).report()
    <covmin report: displays in a notebook; .save("report.html") writes it to a file>
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file atomically and return its absolute path."""
        target = Path(path).absolute()
        replace_file(target, self.html.encode())
        return target

    def _repr_html_(self) -> str:
        # An iframe, so that the styles of page and notebook do not affect each other.
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="covmin report" '
            'style="width:100%;height:46rem;max-height:90vh;border:1px solid #8884"></iframe>'
        )

    def __repr__(self) -> str:
        return '<covmin report: displays in a notebook; .save("report.html") writes it to a file>'
