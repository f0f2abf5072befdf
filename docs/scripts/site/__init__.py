"""`python -m docs.scripts.site` builds the static site: the pages, and JupyterLite with the lessons."""
