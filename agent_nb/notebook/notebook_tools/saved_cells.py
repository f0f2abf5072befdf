"""The saved notebook, for front ends that cannot report their cells: Colab, VS Code, nbclient, a terminal."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from agent_nb._base.atomic import read_file
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import parse_json
from agent_nb.files.notebook_cells import read_notebook_cells
from agent_nb.notebook.notebook_tools.cells import CellsRead
from agent_nb.notebook.notebook_tools.open_notebook import NotOpenError, open_notebook
from agent_nb.notebook.session import Session

MAX_BYTES = 100_000_000
_SUFFIX = ".ipynb"
_VS_CODE = "__vsc_ipynb_file__"
_JUPYTER = "JPY_SESSION_NAME"
"""Environment variable that Jupyter's server sets when it starts the kernel."""


async def open_or_saved_cells(
    session: Session, own: str, only: Sequence[int | str] | None = None
) -> CellsRead:
    """Read these cells of the open notebook, or all of the saved file; raises `NotOpenError`."""
    try:
        return await open_notebook.cells(own, only)
    except NotOpenError as error:
        if saved := await off_loop(saved_cells, session):
            return saved
        raise NotOpenError(f"{error}, and its file is not known") from None


def notebook_file(session: Session) -> Path | None:
    """The notebook's file; None if unknown: not every host reports it, and it may have been renamed."""
    name = session.namespace.get(_VS_CODE) or os.environ.get(_JUPYTER, "")
    if not isinstance(name, str) or not name.endswith(_SUFFIX):
        return None
    try:
        files = [path for path in (Path(name), session.home / Path(name).name) if path.is_file()]
    except (OSError, ValueError):  # not a valid file name
        return None
    return files[0] if files else None


def saved_cells(session: Session) -> CellsRead | None:
    """The cells of the saved notebook; None if its file is unknown or cannot be read. Call it off the loop."""
    try:
        if (path := notebook_file(session)) is None:
            return None
        written = datetime.fromtimestamp(path.stat().st_mtime)
        notebook = parse_json(read_file(path, MAX_BYTES))
    except OSError:
        return None
    is_today = written.date() == datetime.now().date()
    time = written.strftime("%H:%M" if is_today else "%d %B %Y, %H:%M")
    if not isinstance(notebook, dict):
        return None
    return CellsRead(read_notebook_cells(notebook.get("cells"), from_file=True), time)


def is_switched_off(path: Path | None) -> bool:
    """Whether the metadata of a saved notebook has `agent_nb.off: true`. Call it off the loop."""
    try:
        data = read_file(path, MAX_BYTES) if path else b""
    except OSError:
        return False
    # A large notebook is parsed only if it may be switched off.
    value = parse_json(data) if b'"off"' in data else None
    for name in ("metadata", "agent_nb", "off"):
        value = value.get(name) if isinstance(value, dict) else None
    return value is True
