"""The zip file that a student hands in: names and limits."""

NOTEBOOK_SUFFIX = ".ipynb"
RUNS = "runs/"
PAGES = "pages/"
MAX_NOTEBOOK = 50_000_000
MAX_LOG = 20_000_000
MAX_RUN = 20_000_000
MAX_RUNS = 50_000_000
"""Bytes of all runs together."""
MAX_PAGES = 20_000_000
