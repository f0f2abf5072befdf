"""What the mode "hints" makes of a run: its step, its instructions, its filter, and what was given and held back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from agent_nb.demo.provider import DemoProvider
from agent_nb.engine.prepared import Prepared
from agent_nb.lab.hints.allowance import MOST_LINES, Allowance, AvoidList
from agent_nb.lab.hints.calls import HeldReplay, HeldTools
from agent_nb.lab.hints.demo import next_hint
from agent_nb.lab.hints.ladder import Ladder, Place
from agent_nb.lab.hints.provider import HintsProvider
from agent_nb.lab.hints.tries import is_try
from agent_nb.lab.rules import LabRules
from agent_nb.plugins import Cell, Notebook
from agent_nb.run.store import RunStore

_PROMPTS = Path(__file__).parent / "prompts"
FILE = "hints.json"
"""In the folder of the saved runs."""


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints of one run."""

    name: str
    """The name of the run."""
    ladder: Ladder
    place: Place
    allowance: Allowance
    avoid: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, rules: LabRules, ladder: Ladder, name: str, *, inputs: Sequence[str], tries: Sequence[str]
    ) -> "Hints":
        """The hints for a run of this name.

        `inputs` are what the user has run, newest last, and `tries` those that allow the next step.
        """
        place = ladder.place(name, tries)
        allowance = Allowance(place.step, AvoidList(rules.avoid), rules.file, set(place.given))
        for text in inputs:
            allowance.add_own(text)
        return cls(name, ladder, place, allowance, rules.avoid)

    @property
    def step(self) -> str:
        """The step of the ladder, such as `question`."""
        return self.place.step

    def apply(self, prepared: Prepared) -> Prepared:
        """The same run, for hints. A cassette that fits the one fits the other: only what is built in differs."""
        config, own = prepared.config, prepared.instructions
        self.allowance.add_own(prepared.opening.prompt)
        provider = config.provider
        if isinstance(provider, DemoProvider):
            provider = provider.with_script(partial(next_hint, self.step))
        config = replace(
            config,
            provider=HintsProvider(provider, config.toolbox, self.allowance),
            system="\n\n".join(filter(None, (own, self._instructions()))),
            runner=HeldReplay if prepared.playback else HeldTools,
            settings={**config.settings, "hint": self.step},
        )
        return replace(prepared, config=config)

    def record(self) -> str:
        """Notes that the hint was given; returns why that could not be saved, or an empty string."""
        return self.ladder.record(self.name, self.place, self.allowance.given)

    def _instructions(self) -> str:
        most = MOST_LINES[self.step]
        lines = "no code" if not most else "one line of code" if most == 1 else f"{most} lines of code"
        texts = [_text("rules").format(lines=lines), _text(self.step)]
        if self.avoid:
            listed = "\n".join(f"- {each}" for each in self.avoid)
            texts.append(f"Do not give these away, not even as a word or a name:\n{listed}")
        return "\n\n".join(texts)


def _text(name: str) -> str:
    return (_PROMPTS / f"{name}.md").read_text(encoding="utf-8").strip()


def hints_for(rules: LabRules, cell: Cell) -> Hints:
    """The hints for this cell. Nothing is recorded yet."""
    notebook = cell.notebook
    tries = [text for text in notebook.inputs if is_try(text, notebook.run_names)]
    ladder = _ladder(rules, notebook)
    return Hints.of(rules, ladder, cell.name, inputs=notebook.inputs, tries=tries)


def hint_rows(rules: LabRules, notebook: Notebook) -> dict[str, str]:
    """What `%agent lab` shows about the hints."""
    if rules.mode != "hints":
        return {}
    ladder = _ladder(rules, notebook)
    so_far = "; ".join(f"{name}: {step}" for name, step in ladder.steps_so_far().items())
    count = len(rules.avoid)
    return {
        "hints": ", ".join(ladder.steps),
        "hints so far": so_far or "none",
        "avoid": f"{count} {'entry' if count == 1 else 'entries'}" if count else "",
    }


def _ladder(rules: LabRules, notebook: Notebook) -> Ladder:
    name = notebook.file.name if notebook.file else ""
    path = RunStore(notebook.folder).root / FILE
    return Ladder(path, lab=rules.path, notebook=name, steps=rules.hints)
