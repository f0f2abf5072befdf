"""Outside agents for the tests: a scripted one, with faults, recordings of real ones, and real ones."""

import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import ROOT

FAKE = str(ROOT / "tests/support/agents/fake.py")


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder below the checkout or the home: those for temporary files are where anyone can write."""
    base = next(base for base in (ROOT / "build", Path.home() / ".cache") if _is_private(base))
    base.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=base, prefix="agents-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_private(folder: Path) -> bool:
    return not any(above.stat().st_mode & stat.S_IWOTH for above in folder.parents if above.exists())
