"""Whether a cell asks the model, records it, or plays a cassette: the options, the environment, what is on disk."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from IPython.core.error import UsageError

from agent_nb._base.constants import MODE_VARIABLE, MODEL_VARIABLE
from agent_nb._base.model_name import REPLAY, is_demo, is_replay
from agent_nb.cassette import AGAIN, ReplayProvider, locate, replay
from agent_nb.engine.prepared import Prepared
from agent_nb.errors import CassetteError
from agent_nb.notebook.magic.options import Options
from agent_nb.notebook.session import Session
from agent_nb.prompts import prompt_text
from agent_nb.run import Run

Mode = Literal["auto", "record", "replay", "live"]
MODES: tuple[Mode, ...] = ("record", "replay", "live")
INSTEAD = (
    "Use `--live` to ask the model, `--record --force` to record again, or `-m demo:` for the offline demo."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Playing:
    """What a cell is to do about cassettes."""

    mode: Mode
    path: str
    """As the person reads it; relative to `folder`."""
    folder: Path
    named_models: tuple[str, ...]
    """The models the person named; a cassette of others does not play."""
    all_takes: bool
    """`-m replay:`: every variant the cassette has, however many."""
    offline: bool
    """`AGENT_NB_MODE=replay`: nothing may touch the network."""
    force: bool = False

    @property
    def is_demo_anyway(self) -> bool:
        """The demo was asked for by name, so a cassette that does not fit is no trouble."""
        return self.mode == "auto" and _all_demo(self.named_models)

    def provider(self, pace: float) -> ReplayProvider | None:
        """The recorded model, if there is one to play."""
        there = os.path.exists(locate(self.path, self.folder))  # also of a path that cannot be one
        if self.mode in ("record", "live") or (self.mode == "auto" and not there):
            return None
        try:
            return replay(self.path, pace=pace, folder=self.folder)
        except CassetteError as error:
            if self.is_demo_anyway:
                return None
            told = str(error).removesuffix(AGAIN).strip()
            raise UsageError(f"{told} {INSTEAD if there else '`--record` writes one.'}") from None

    def matches(self, prepared: Sequence[Prepared], variants: int) -> bool:
        """Whether the cassette was recorded for this very request; where it must be, raises what differs."""
        count = len(prepared) if self.all_takes else variants
        models = [name for name in self.named_models or (None,) for _ in range(count)]
        found = prepared[0].differences(models)
        if found and not self.is_demo_anyway:
            raise UsageError(f"{self.path!r} was recorded with {' and '.join(found)}. {INSTEAD}")
        return not found

    def check_network(self, model_name: str) -> None:
        if self.offline and not is_demo(model_name):
            raise UsageError(
                f"{MODE_VARIABLE}=replay, and there is no cassette {self.path!r} for {model_name!r}. "
                "Record one with `--record`, or use `-m demo:`."
            )

    def check_image(self, picture: Any) -> None:
        if self.offline and isinstance(picture, str) and picture.startswith(("https:", "http:")):
            raise UsageError(
                f"{MODE_VARIABLE}=replay, so {picture!r} is not fetched. Use a file beside the notebook."
            )


def choose_playing(session: Session, options: Options, base: Run | None) -> Playing:
    """Reads the options and the environment; a contradiction is a `UsageError`."""
    default = session.defaults.model or os.environ.get(MODEL_VARIABLE)
    named = tuple(options.models or ([default] if default else ()))
    mode, offline = _mode(options, recordable=options.named or bool(options.cassette))
    path = options.cassette or _default_path(options, base)
    played = [name for name in named if is_replay(name)]
    if played:
        if mode in ("record", "live"):
            raise UsageError(f"`-m {played[0]}` plays a cassette; leave out --{mode}.")
        if len(named) > 1:
            raise UsageError(
                f"`-m {played[0]}` plays a cassette with all its variants; leave out the other -m."
            )
        if options.variants != 1:
            raise UsageError(f"`-m {played[0]}` plays a cassette with all its variants; leave out -n.")
        if options.cassette:
            raise UsageError(f"`-m {played[0]}` names the cassette; leave out --cassette.")
        mode, path, named = "replay", played[0].removeprefix(f"{REPLAY}:").strip(), ()
        if not path:
            raise UsageError(f"Name the cassette to play, such as `-m {REPLAY}:cassettes/hero.jsonl`.")
    if mode == "record" and not (options.named or options.cassette):
        raise UsageError(
            "--record needs a name, such as `%%agent hero --record`: the cassette is called like it."
        )
    playing = Playing(
        mode=mode,
        path=Path(path).as_posix(),
        folder=session.home,
        named_models=named,
        all_takes=bool(played),
        offline=offline,
        force=options.force,
    )
    if offline and mode in ("record", "live") and not _all_demo(named):
        raise UsageError(f"{MODE_VARIABLE}=replay keeps every cell off the network; leave out --{mode}.")
    return playing


def _all_demo(models: Sequence[str]) -> bool:
    return bool(models) and all(is_demo(name) for name in models)


def _mode(options: Options, *, recordable: bool) -> tuple[Mode, bool]:
    """The mode, and whether the environment forbids the network."""
    switches: dict[Mode, bool] = {"record": options.record, "replay": options.replay, "live": options.live}
    chosen = [mode for mode, is_on in switches.items() if is_on]
    if len(chosen) > 1:
        raise UsageError(f"Use one of --{' and --'.join(chosen)}: they contradict each other.")
    default = os.environ.get(MODE_VARIABLE, "").strip().lower()
    if default and default not in MODES:
        raise UsageError(f"{MODE_VARIABLE} is {default!r}; it can be {', '.join(MODES[:-1])} or {MODES[-1]}.")
    if options.force and "record" not in (*chosen, default):
        raise UsageError("--force goes with --record: it lets it replace another cassette.")
    if chosen:
        return chosen[0], default == "replay"
    if default == "record":
        return ("record" if recordable else "live"), False
    return ("live" if default == "live" else "auto"), default == "replay"


def _default_path(options: Options, base: Run | None) -> str:
    """`cassettes/NAME.jsonl`; a cell that goes on from NAME itself has its own, by the number of the prompt."""
    number = 1
    if base is not None and options.name == base.name:
        ours = prompt_text("sum_up")
        number += sum(1 for message in base.messages if message.role == "user" and message.text != ours)
    return f"cassettes/{options.name}.jsonl" if number == 1 else f"cassettes/{options.name}-{number}.jsonl"
