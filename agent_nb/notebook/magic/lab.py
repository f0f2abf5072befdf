"""What a `lab.toml` beside the notebook changes about a cell, and `%agent lab`, which shows it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from IPython.core.error import UsageError
from IPython.display import display

from agent_nb._base.consent import allow, allowed, consent_key
from agent_nb._base.model_name import is_demo, is_replay
from agent_nb._base.table import Table
from agent_nb._base.text import printable
from agent_nb.engine.handle import Handle
from agent_nb.engine.race import count_variants
from agent_nb.errors import ConfigError
from agent_nb.events import Event, RunFinished, UsageUpdated
from agent_nb.lab.budget import BudgetCounter
from agent_nb.lab.reading import FILE
from agent_nb.lab.rules import LabRules
from agent_nb.messages import Usage
from agent_nb.notebook.asking import confirm
from agent_nb.notebook.kernel_tools import KERNEL, kernel_tools
from agent_nb.notebook.magic.hints import hint_rows, watch_of
from agent_nb.notebook.magic.mode import CassettePlan
from agent_nb.notebook.session import Session
from agent_nb.options import Options
from agent_nb.providers.prices import price_of
from agent_nb.render.summary import dollars
from agent_nb.tools.toolbox import FAMILIES

NO_AI = "no-ai"
"""A cell with this tag runs no agent, with or without a lab file."""
NOTHING_LEFT = 1e-6
"""Dollars. The limit of a free model when the budget is used up: its tools may cost something."""
KIND = "lab"
"""Of consent."""
_ASKED = (
    "{file} says `{rule}`, so tools that ask you first would no longer do so: they can run code and use your\n"
    "accounts. Allow this for the notebooks of that folder from now on?"
)
_NOT_AGREED = (
    "`{rule}` in {file} does not count: nobody has agreed to it. `--approve {value}` in a cell does the same."
)
MUCH = Usage(input=1_000_000, output=1_000_000)


def enter_lab(session: Session) -> LabRules | None:
    """The rules for a cell that is about to run, None without a lab file; raises if it may not run at all."""
    if NO_AI in cell_tags(session.shell):
        raise UsageError(f"This cell is tagged `{NO_AI}`, so no agent runs in it.")
    rules = watch_of(session).rules()
    if rules:
        rules.check_open()
    return rules


def cell_tags(shell: Any) -> Sequence[str]:
    """The tags of the cell being run. JupyterLab and Notebook 7 send them with the request, other hosts may not."""
    get_parent = getattr(getattr(shell, "kernel", None), "get_parent", None)
    request = get_parent() if get_parent else None
    metadata = request.get("metadata") if isinstance(request, dict) else None
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return tags if isinstance(tags, list) else ()


def agreed(session: Session, rules: LabRules, options: Options, *, attended: bool) -> LabRules:
    """The rules as far as the user has agreed to them: those that only tighten need no consent.

    A cell with its own `--approve` does not take that of the file.
    """
    own = session.defaults.approve
    loosening = rules.loosening(own)
    if not loosening or any("=" not in value for value in options.approve):
        return rules
    key = consent_key(rules.path.parent, loosening)
    if key in allowed(KIND):
        return rules
    refused = watch_of(session).refused
    rule = ", ".join(f'{name} = "{value}"' for name, value in loosening.items())
    file = printable(rules.file, keep="")
    if attended and key not in refused and confirm(_ASKED.format(file=file, rule=rule)):
        allow(KIND, key, {"folder": str(rules.path.parent), **loosening})
        return rules
    if key not in refused:
        refused.add(key)
        print(_NOT_AGREED.format(file=file, rule=rule, value=rules.approve))
    return replace(rules, approve=None)


def govern(rules: LabRules, options: Options, shell: Any) -> Options:
    """The options under these rules; raises `ConfigError` if they ask for something that is not allowed."""
    rules.check_models(name for name in options.models if not is_replay(name))
    rules.check_variants(count_variants(len(options.models), options.variants))
    rules.check_tools(options.tools, (KERNEL, *(tool.name for tool in kernel_tools(shell))))
    rules.check_approve(options.approve)
    return replace(options, approve=(rules.approve, *options.approve)) if rules.approve else options


def govern_cassette(rules: LabRules, cassette: CassettePlan, options: Options) -> CassettePlan:
    """The cassette under these rules. A default model of the person's own counts only if the lab allows it."""
    if not options.models:
        allowed = tuple(name for name in cassette.named_models if rules.allows_model(name))
        cassette = replace(cassette, named_models=allowed)
    return cassette.preferred(is_searched=not options.cassette) if rules.replay == "prefer" else cassette


@dataclass(frozen=True, slots=True)
class LabLimit:
    """How much a run may cost under a lab's rules."""

    rules: LabRules
    usd: float | None
    rule: str
    """The rule that sets `usd`; empty if the person's own `--budget` does."""

    @classmethod
    def of(cls, rules: LabRules, models: Sequence[str], asked: float | None) -> "LabLimit":
        """The lowest of the lab's two budgets and the person's own; raises if nothing is left."""
        if all(is_demo(name) for name in models):
            return cls(rules, asked, "")
        limits: dict[str, float] = {} if asked is None else {"": asked}
        if rules.run_budget is not None:
            limits["run_budget"] = rules.run_budget
        if rules.budget is not None:
            limits["budget"] = _left(rules, rules.budget, models)
        for rule in [name for name in limits if name]:
            for name in models:
                if price_of(name, MUCH) is None:
                    raise rules.refusal(rule, f"The price of {name} is not known, so no budget can hold.")
        lowest = min(limits, key=lambda name: limits[name], default="")
        return cls(rules, limits.get(lowest), lowest)

    def follow(self, handle: Handle, warn: Callable[[str], None]) -> None:
        """Counts the cost of a run while it runs, and says which rule has ended it."""
        handle.subscribe(_CostFollower(self, handle, warn))


def _left(rules: LabRules, budget: float, models: Sequence[str]) -> float:
    cost = BudgetCounter(rules.path).total()
    if cost < budget:
        return budget - cost
    if all(price_of(name, MUCH) == 0 for name in models):
        return NOTHING_LEFT
    raise rules.refusal(
        "budget", f"Your budget of {dollars(budget)} is used up: your runs have cost {dollars(cost)}."
    )


class _CostFollower:
    """Follows the events of a run. Notebooks that share a budget see each other's cost as it grows."""

    def __init__(self, limit: LabLimit, handle: Handle, warn: Callable[[str], None]) -> None:
        self._limit, self._handle, self._warn = limit, handle, warn
        self._counter = BudgetCounter(limit.rules.path)
        self._costs: dict[int, float] = {}
        """By variant."""
        self._rule = limit.rule
        self._has_warned = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, UsageUpdated | RunFinished) and event.cost:
            self._costs[event.variant] = event.cost
            self._count()
        if isinstance(event, RunFinished) and event.reason == "budget" and self._rule:
            self._say(f"The run ended at a budget of this lab (`{self._rule}` in {self._limit.rules.file}).")

    def _count(self) -> None:
        budget = self._limit.rules.budget
        if budget is None:
            return
        try:
            total = self._counter.record(self._handle.id, sum(self._costs.values()))
        except ConfigError as error:
            self._say(str(error))
            self._handle.stop()
            return
        if total >= budget:
            self._rule = "budget"
            self._handle.stop("budget")

    def _say(self, text: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            self._warn(text)


def show_lab(session: Session) -> None:
    """Shows what holds, and how much of the budget is left."""
    rules = watch_of(session).rules()
    empty = f"There is no {FILE} in {session.home} or above it, so nothing is limited."
    display(
        Table(("rule", "value"), _rows(session, rules) if rules else [], empty, _note(rules) if rules else "")
    )


def _rows(session: Session, rules: LabRules) -> list[tuple[str, str]]:
    listed = ", ".join
    values = {
        "title": rules.title,
        "mode": rules.mode,
        "models": listed(rules.models),
        "budget": _budget_value(rules),
        "run_budget": dollars(rules.run_budget) if rules.run_budget else "",
        "tools": "none" if rules.tools == () else listed(rules.tools or ()),
        "approve": _approve_value(session, rules),
        "variants": rules.variants and f"at most {rules.variants}",
        "replay": rules.replay,
        **hint_rows(session, rules),
        "open": rules.open and rules.open.isoformat(" ", "minutes"),
        "close": rules.close and rules.close.isoformat(" ", "minutes"),
    }
    return [(name, str(value)) for name, value in values.items() if value]


def _approve_value(session: Session, rules: LabRules) -> str:
    loosening = rules.loosening(session.defaults.approve)
    is_agreed = not loosening or consent_key(rules.path.parent, loosening) in allowed(KIND)
    return (rules.approve or "") if is_agreed else f"{rules.approve}, once you have agreed"


def _budget_value(rules: LabRules) -> str:
    if rules.budget is None:
        return ""
    cost = BudgetCounter(rules.path).total()
    return f"{dollars(max(rules.budget - cost, 0))} left of {dollars(rules.budget)}"


def _note(rules: LabRules) -> str:
    lines = [f"From {rules.path}."]
    try:
        rules.check_open()
    except ConfigError as error:
        lines.append(str(error))
    if rules.budget is not None:
        lines.append(f"The costs of your runs are counted in {BudgetCounter(rules.path).path}.")
    known = {KERNEL, *FAMILIES, *(tool.name for family in FAMILIES.values() for tool in family)}
    known |= {tool.name for tool in kernel_tools()}
    if own := [name for name in rules.tools or () if name not in known and not name.startswith("mcp:")]:
        lines.append(f"Not built in, so a tool of your own may have this name: {', '.join(own)}.")
    return "\n".join(lines)
