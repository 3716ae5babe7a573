"""The HTML report: data → plain dict → template.

`build_report` gathers everything into a dict of plain values, `render_report` turns the
dict into one HTML file that needs no network, and `write_report` does both.
"""

from ._build import build_report
from ._choice import error_curve, explain_choice
from ._code import reproduction_code
from ._render import render_report, write_report
from ._warnings import check_data

__all__ = [
    "build_report",
    "check_data",
    "error_curve",
    "explain_choice",
    "render_report",
    "reproduction_code",
    "write_report",
]
