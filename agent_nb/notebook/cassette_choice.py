"""Chooses between the models and a cassette, from a cell's options and the environment."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_nb._base.constants import MODE_VARIABLE, REPLAY, is_demo, is_replay
from agent_nb.cassette.matching import cassettes_for
from agent_nb.cassette.player import locate
from agent_nb.core.errors import ConfigError
from agent_nb.core.options import CassetteMode, Options
from agent_nb.run import Run
from agent_nb.run.run_lines import SUFFIX

MODES: tuple[CassetteMode, ...] = ("record", "replay", "live")
OFF = "off"
_FLAGS = {"record": "--record", "live": "--replay off"}


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


@dataclass(frozen=True, slots=True)
class CassetteChoice:
    mode: CassetteMode
    """Whether the cell calls the model, records or replays."""
    path: str
    """The path of the cell's cassette, relative to the session's folder."""
    models: tuple[str, ...] = ()
    """The models that the cassette must be of; empty for any."""
    plays_all: bool = False
    """Whether to play all variants of the cassette, whichever models they have: `-m replay:PATH`."""

    def recorded_models(self, variants: int) -> list[str | None]:
        """The model of each variant in a matching cassette, None for any; empty to play all variants."""
        return [] if self.plays_all else [name for name in self.models or (None,) for _ in range(variants)]

    def paths(self, prompt: str, home: Path, *, prefers_replay: bool) -> Iterator[str]:
        """The cassettes to try: the cell's own and, if replay is preferred, all recorded for its prompt."""
        cell_cassette = locate(self.path, home)
        exists = os.path.exists(cell_cassette)  # `Path.exists` raises if the path is too long
        if self.mode == "replay" or (self.mode == "auto" and exists):
            yield self.path
        if self.mode == "auto" and prefers_replay:
            for file in cassettes_for(prompt, cell_cassette.parent):
                if file != cell_cassette:
                    yield (Path(self.path).parent / file.name).as_posix()


def choose_cassette(options: Options, base: Run | None, models: Sequence[str]) -> CassetteChoice:
    """Read the options and the environment; raises `ConfigError` if they conflict."""
    environment = default_mode()
    option_mode, option_path = read_mode(vars(options), "--{}")
    mode = option_mode or environment or "auto"
    if not option_mode and mode == "record" and not options.is_named:
        mode = "live"
    if not option_mode and mode == "replay":
        mode = "auto"  # without network access
    if replayed := next((name for name in models if is_replay(name)), None):
        _check_replay(replayed, options, mode, models)
        path = Path(replayed.removeprefix(f"{REPLAY}:").strip()).as_posix()
        return CassetteChoice("replay", path, plays_all=True)
    if mode == "record" and not (options.is_named or option_path):
        raise ConfigError("--record needs a name for the cassette, such as `%%agent hero --record`.")
    if environment == "replay" and mode in ("record", "live") and not all_demo(models):
        raise ConfigError(f"{MODE_VARIABLE}=replay allows no network access. Leave out {_FLAGS[mode]}.")
    if options.prefers_replay and mode == "live":
        mode = "auto"
    path = Path(option_path or _default_path(options, base)).as_posix()
    return CassetteChoice(mode, path, tuple(models))


def _check_replay(name: str, options: Options, mode: CassetteMode, models: Sequence[str]) -> None:
    if mode in ("record", "live"):
        raise ConfigError(f"`-m {name}` plays a cassette. Leave out {_FLAGS[mode]}.")
    if len(models) > 1:
        raise ConfigError(f"`-m {name}` plays all variants of a cassette. Leave out the other -m.")
    if options.variants != 1:
        raise ConfigError(f"`-m {name}` plays all variants of a cassette. Leave out -n.")
    if options.replay:
        raise ConfigError(f"`-m {name}` names the cassette. Leave out --replay.")
    if not name.removeprefix(f"{REPLAY}:").strip():
        raise ConfigError(f"Name the cassette to play, such as `-m {REPLAY}:cassettes/hero{SUFFIX}`.")


def _default_path(options: Options, base: Run | None) -> str:
    """`cassettes/NAME.run.jsonl`, or `cassettes/NAME-2.run.jsonl` for a cell that continues NAME."""
    number = 1
    if base is not None and options.name == base.name:
        number += sum(message.requests for message in base.messages if message.role == "user")
    return cassette_path(f"{options.name}{'' if number == 1 else f'-{number}'}")


def cassette_path(name: str, folder: str = "cassettes") -> str:
    return f"{folder}/{name}{SUFFIX}"


def check_network(models: Sequence[str], cassette: str) -> None:
    """Raise `ConfigError` for models that need the network if only cassettes and the demo are allowed."""
    for name in models:
        if default_mode() == "replay" and not is_demo(name):
            raise ConfigError(
                f"{MODE_VARIABLE}=replay, and there is no cassette {cassette!r} for {name!r}. "
                "Record one with `--record`, or use `-m demo:`."
            )
