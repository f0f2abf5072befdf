"""The zip file that a student hands in: names, limits, and how it is written."""

import io
import zipfile
from collections.abc import Mapping

NOTEBOOK_SUFFIX = ".ipynb"
RUNS = "runs/"
PAGES = "pages/"
MAX_NOTEBOOK = 50_000_000
MAX_LOG = 20_000_000
MAX_RUN = 20_000_000
MAX_RUNS = 50_000_000
"""Bytes of all runs together."""
MAX_PAGES = 20_000_000


def zipped(parts: Mapping[str, bytes]) -> bytes:
    """The parts as a zip file. The same parts make the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(parts):
            entry = zipfile.ZipInfo(name)  # dated 1980-01-01
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, parts[name])
    return buffer.getvalue()
