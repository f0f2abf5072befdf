"""Decides whether a cell asks the model, records it or plays a cassette."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from IPython.core.error import UsageError

from agent_nb._base.constants import MODE_VARIABLE, MODEL_VARIABLE
from agent_nb._base.model_name import REPLAY, is_demo, is_replay
from agent_nb.cassette import AGAIN, ReplayProvider, cassettes_for, locate, replay
from agent_nb.engine.prepared import Prepared
from agent_nb.errors import CassetteError
from agent_nb.notebook.magic.rules import CellRules
from agent_nb.notebook.session import Session
from agent_nb.options import Options
from agent_nb.prompts.left_out import count_requests
from agent_nb.run import Run

Mode = Literal["auto", "record", "replay", "live"]
MODES: tuple[Mode, ...] = ("record", "replay", "live")
INSTEAD = (
    "Use `--live` to ask the model, `--record --force` to record again, or `-m demo:` for the offline demo."
)

_NO_RULES = CellRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class CassettePlan:
    """How a cell uses its cassette."""

    mode: Mode
    path: str
    """Relative to `folder`, for messages."""
    folder: Path
    named_models: tuple[str, ...]
    """The models that the user named. The cassette must have been recorded with them."""
    all_variants: bool
    """`-m replay:...`: play every variant that the cassette has."""
    offline: bool
    """`AGENT_NB_MODE=replay`: no network access."""
    force: bool = False
    is_preferred: bool = False
    """A cassette that fits is played, also with `--live`, and any other is ignored."""
    is_searched: bool = False
    """Whether the other cassettes of the folder are tried, too: those of others may have other names."""

    def candidates(self, prompt: str) -> "Iterator[CassettePlan]":
        """This plan, and then those with other cassettes that were recorded for the prompt."""
        yield self
        if self.is_searched:
            own = locate(self.path, self.folder)
            for file in cassettes_for(prompt, own.parent):
                if file != own:
                    yield replace(self, path=(Path(self.path).parent / file.name).as_posix())

    @property
    def is_optional(self) -> bool:
        """Whether a mismatched cassette is ignored: one that fits is only preferred, or the demo was named."""
        return self.mode == "auto" and (self.is_preferred or _all_demo(self.named_models))

    def provider(self, pace: float) -> ReplayProvider | None:
        """The cassette as a model; None if it is not to be played."""
        exists = os.path.exists(locate(self.path, self.folder))  # `Path.exists` raises if it is too long
        if self.mode in ("record", "live") or (self.mode == "auto" and not exists):
            return None
        try:
            return replay(self.path, pace=pace, folder=self.folder)
        except CassetteError as error:
            self._check_optional(error, INSTEAD if exists else "`--record` writes one.")
            return None

    def _check_optional(self, error: CassetteError, instead: str = INSTEAD) -> None:
        """Raises `UsageError`, unless a cassette that cannot be played is ignored."""
        if not self.is_optional:
            raise UsageError(f"{str(error).removesuffix(AGAIN).strip()} {instead}") from None

    def matches(self, prepared: Sequence[Prepared], variants: int) -> bool:
        """Whether the cassette was recorded for this request; raises `UsageError` if it had to be."""
        count = len(prepared) if self.all_variants else variants
        models = [name for name in self.named_models or (None,) for _ in range(count)]
        try:
            differences = prepared[0].differences(models)
        except CassetteError as error:
            self._check_optional(error)
            return False
        if differences and not self.is_optional:
            raise UsageError(f"{self.path!r} was recorded with {' and '.join(differences)}. {INSTEAD}")
        return not differences

    def check_network(self, model_name: str) -> None:
        if self.offline and not is_demo(model_name):
            raise UsageError(
                f"{MODE_VARIABLE}=replay, and there is no cassette {self.path!r} for {model_name!r}. "
                "Record one with `--record`, or use `-m demo:`."
            )

    def check_image(self, source: Any) -> None:
        if self.offline and isinstance(source, str) and source.startswith(("https:", "http:")):
            raise UsageError(f"{MODE_VARIABLE}=replay, so {source!r} is not fetched. Use a local file.")


def plan_cassette(
    session: Session, options: Options, base: Run | None, rules: CellRules = _NO_RULES
) -> CassettePlan:
    """Reads the options and the environment; raises `UsageError` if they contradict each other."""
    default = session.defaults.model or os.environ.get(MODEL_VARIABLE)
    models = options.models or rules.allowed([default] if default else [])
    mode, offline = _mode(options, recordable=options.is_named or bool(options.cassette))
    path = options.cassette or _default_path(options, base)
    replayed = next((name for name in models if is_replay(name)), None)
    if replayed:
        _check_replay(replayed, options, mode, models)
        mode, path, models = "replay", replayed.removeprefix(f"{REPLAY}:").strip(), ()
    if mode == "record" and not (options.is_named or options.cassette):
        raise UsageError("--record needs a name for the cassette, such as `%%agent hero --record`.")
    if offline and mode in ("record", "live") and not _all_demo(models):
        raise UsageError(f"{MODE_VARIABLE}=replay allows no network access. Leave out --{mode}.")
    if options.prefers_replay and mode == "live":
        mode = "auto"
    return CassettePlan(
        mode=mode,
        path=Path(path).as_posix(),
        folder=session.home,
        named_models=models,
        all_variants=bool(replayed),
        offline=offline,
        force=options.force,
        is_preferred=options.prefers_replay,
        is_searched=options.prefers_replay and not options.cassette and mode == "auto",
    )


def _check_replay(name: str, options: Options, mode: Mode, models: Sequence[str]) -> None:
    """Refuses the options that `-m replay:...` excludes."""
    if mode in ("record", "live"):
        raise UsageError(f"`-m {name}` plays a cassette. Leave out --{mode}.")
    if len(models) > 1:
        raise UsageError(f"`-m {name}` plays all variants of a cassette. Leave out the other -m.")
    if options.variants != 1:
        raise UsageError(f"`-m {name}` plays all variants of a cassette. Leave out -n.")
    if options.cassette:
        raise UsageError(f"`-m {name}` names the cassette. Leave out --cassette.")
    if not name.removeprefix(f"{REPLAY}:").strip():
        raise UsageError(f"Name the cassette to play, such as `-m {REPLAY}:cassettes/hero.jsonl`.")


def _all_demo(models: Sequence[str]) -> bool:
    return bool(models) and all(is_demo(name) for name in models)


def _mode(options: Options, *, recordable: bool) -> tuple[Mode, bool]:
    """The mode, and whether the environment forbids the network."""
    switches: dict[Mode, bool] = {"record": options.record, "replay": options.replay, "live": options.live}
    chosen = [mode for mode, is_on in switches.items() if is_on]
    if len(chosen) > 1:
        raise UsageError(f"Use only one of --{' and --'.join(chosen)}.")
    default = os.environ.get(MODE_VARIABLE, "").strip().lower()
    if default and default not in MODES:
        raise UsageError(f"{MODE_VARIABLE} is {default!r}. Set it to {', '.join(MODES[:-1])} or {MODES[-1]}.")
    if options.force and "record" not in (*chosen, default):
        raise UsageError("--force works only with --record.")
    if chosen:
        return chosen[0], default == "replay"
    if default == "record":
        return ("record" if recordable else "live"), False
    return ("live" if default == "live" else "auto"), default == "replay"


def _default_path(options: Options, base: Run | None) -> str:
    """`cassettes/NAME.jsonl`, or `cassettes/NAME-2.jsonl` for a cell that continues NAME with its second prompt."""
    number = 1
    if base is not None and options.name == base.name:
        number += sum(count_requests(message.text) for message in base.messages if message.role == "user")
    return f"cassettes/{options.name}.jsonl" if number == 1 else f"cassettes/{options.name}-{number}.jsonl"
