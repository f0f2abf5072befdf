"""Applies a lab file to one cell: checks its options, limits its cost, and logs its run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent_nb._base.constants import is_demo, is_replay
from agent_nb._base.text import sha256
from agent_nb.classroom.budget import BudgetCounter
from agent_nb.classroom.log import FILE, LabLog, entry_of
from agent_nb.classroom.rules import LabRules, LabWatch
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import Event, RunFinished, UsageUpdated
from agent_nb.core.options import Options
from agent_nb.core.run_settings import Limits, count_variants
from agent_nb.plugins import Cell, Reaction, Rules
from agent_nb.prompts import prompt_text
from agent_nb.providers.prices import has_price, is_free
from agent_nb.render.summary import dollars
from agent_nb.run import Run

NOTHING_LEFT = 1e-6
"""Budget in dollars for a free model when the lab's budget is used up, because its tools may cost money."""


class LabCell(Rules):
    def __init__(self, lab: LabRules, watch: LabWatch, cell: Cell) -> None:
        self.lab, self._cell = lab, cell
        self.source, self.approve, self.models = lab.file, lab.approve, lab.models
        self.data = lab.data
        self.default_model, self.without_tools = lab.default_model(), lab.left_out()
        self.system = prompt_text("hints") if lab.mode == "hints" else None
        self._watch = watch
        self._check = ""
        self._budget_rule = ""
        """The rule that limits the run's cost; empty if it is the user's own `--budget`."""
        self._costs: dict[int, float] = {}
        self._counter = BudgetCounter(lab.path)
        self._is_counted = self._has_warned = False

    def options(self, options: Options) -> Options:
        lab, families = self.lab, self._cell.notebook.families
        lab.check_models(name for name in options.models if not is_replay(name))
        lab.check_variants(count_variants(len(options.models), options.variants))
        lab.check_tools(options.tools, families)
        lab.check_approve(options.approve)
        if lab.data and options.data == "all":
            raise lab.refusal("data", "This lab sends no values of your data.")
        self._check = "" if options.dry_run else options.expression
        return replace(options, prefers_replay=True) if lab.replay == "prefer" else options

    def given(self, given: Mapping[str, Any]) -> None:
        self.lab.check_given(given)

    def limits(self, limits: Limits, models: Sequence[str]) -> Limits:
        """Return the lab's limits with the lowest of its budgets and the user's; raises if no budget is left."""
        limits = replace(limits, **self.lab.limits)
        if all(is_demo(name) for name in models):
            return limits
        self._is_counted = True
        budgets = {"run_budget": self.lab.run_budget, "budget": self._left(models)}
        caps = {rule: usd for rule, usd in budgets.items() if usd is not None}
        for rule in caps:
            for name in models:
                if not has_price(name):
                    raise self.lab.refusal(rule, f"A budget needs a known price, and {name} has none.")
        lowest = min(caps, key=lambda rule: caps[rule], default="")
        if not lowest or (limits.usd is not None and limits.usd <= caps[lowest]):
            return limits
        self._budget_rule = lowest
        return replace(limits, usd=caps[lowest])

    def _left(self, models: Sequence[str]) -> float | None:
        budget = self.lab.budget
        if budget is None:
            return None
        cost = self._counter.total()
        if cost < budget:
            return budget - cost
        if all(map(is_free, models)):
            return NOTHING_LEFT
        raise self.lab.refusal(
            "budget", f"Your budget of {dollars(budget)} is used up: your runs have cost {dollars(cost)}."
        )

    def notes(self) -> Iterator[str]:
        if announced := self._watch.announce(self.lab, self._cell.notebook.command("lab")):
            yield announced

    def event(self, run_id: str, event: Event) -> Reaction | None:
        if isinstance(event, UsageUpdated | RunFinished) and event.cost and self._is_counted:
            self._costs[event.variant] = event.cost
            reaction = self._count(run_id) if self.lab.budget is not None else None
            if isinstance(event, UsageUpdated):
                return reaction
        if isinstance(event, RunFinished) and event.reason == "budget" and self._budget_rule:
            rule = f"`{self._budget_rule}` in {self.lab.file}"
            return self._said(f"The run ended at a budget of this lab ({rule}).")
        return None

    def _count(self, run_id: str) -> Reaction | None:
        """Record the cost during the run, so that notebooks that share a budget see each other's."""
        try:
            total = self._counter.record(run_id, sum(self._costs.values()))
        except ConfigError as error:
            return self._said(str(error))._replace(stop="stopped")
        if total < (self.lab.budget or 0):
            return None
        self._budget_rule = "budget"
        return Reaction(stop="budget")

    def _said(self, note: str) -> Reaction:
        is_new, self._has_warned = not self._has_warned, True
        return Reaction(note if is_new else "")

    def end(self, run: Run) -> Iterator[str]:
        """Append the run to the log. A failure to write the log does not fail the run."""
        file, edited = self._cell.notebook.file, tuple(self._new_edits())
        name = file.name if file else ""
        entry = entry_of(run, lab=self.lab.digest, notebook=name, check=self._check, edited=edited)
        try:
            LabLog(self._cell.notebook.folder).append(entry)
        except TimeoutError:
            yield f"This run is not in {FILE}, which another program has locked."
        except OSError as error:
            yield f"This run is not in {FILE}, which cannot be written: {error.strerror or error}."

    def _new_edits(self) -> Iterator[str]:
        """Yield the paths of files edited by the user and not logged yet."""
        for before, after in self._cell.notebook.edits:
            for path in sorted({*before, *after}):
                edit = path, sha256(after.get(path, b""))
                if before.get(path) != after.get(path) and edit not in self._watch.logged_edits:
                    self._watch.logged_edits.add(edit)
                    yield path
