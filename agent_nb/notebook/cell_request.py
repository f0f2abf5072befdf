"""Prepares runs for a prompt in any host, from a cassette or from models."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_nb._base.constants import MODE_VARIABLE, is_demo
from agent_nb._base.text import listed
from agent_nb.cassette.player import locate, replay
from agent_nb.core.errors import CassetteError, ConfigError
from agent_nb.core.options import CassetteMode
from agent_nb.engine.handle import Handle
from agent_nb.engine.request import CellRequest
from agent_nb.engine.start import Prepared, start_request
from agent_nb.providers import model
from agent_nb.providers.base import Provider

MODES: tuple[CassetteMode, ...] = ("record", "replay", "live")
OFF = "off"
INSTEAD = (
    "Use `--replay off` to ask the model, `--record` to record again, or `-m demo:` for the offline demo."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The runs that a cell is going to start."""

    prepared: tuple[Prepared, ...]
    """One per variant."""
    key: str
    """Identifies the output; equal requests have equal keys."""
    note: str = ""
    """Lines to show first, such as a list of masked names."""

    @property
    def replays(self) -> bool:
        return any("replayed" in prepared.recorded_settings for prepared in self.prepared)

    @property
    def models(self) -> list[str]:
        return [prepared.provider.name for prepared in self.prepared]

    def start(self) -> Handle:
        return start_request(self.prepared)


def default_mode() -> CassetteMode | None:
    default = os.environ.get(MODE_VARIABLE, "").strip().lower()
    if default and default not in MODES:
        raise ConfigError(f"{MODE_VARIABLE} is {default!r}. Set it to record, replay or live.")
    return next((mode for mode in MODES if mode == default), None)


def read_mode(options: Mapping[str, Any], spelling: str) -> tuple[CassetteMode | None, str]:
    """The cassette mode and path selected by the options.

    `options` may have `record` and `replay`: a path, True or empty text for the default one, `off` for `replay`.
    `spelling` formats an option's name for error messages, such as `--{}`.
    """
    modes = {name: options[name] for name in ("record", "replay") if options.get(name) not in (None, False)}
    if len(modes) > 1:
        raise ConfigError(f"Use only one of {' and '.join(map(spelling.format, modes))}.")
    for name, value in modes.items():
        if value == OFF:
            return "live", ""
        path = "" if value is True else Path(value).as_posix() if value else ""
        return ("record" if name == "record" else "replay"), path
    return None, ""


def all_demo(models: Sequence[str]) -> bool:
    return bool(models) and all(map(is_demo, models))


def play(
    path: str,
    folder: Path,
    pace: float,
    request: CellRequest,
    models: Sequence[str | None],
) -> list[Prepared]:
    """Prepare the runs of a cassette; raises `CassetteError` if it was recorded for another request. Needs no key.

    `models` names the model of each variant, None where any will do; if it is empty, all variants are played.
    """
    exists = os.path.exists(locate(path, folder))  # `Path.exists` raises if the path is too long
    try:
        prepared = request.prepare_variants(replay(path, pace=pace, folder=folder).variants)
        differences = prepared[0].differences(models or [None] * len(prepared))
    except CassetteError as error:
        instead = INSTEAD if exists else "`--record` writes one."
        raise CassetteError(error.message, remedy=instead) from None
    if differences:
        raise CassetteError(f"{path!r} was recorded with {' and '.join(differences)}. {INSTEAD}")
    return prepared


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
