"""Outside agents for the tests: a scripted one, with faults, recordings of real ones, and real ones."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import ROOT

FAKE = str(ROOT / "tests/support/agents/fake.py")


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder below the checkout: folders for temporary files are below one in which anyone can write."""
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=ROOT / "build", prefix="agents-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
