"""The HTML report: data → dict of plain values → template.

`build_report` collects everything in a dict of plain values, `render_report` turns the dict into
one HTML page that works offline, and `write_report` does both.
"""

from covmin.runtime.page import Report
from covmin.selection.headline import Headline, error_curve, explain_choice, headline

from .build import build_report
from .checks import check_data
from .code import reproduction_code
from .render import make_report, render_report, write_report

__all__ = [
    "Headline",
    "Report",
    "build_report",
    "check_data",
    "error_curve",
    "explain_choice",
    "headline",
    "make_report",
    "render_report",
    "reproduction_code",
    "write_report",
]
