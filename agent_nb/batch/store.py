"""A folder of finished runs, found again by what was asked: one JSON file each, that `agent_nb.load` reads too."""

import hashlib
import json
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from agent_nb._base.atomic import write_atomically
from agent_nb._base.log import log
from agent_nb._base.secrets import mask, mask_json
from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError
from agent_nb.run import Run
from agent_nb.run.saved import DAMAGES, run_from_wire
from agent_nb.run.wire import FORMAT_VERSION, saved_form

SUFFIX = ".run.json"
_MARKED = re.compile(r"-([0-9a-f]{12}(?:-\d+)?)" + re.escape(SUFFIX))


def key_of(request: Json, repeat: int = 1) -> str:
    """A short hash of what is asked; asked again in the same call, it is numbered."""
    digest = hashlib.sha256(_written(request).encode("utf-8", "replace")).hexdigest()[:12]
    return digest if repeat == 1 else f"{digest}-{repeat}"


class Store:
    """The runs in one folder. Reading and writing block: call them off the loop."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder).expanduser()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"Runs cannot be saved in {str(folder)!r}: {error.strerror}.") from None
        self._paths: dict[str, Path] = {}
        """The files by their marks, as of the last `find`."""

    def find(self, asked: Sequence[tuple[str, Json]]) -> list[Run | None]:
        """For each mark and request, the run that was saved for it and ended well."""
        files = sorted(self.folder.glob(f"*{SUFFIX}"))
        self._paths = {found[1]: path for path in files if (found := _MARKED.search(path.name))}
        return [
            self._read(path, request) if (path := self._paths.get(mark)) else None for mark, request in asked
        ]

    def save(self, run: Run, mark: str, request: Json, label: str) -> Path:
        """Writes the run, whole or not at all, without secrets, over an earlier one of the same mark."""
        name = f"{_slug(label)}-{_slug(run.model)}-{mark}{SUFFIX}"
        target = self._paths.get(mark, self.folder / name)
        write_atomically(target, saved_form(run, request=request))
        return target

    def _read(self, path: Path, request: Json) -> Run | None:
        """The run, unless it is damaged, of another request, or did not end well: then it is asked again."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["version"] > FORMAT_VERSION or _written(data["request"]) != _written(mask_json(request)):
                return None
            run = run_from_wire(data)
        except (OSError, *DAMAGES) as error:
            log.warning("%s cannot be used: %s %s", path, type(error).__name__, error)
            return None
        return run if run.reason == "end_turn" else None


def _written(request: Json) -> str:
    return json.dumps(request, sort_keys=True, ensure_ascii=False)


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", mask(text).lower())[:32].strip("-") or "run"
