"""Sphinx configuration: warnings are errors, see `make docs`."""

import sys
from pathlib import Path

import sottovoce

# The pages of the API reference are made by tools/api_pages.py at each build.
sys.path.append(str(Path(__file__).parents[1] / "tools"))

project = "Sottovoce"
author = "The Sottovoce authors"
copyright = author  # noqa: A001 - Sphinx reads this name
version = release = sottovoce.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "api_pages"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Sottovoce {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "signature"
python_maximum_signature_line_length = 80
# Docstrings write `code` between single backticks, as Markdown does.
default_role = "literal"
autodoc_member_order = "bysource"
# An attribute that is described in its class's docstring is not described a second time.
napoleon_use_ivar = True
nitpicky = False
