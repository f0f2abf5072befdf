"""The runs of a prompt in any host: those of a cassette that fits the request, or of models."""

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import check_place, folder_of
from agent_nb._base.constants import is_demo
from agent_nb._base.text import listed
from agent_nb.cassette.player import locate, replay
from agent_nb.cassette.recording import CassetteRecording
from agent_nb.core.errors import CassetteError, ConfigError
from agent_nb.engine.request import CellRequest
from agent_nb.engine.start import Prepared
from agent_nb.providers import model
from agent_nb.providers.base import Provider

INSTEAD = (
    "Use `--replay off` to ask the model, `--record` to record again, or `-m demo:` for the offline demo."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassettes:
    """The cassettes that may answer a request."""

    paths: Iterable[str]
    """Which to try, in this order."""
    folder: Path
    """The base of relative paths."""
    pace: float
    models: Sequence[str | None]
    """The model of each variant, None where any will do; if it is empty, all variants are played."""
    are_optional: bool
    """Whether those of other requests are skipped."""

    def play(self, request: CellRequest) -> list[Prepared]:
        """Prepare the runs of the first cassette of this request; empty if there is none. Needs no key."""
        for path in self.paths:
            try:
                return self._play(path, request)
            except CassetteError:
                if not self.are_optional:
                    raise
        return []

    def _play(self, path: str, request: CellRequest) -> list[Prepared]:
        exists = os.path.exists(locate(path, self.folder))  # `Path.exists` raises if the path is too long
        try:
            runs = request.prepare_variants(replay(path, pace=self.pace, folder=self.folder).variants)
            differences = runs[0].differences(self.models or [None] * len(runs))
        except CassetteError as error:
            instead = INSTEAD if exists else "`--record` writes one."
            raise CassetteError(error.message, remedy=instead) from None
        if differences:
            raise CassetteError(f"{path!r} was recorded with {' and '.join(differences)}. {INSTEAD}")
        return runs


def recorded(request: CellRequest, path: str, folder: Path, *, quiet: bool) -> CellRequest:
    """The request whose runs are recorded in this cassette."""
    return replace(request, record=partial(CassetteRecording, Path(path), folder, quiet))


def forget(path: str, folder: Path) -> None:
    """Delete an automatic recording of another request, which a new one replaces."""
    with contextlib.suppress(OSError):
        file = locate(path, folder)
        check_place(file, folder_of(path, folder))
        file.unlink(missing_ok=True)


def providers(models: Sequence[str | Provider], pace: float, **options: Any) -> list[Provider]:
    """The providers of these models; `pace` applies only to the demo."""
    demo: dict[str, Any] = {"pace": pace}
    names = [name for name, value in options.items() if value is not None]
    for item in models:
        if names and not isinstance(item, str):
            raise ConfigError(
                f"{item.name!r} is a model object already: pass {listed(names)} when you make it."
            )
    return [
        model(item, **options, **(demo if is_demo(item) else {})) if isinstance(item, str) else item
        for item in models
    ]
