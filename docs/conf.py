"""Configuration of the documentation site: ``make docs``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# Small problems: threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import covmin

project = "covmin"
author = "The covmin developers"
copyright = "the covmin developers"
version = release = covmin.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "mathml",
]
# Links into other projects need their inventories, which only a build with a network can fetch.
if os.environ.get("READTHEDOCS"):
    extensions.append("sphinx.ext.intersphinx")
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
}
exclude_patterns = ["_build", "images/*.py", "auto_examples/**/*.ipynb", "auto_examples/*.py"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("covmin",),
    "abort_on_example_error": True,
    "within_subsection_order": "gallery_order.order",
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1000,
    "write_computation_times": False,
    "remove_config_comments": True,
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "covmin"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["covmin.css"]
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_sidebars = {name: [] for name in ("index", "quickstart", "evidence")}
html_theme_options = {
    "logo": {"text": "covmin"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "back_to_top_button": False,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
# What code prints is not for copying.
copybutton_selector = "div:not(.highlight-output) > div.highlight pre"


def _without_foreign_references(app, what, name, obj, options, lines) -> None:
    """Leave out paragraphs of inherited docstrings that point into scikit-learn's own site."""
    if not getattr(obj, "__module__", "").startswith("covmin"):
        paragraphs = "\n".join(lines).split("\n\n")
        lines[:] = "\n\n".join(p for p in paragraphs if ":ref:" not in p).split("\n")


def setup(app) -> None:
    app.connect("autodoc-process-docstring", _without_foreign_references, priority=100)
