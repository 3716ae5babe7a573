"""The HTML report: a dict of plain values (`build_report`), and a page of it (`render_report`)."""

from covmin.selection.headline import headline
from covmin.selection.summary import summary

from .build import build_report
from .render import Report, render_report

__all__ = ["Report", "build_report", "headline", "render_report", "summary"]
