"""The HTML report: data → dict of plain values → template.

`build_report` collects everything in a dict of plain values, `render_report` turns the dict into
one HTML page that works offline, and `write_report` does both.
"""

from covmin.selection.headline import headline
from covmin.selection.summary import summary

from .build import build_report
from .checks import check_data
from .render import Report, render_report, write_report
from .reproduction import reproduction_code

__all__ = [
    "Report",
    "build_report",
    "check_data",
    "headline",
    "render_report",
    "reproduction_code",
    "summary",
    "write_report",
]
