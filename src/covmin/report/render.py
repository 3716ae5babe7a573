"""Render the dict of a report as an HTML page."""

import os
import re
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from covmin.remarks import required
from covmin.runtime.resume import replace_file
from covmin.text import number, p_value, percent, shortened


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


def render_report(report: dict[str, Any]) -> str:
    """Render a report as one HTML page that works offline.

    Parameters
    ----------
    report : dict
        From `build_report`.

    Returns
    -------
    html : str
        The page, with all names and values escaped.
    """
    jinja2 = required("jinja2", "A report", "report")
    assets = resources.files("covmin.report") / "assets"
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": percent, "number": number, "count": "{:,}".format}
    environment.filters |= {"short": _breakable, "plain": shortened, "p_value": p_value}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    template, style, *scripts = (
        (assets / name).read_text("utf-8")
        for name in ("template.html", "report.css", "charts.js", "report.js")
    )
    page = environment.from_string(template)
    return page.render(report=report, style=style, script="\n".join(scripts))


def _breakable(name: str) -> Any:
    """Return a shortened name as HTML that may wrap at the ends of its words."""
    from markupsafe import Markup

    ends = r"(?<=[_./:|])(?=[^\W\d])|(?<=[a-z])(?=[A-Z])"
    return Markup(re.sub(ends, "<wbr>", escape(shortened(name))))
