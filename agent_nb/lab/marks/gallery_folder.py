"""Where the overview and the files of the students are written."""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from agent_nb._base.atomic import write_atomically
from agent_nb.errors import ConfigError
from agent_nb.lab.marks.gallery import overview, viewer
from agent_nb.lab.marks.row import Row
from agent_nb.lab.marks.versions import versions_of

_OWN_FILE = re.compile(r"\d{4,}\.html")


def write(path: Path, data: bytes, *, within: Path | None = None) -> None:
    """Writes a file; raises `ConfigError` if that is not possible."""
    try:
        write_atomically(path, data, within=within, mode=0o644)
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be written: {error.strerror or error}.") from None


class GalleryFolder:
    """The overview at a path, and beside it a folder with one file per student, so that a browser loads few of them."""

    def __init__(self, path: Path) -> None:
        if path.suffix.lower() not in (".html", ".htm") or path.is_dir():
            raise ConfigError(f"{str(path)!r} cannot be the page: name a file such as marks.html.")
        self._path = path
        self._folder = path.with_name(f"{path.stem}_pages")
        if self._folder.is_symlink() or (self._folder.exists() and not self._folder.is_dir()):
            raise ConfigError(
                f"{str(self._folder)!r} must be a folder of its own: delete it, or choose another name."
            )
        self._files: list[str] = []

    def add(self, student: str, submission: Path) -> None:
        """Writes the file of the next student, if there is a page to show."""
        versions, left_out = versions_of(submission)
        name = f"{len(self._files) + 1:04}.html"
        if versions:
            page = viewer(student, versions, left_out).encode("utf-8", "replace")
            write(self._folder / name, page, within=self._path.parent)
        self._files.append(name if versions else "")

    def finish(self, rows: Sequence[Row]) -> None:
        """Writes the overview, and removes the files that an earlier class has left."""
        folder = quote(self._folder.name)
        addresses = [f"{folder}/{name}" if name else "" for name in self._files]
        write(self._path, overview(rows, addresses).encode("utf-8", "replace"))
        for file in self._folder.glob("*.html"):
            if _OWN_FILE.fullmatch(file.name) and file.name not in self._files:
                file.unlink(missing_ok=True)
