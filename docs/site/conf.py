"""Sphinx configuration of the site. `make site` copies it next to the pages."""

project = "agent_nb"
extensions = ["myst_nb"]
root_doc = "index"
exclude_patterns = ["_build"]

myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # "Try it" in the first lesson is a small heading on purpose
nb_execution_mode = "off"
# Saved outputs need no widgets, and the default would load them from a CDN.
nb_ipywidgets_js = {}

html_theme = "furo"
html_title = "agent_nb"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["live.js"]
html_copy_source = False
html_show_sphinx = False
