"""Formulas as MathML, which browsers draw themselves: the site needs no network and no script."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

__all__ = ["setup"]

_LOGGER = logging.getLogger(__name__)


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(f'<span class="math">{_markup(node)}</span>')
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{_markup(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _markup(node: nodes.Node, as_block: bool = False) -> str:
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        _LOGGER.warning("formula not understood: %s", error, location=node)
        return ""


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer: ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
