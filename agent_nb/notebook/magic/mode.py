"""Decides whether a cell asks the model, records it or plays a cassette."""

from collections.abc import Sequence
from pathlib import Path

from IPython.core.error import UsageError

from agent_nb._base.constants import MODE_VARIABLE
from agent_nb._base.model_name import REPLAY, is_replay
from agent_nb.notebook.cell_request import CassettePlan, Mode, all_demo, read_mode
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.session import Session
from agent_nb.options import Options
from agent_nb.prompts.left_out import count_requests
from agent_nb.run import Run
from agent_nb.run.run_writer import SUFFIX

_FLAGS = {"record": "--record", "live": "--replay off"}


def plan_cassette(session: Session, options: Options, base: Run | None, rules: CellRules) -> CassettePlan:
    """Reads the options and the environment; raises `UsageError` if they contradict each other."""
    default = session.defaults.named_model
    models = options.models or rules.allowed([default] if default else [])
    chosen, from_environment, given = read_mode(vars(options), "--{}")
    mode = chosen or _default_mode(from_environment, options)
    offline = from_environment == "replay"
    path = given or _default_path(options, base)
    replayed = next((name for name in models if is_replay(name)), None)
    if replayed:
        _check_replay(replayed, options, mode, models)
        mode, path, models = "replay", replayed.removeprefix(f"{REPLAY}:").strip(), ()
    if mode == "record" and not (options.is_named or given):
        raise UsageError("--record needs a name for the cassette, such as `%%agent hero --record`.")
    if offline and mode in ("record", "live") and not all_demo(models):
        raise UsageError(f"{MODE_VARIABLE}=replay allows no network access. Leave out {_FLAGS[mode]}.")
    if options.prefers_replay and mode == "live":
        mode = "auto"
    return CassettePlan(
        mode=mode,
        path=Path(path).as_posix(),
        folder=session.home,
        named_models=models,
        all_variants=bool(replayed),
        offline=offline,
        is_preferred=options.prefers_replay,
        is_searched=options.prefers_replay and not given and mode == "auto",
    )


def _check_replay(name: str, options: Options, mode: Mode, models: Sequence[str]) -> None:
    """Refuses the options that `-m replay:...` excludes."""
    if mode in ("record", "live"):
        raise UsageError(f"`-m {name}` plays a cassette. Leave out {_FLAGS[mode]}.")
    if len(models) > 1:
        raise UsageError(f"`-m {name}` plays all variants of a cassette. Leave out the other -m.")
    if options.variants != 1:
        raise UsageError(f"`-m {name}` plays all variants of a cassette. Leave out -n.")
    if options.replay:
        raise UsageError(f"`-m {name}` names the cassette. Leave out --replay.")
    if not name.removeprefix(f"{REPLAY}:").strip():
        raise UsageError(f"Name the cassette to play, such as `-m {REPLAY}:cassettes/hero{SUFFIX}`.")


def _default_mode(from_environment: Mode | None, options: Options) -> Mode:
    if from_environment == "record":
        return "record" if options.is_named else "live"
    return "live" if from_environment == "live" else "auto"


def _default_path(options: Options, base: Run | None) -> str:
    """`cassettes/NAME.run.jsonl`, or `cassettes/NAME-2.run.jsonl` for a cell that continues NAME."""
    number = 1
    if base is not None and options.name == base.name:
        number += sum(count_requests(message.text) for message in base.messages if message.role == "user")
    return f"cassettes/{options.name}{'' if number == 1 else f'-{number}'}{SUFFIX}"
