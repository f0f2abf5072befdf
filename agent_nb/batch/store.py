"""A folder of finished runs, found by their request: one JSON file each, which `agent_nb.load` reads too."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from agent_nb._base.atomic import write_atomically
from agent_nb._base.log import log
from agent_nb._base.secrets import mask, mask_json
from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError
from agent_nb.run import Run
from agent_nb.run.saved import DAMAGES, FORMAT_VERSION, load, run_from_wire, saved_form

SUFFIX = ".run.json"
_KEY = re.compile(r"-([0-9a-f]{12}(?:-\d+)?)" + re.escape(SUFFIX))


def key_of(request: Json, repeat: int = 1) -> str:
    """A short hash of the request, with a number if the same request is repeated in a call."""
    digest = hashlib.sha256(_canonical(request).encode("utf-8", "replace")).hexdigest()[:12]
    return digest if repeat == 1 else f"{digest}-{repeat}"


class Store:
    """The runs in one folder. Reading and writing block: call them in a thread."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder).expanduser().absolute()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"Runs cannot be saved in {str(folder)!r}: {error.strerror}.") from None
        self._names: dict[str, str] = {}
        """The names of the files by key: those that the last `find` saw, and those written since."""

    def find(self, requests: Iterable[tuple[str, Json]]) -> Iterator[Run | None]:
        """For each key and request, the saved run, if there is one that ended normally."""
        names = sorted(path.name for path in self.folder.glob(f"*{SUFFIX}"))
        self._names = {found[1]: name for name in names if (found := _KEY.search(name))}
        for key, request in requests:
            yield self._read(self.folder / name, request) if (name := self._names.get(key)) else None

    def load(self, key: str) -> Run:
        """The run of a file that was found or written; raises `SavedRunError` if it cannot be read."""
        return load(self.folder / self._names[key])

    def save(self, run: Run, key: str, request: Json, label: str) -> None:
        """Writes the run atomically, with secrets masked. It replaces an earlier run of the same key."""
        name = self._names.setdefault(key, f"{_slug(label)}-{_slug(run.model)}-{key}{SUFFIX}")
        write_atomically(self.folder / name, saved_form(run, request=request), within=self.folder)

    def _read(self, path: Path, request: Json) -> Run | None:
        """The run; None if it is damaged, of another request, or did not end normally."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["version"] > FORMAT_VERSION or _canonical(data["request"]) != _canonical(
                mask_json(request)
            ):
                return None
            run = run_from_wire(data)
        except (OSError, *DAMAGES) as error:
            log.warning("%s could not be loaded: %s %s", path, type(error).__name__, error)
            return None
        return run if run.reason == "end_turn" else None


def _canonical(request: Json) -> str:
    return json.dumps(request, sort_keys=True, ensure_ascii=False)


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", mask(text).lower())[:32].strip("-") or "run"
