"""The mode "hints" for one cell: what the user has run since the last hint, and the step that follows from it."""

from agent_nb.lab.hints.hints import Hints
from agent_nb.lab.hints.ladder import Ladder
from agent_nb.lab.hints.tries import is_try
from agent_nb.lab.rules import LabRules
from agent_nb.lab.watch import LabWatch
from agent_nb.plugins import Cell, Notebook
from agent_nb.run.store import RunStore

FILE = "hints.json"
"""In the folder of the saved runs."""


def hints_for(rules: LabRules, watch: LabWatch, cell: Cell) -> Hints:
    """The hints for this cell. Nothing is recorded yet."""
    notebook = cell.notebook
    tries = [text for text in notebook.inputs if is_try(text, notebook.run_names)]
    ladder = _ladder(rules, watch, notebook)
    return Hints.of(rules, ladder, cell.name, inputs=notebook.inputs, tries=tries)


def hint_rows(rules: LabRules, watch: LabWatch, notebook: Notebook) -> dict[str, str]:
    """What `%agent lab` shows about the hints."""
    if rules.mode != "hints":
        return {}
    ladder = _ladder(rules, watch, notebook)
    so_far = "; ".join(f"{name}: {step}" for name, step in ladder.steps_so_far().items())
    count = len(rules.avoid)
    return {
        "hints": ", ".join(ladder.steps),
        "hints so far": so_far or "none",
        "avoid": f"{count} {'entry' if count == 1 else 'entries'}" if count else "",
    }


def _ladder(rules: LabRules, watch: LabWatch, notebook: Notebook) -> Ladder:
    name = notebook.file.name if notebook.file else ""
    memory = watch.unsaved_hints.setdefault(f"{rules.path} {name}", {})
    path = RunStore(notebook.folder).root / FILE
    return Ladder(path, lab=rules.path, notebook=name, steps=rules.hints, memory=memory)
