"""The HTML report: data → dict of plain values → template.

`build_report` collects everything in a dict of plain values, and `render_report` turns the dict
into one HTML page that works offline. `CCMSelector.report` does both.
"""

from covmin.selection.headline import headline
from covmin.selection.summary import summary

from .build import build_report
from .render import Report, render_report

__all__ = ["Report", "build_report", "headline", "render_report", "summary"]
