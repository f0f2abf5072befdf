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


def plan_cassette(session: Session, options: Options, base: Run | None, rules: CellRules) -> CassettePlan:
    """Reads the options and the environment; raises `UsageError` if they contradict each other."""
    default = session.defaults.named_model
    models = options.models or rules.allowed([default] if default else [])
    mode, offline = _mode(options, recordable=options.is_named or bool(options.cassette))
    path = options.cassette or _default_path(options, base)
    replayed = next((name for name in models if is_replay(name)), None)
    if replayed:
        _check_replay(replayed, options, mode, models)
        mode, path, models = "replay", replayed.removeprefix(f"{REPLAY}:").strip(), ()
    if mode == "record" and not (options.is_named or options.cassette):
        raise UsageError("--record needs a name for the cassette, such as `%%agent hero --record`.")
    if offline and mode in ("record", "live") and not all_demo(models):
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


def _mode(options: Options, *, recordable: bool) -> tuple[Mode, bool]:
    """The mode, and whether the environment forbids the network."""
    chosen, default = read_mode(vars(options), "--{}")
    if options.force and "record" not in (chosen, default):
        raise UsageError("--force works only with --record.")
    if chosen:
        return chosen, default == "replay"
    if default == "record":
        return ("record" if recordable else "live"), False
    return ("live" if default == "live" else "auto"), default == "replay"


def _default_path(options: Options, base: Run | None) -> str:
    """`cassettes/NAME.jsonl`, or `cassettes/NAME-2.jsonl` for a cell that continues NAME with its second prompt."""
    number = 1
    if base is not None and options.name == base.name:
        number += sum(count_requests(message.text) for message in base.messages if message.role == "user")
    return f"cassettes/{options.name}.jsonl" if number == 1 else f"cassettes/{options.name}-{number}.jsonl"
