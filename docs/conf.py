"""Sphinx configuration: warnings are errors, see `make docs`."""

import sottovoce

project = "Sottovoce"
author = "The Sottovoce authors"
copyright = author  # noqa: A001 - Sphinx reads this name
version = release = sottovoce.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Sottovoce {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
nitpicky = False
