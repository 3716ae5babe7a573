"""Show the selected features below scikit-learn's diagram in a notebook."""

from html import escape
from typing import Any

from .summary import summary

_SHOWN = 12
_ROW = (
    '<tr><td style="text-align:right">{rank}</td>'
    '<td style="text-align:left;padding:0 1.2em 0 .8em">{name}</td>'
    '<td style="text-align:left;min-width:8em"><span style="display:inline-block;height:.6em;'
    'width:{width:.2f}em;background:#0a8a8a;border-radius:2px"></span> {weight:.2f}</td></tr>'
)


class NotebookMixin:
    """A selector whose diagram lists the selected features."""

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, after a fit, the selected features."""
        diagram: str = super()._html_repr()  # type: ignore[misc]
        if not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            return diagram
        return f"<div>{diagram}{selection_html(self)}</div>"


def selection_html(selector: Any) -> str:
    """Return the headline and the selected features with ranks and weights, as HTML."""
    found = summary(selector)
    kept = [row for row in found["features"] if row["kept"]]
    rows = [
        _ROW.format(
            rank=row["rank"] or "given",
            name=escape(row["name"]),
            width=5.0 * row["weight"],
            weight=row["weight"],
        )
        for row in kept[:_SHOWN]
    ]
    more = f"<p>and {len(kept) - _SHOWN} more</p>" if len(kept) > _SHOWN else ""
    return (
        '<details open style="margin:.5em 0;font-family:system-ui,sans-serif;font-size:.9em">'
        f"<summary>{escape(found['headline'])}</summary>"
        '<table style="border-collapse:collapse;margin:.5em 0"><thead><tr><th>rank</th>'
        '<th style="text-align:left;padding-left:.8em">feature</th>'
        '<th style="text-align:left">weight</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>{more}</details>"
    )
