"""The mode "hints" in a notebook: what the person has run since the last hint, and the step that follows from it."""

from collections.abc import Callable
from typing import Any

from agent_nb.engine.handle import Handle
from agent_nb.events import Event, RunFinished, TextDelta
from agent_nb.files import Files
from agent_nb.lab.hints.hints import Hints
from agent_nb.lab.hints.ladder import Ladder
from agent_nb.lab.hints.tries import is_try
from agent_nb.lab.rules import LabRules
from agent_nb.lab.watch import LabWatch
from agent_nb.notebook.magic.notebook_file import notebook_file
from agent_nb.notebook.session import Session
from agent_nb.run import Run
from agent_nb.run.store import RunStore

FILE = "hints.json"
"""In the folder of the saved runs."""


def watch_of(session: Session) -> LabWatch:
    session.lab = session.lab or LabWatch(session.home)
    return session.lab


def plan_hints(session: Session, rules: LabRules | None, name: str) -> Hints | None:
    """The hints for a run of this name, None unless the lab's mode is "hints". Nothing is recorded yet."""
    hints = None
    if rules and rules.mode == "hints":
        inputs = own_inputs(session)
        tries = [text for text in inputs if is_try(text, _run_names(session))]
        hints = Hints.of(rules, _ladder(session, rules), name, inputs=inputs, tries=tries)
    watch_of(session).hints = hints
    return hints


def follow_hints(hints: Hints, handle: Handle, warn: Callable[[str], None]) -> None:
    """Records the step once a hint has been given, and not if the run fails before."""
    has_text = False

    def follow(event: Event) -> None:
        nonlocal has_text
        has_text = has_text or isinstance(event, TextDelta)
        if has_text and isinstance(event, RunFinished) and (problem := hints.record()):
            warn(problem)

    handle.subscribe(follow)


def hint_rows(session: Session, rules: LabRules) -> dict[str, str]:
    """What `%agent lab` shows about the hints."""
    if rules.mode != "hints":
        return {}
    ladder = _ladder(session, rules)
    so_far = "; ".join(f"{name}: {step}" for name, step in ladder.steps_so_far().items())
    count = len(rules.avoid)
    return {
        "hints": ", ".join(ladder.steps),
        "hints so far": so_far or "none",
        "avoid": f"{count} {'entry' if count == 1 else 'entries'}" if count else "",
    }


def own_inputs(session: Session) -> list[str]:
    """The cells that the person has run in this kernel, without those for agents."""
    history = getattr(session.shell, "history_manager", None)
    sources: list[Any] = [*getattr(history, "input_hist_raw", ())]
    magic = f"%%{session.defaults.magic_name}"
    return [
        text
        for text in map(str, sources)
        if not any(line.split()[:1] == [magic] for line in text.splitlines())
    ]


def _run_names(session: Session) -> set[str]:
    values = session.namespace.items()
    return {name for name, value in values if isinstance(value, Run | Handle | Files)}


def _ladder(session: Session, rules: LabRules) -> Ladder:
    file = notebook_file(session)
    notebook = file.name if file else ""
    memory = watch_of(session).unsaved_hints.setdefault(f"{rules.path} {notebook}", {})
    path = RunStore(session.home).root / FILE
    return Ladder(path, lab=rules.path, notebook=notebook, steps=rules.hints, memory=memory)
