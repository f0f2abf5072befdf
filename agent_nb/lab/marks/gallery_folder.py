"""Where the overview and the files of the students are written."""

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from agent_nb._base.atomic import write_atomically
from agent_nb.errors import AgentError, ConfigError
from agent_nb.lab.log_reader import read_log
from agent_nb.lab.marks.archive import opened
from agent_nb.lab.marks.gallery import overview
from agent_nb.lab.marks.row import Row
from agent_nb.render import to_page
from agent_nb.run.saved import DAMAGES, read_run

_OWN_FILE = re.compile(r"\d{4,}\.html")


def write(path: Path, data: bytes, *, within: Path | None = None) -> None:
    """Writes a file; raises `ConfigError` if that is not possible."""
    try:
        write_atomically(path, data, within=within, shared=True)
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

    def add(self, submission: Path) -> None:
        """Writes the file of the next student, if there is a page to show."""
        page = newest_page(submission)
        name = f"{len(self._files) + 1:04}.html" if page else ""
        if page:
            write(self._folder / name, page.encode("utf-8", "replace"), within=self._path.parent)
        self._files.append(name)

    def finish(self, rows: Sequence[Row]) -> None:
        """Writes the overview, and removes the files that an earlier class has left."""
        folder = quote(self._folder.name)
        addresses = [f"{folder}/{name}" if name else "" for name in self._files]
        write(self._path, overview(rows, addresses).encode("utf-8", "replace"))
        for file in self._folder.glob("*.html"):
            if _OWN_FILE.fullmatch(file.name) and file.name not in self._files:
                file.unlink(missing_ok=True)


def newest_page(path: Path) -> str | None:
    """The newest page of a submission, as closed as the preview; None if there is none, or none that can be read."""
    try:
        with opened(path) as submission:
            places = {entry.id: place for place, entry in enumerate(read_log(submission.log()).entries)}

            def place(name: str) -> tuple[int, str]:
                return places.get(name.rpartition("-")[2].removesuffix(".json"), -1), name

            for name in sorted(submission.run_names(), key=place, reverse=True):
                with contextlib.suppress(*DAMAGES):
                    if page := to_page(read_run(submission.run(name), name)):
                        return page
    except AgentError:
        return None
    return None
