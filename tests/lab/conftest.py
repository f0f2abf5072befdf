"""The fixtures of all tests in JupyterLab."""

from tests.support.lab_fixtures import chromium, lab, lab_pages, page, vendor

__all__ = ["chromium", "lab", "lab_pages", "page", "vendor"]
