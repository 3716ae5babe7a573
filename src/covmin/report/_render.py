"""From the dict of a report to one HTML file."""

from __future__ import annotations

import json
import os
from importlib import resources
from pathlib import Path
from typing import Any

from covmin.runtime.files import replace_file

from ._build import build_report

__all__ = ["render_report", "write_report"]


def render_report(report: dict[str, Any]) -> str:
    """Render a report as one HTML page that needs no network.

    Parameters
    ----------
    report : dict
        From `build_report`.

    Returns
    -------
    html : str
        Every name and value is escaped.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import build_report, render_report
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> selector = CCMSelector(n_features_to_select=3).fit(X, y)
    >>> render_report(build_report(selector, X, y))[:15]
    '<!doctype html>'
    """
    try:
        from jinja2 import Environment
    except ImportError as error:
        raise ImportError(
            "Reports are rendered with Jinja2: pip install 'covmin[report]'."
        ) from error
    assets = resources.files("covmin.report") / "assets"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": _percent, "number": _number, "count": _count}
    template = environment.from_string((assets / "template.html").read_text("utf-8"))
    scripts = [(assets / name).read_text("utf-8") for name in ("charts.js", "report.js")]
    return template.render(
        report=report,
        style=(assets / "report.css").read_text("utf-8"),
        script="\n".join(scripts),
        embedded=_embedded(report),
    )


def write_report(
    selector: Any, X: Any, y: Any, path: str | os.PathLike[str], **options: Any
) -> Path:
    """Write the report on a fitted selector, all of it or nothing.

    Parameters
    ----------
    selector : CCMSelector
        Fitted on X and y.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    path : str or path
        The HTML file to write.
    **options
        Passed to `build_report`.

    Returns
    -------
    path : Path
        The absolute path of the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import write_report
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> selector = CCMSelector(n_features_to_select=3).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(selector, X, y, folder + "/report.html").name
    'report.html'
    """
    target = Path(path).absolute()
    html = render_report(build_report(selector, X, y, **options))
    replace_file(target, html.encode())
    return target


def _embedded(report: dict[str, Any]) -> Any:
    """JSON that cannot end the script element it stands in."""
    from markupsafe import Markup

    text = json.dumps(report, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _percent(value: float) -> str:
    """A share as a percentage: one digit where it is small.

    Examples
    --------
    >>> _percent(0.0312), _percent(0.62), _percent(-0.001)
    ('3.1%', '62%', '0%')
    """
    share = 100.0 * max(value, 0.0)
    text = f"{share:.1f}" if 0.05 <= share < 9.95 else f"{share:.0f}"
    return f"{text}%"


def _number(value: float) -> str:
    return (
        f"{value:,.4g}"
        if abs(value) < 1e4
        else f"{value:,.0f}"
        if abs(value) < 1e7
        else f"{value:.3g}"
    )


def _count(value: int) -> str:
    return f"{value:,}"
