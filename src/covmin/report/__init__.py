"""The HTML report: data → plain dict → template.

`build_report` gathers everything into a dict of plain values, `render_report` turns the
dict into one HTML file that needs no network, and `write_report` does both.
"""

from covmin.report._build import build_report
from covmin.report._choice import error_curve, explain_choice
from covmin.report._code import reproduction_code
from covmin.report._render import render_report, write_report
from covmin.report._warnings import check_data

__all__ = [
    "build_report",
    "check_data",
    "error_curve",
    "explain_choice",
    "render_report",
    "reproduction_code",
    "write_report",
]
