"""The classroom as a plugin: the rules of a `lab.toml`, and the commands `%agent lab` and `%agent submit`.

Every first run imports this module, so the other lab modules are imported only for a lab file or a command.
"""

from pathlib import Path

from agent_nb._base.late import late
from agent_nb._base.table import Table
from agent_nb.classroom.budget import BudgetCounter
from agent_nb.classroom.rules import FILE, LabRules, LabWatch
from agent_nb.core.errors import ConfigError
from agent_nb.plugins import Cell, Command, Notebook, Plugin, Rules
from agent_nb.render.summary import dollars

NO_AI = "no-ai"
"""Cells with this tag run no agent, with or without a lab file."""


class Lab(Plugin):
    def __init__(self) -> None:
        self._watches: dict[Path, LabWatch] = {}

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "lab [log]",
                "The rules of the lab file beside the notebook and the budget that is left, or the log of your runs.",
                self._show,
                lambda notebook, before: [] if before else [("log", "the runs under the lab file")],
            ),
            Command(
                "submit [NOTEBOOK]",
                "Write the saved notebook, the log of the lab, the runs and their pages to one zip file.",
                late("agent_nb.classroom.submit", "submit_command"),
                lambda notebook, before: (
                    []
                    if before
                    else [(path.name, "notebook") for path in sorted(notebook.folder.glob("*.ipynb"))]
                ),
            ),
        )

    def rules(self, cell: Cell) -> Rules | None:
        if NO_AI in cell.tags:
            raise ConfigError(f"This cell is tagged `{NO_AI}`, so no agent runs in it.")
        watch = self.watch(cell.notebook.folder)
        rules = watch.rules()
        if rules is None:
            return None
        from agent_nb.classroom.cell import LabCell

        rules.check_open()
        return LabCell(rules, watch, cell)

    def watch(self, folder: Path) -> LabWatch:
        return self._watches.setdefault(folder, LabWatch(folder))

    def _show(self, notebook: Notebook, arguments: str) -> Table:
        from agent_nb.classroom.log import show_log

        if arguments == "log":
            return show_log(notebook.folder)
        if arguments:
            raise ConfigError(f"`{notebook.command('lab')}` takes at most `log`, not {arguments!r}.")
        rules = self.watch(notebook.folder).rules()
        if rules is None:
            empty = f"There is no {FILE} in {notebook.folder} or above it, so nothing is limited."
            return Table(("rule", "value"), [], empty)
        rows = [(name, str(value)) for name, value in _values(rules).items() if value]
        return Table(("rule", "value"), rows, "", _note(rules))


def _values(rules: LabRules) -> dict[str, object]:
    listed = ", ".join
    return {
        "title": rules.title,
        "mode": rules.mode,
        "models": listed(rules.models),
        "budget": _budget_value(rules),
        "run_budget": dollars(rules.run_budget) if rules.run_budget else "",
        **{name: f"at most {value:g}" for name, value in rules.limits.items()},
        "tools": "none" if rules.tools == () else listed(rules.tools or ()),
        "approve": rules.approve,
        "data": rules.data,
        "variants": rules.variants and f"at most {rules.variants}",
        "replay": rules.replay,
        "open": rules.open and rules.open.isoformat(" ", "minutes"),
        "close": rules.close and rules.close.isoformat(" ", "minutes"),
    }


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
    return "\n".join(lines)


plugin = Lab()
