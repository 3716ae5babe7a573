"""The HTML report: data → plain dict → template.

`build_report` gathers everything into a dict of plain values, `render_report` turns the
dict into one HTML file that needs no network, and `write_report` does both.
"""

from .build import build_report
from .checks import check_data
from .choice import error_curve, explain_choice
from .code import reproduction_code
from .headline import Verdict, verdict
from .render import render_report, write_report

__all__ = [
    "Verdict",
    "build_report",
    "check_data",
    "error_curve",
    "explain_choice",
    "render_report",
    "reproduction_code",
    "verdict",
    "write_report",
]
