"""What features get of the notebook: its variables, cells, tools and branches."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_nb._base.late import late
from agent_nb.core.errors import ConfigError
from agent_nb.notebook.front_end import cell_id, front_end, say
from agent_nb.notebook.session import Session

if TYPE_CHECKING:  # too slow to import for `%load_ext`
    from agent_nb.engine.clients import ToolClients
    from agent_nb.files.notebook_cells import CellContent
    from agent_nb.run import Run
    from agent_nb.tools import Tool
    from agent_nb.tools.base import Branch

_open_view = late("agent_nb.notebook.magic.open_view", "open_view")


class NotebookHost(Session):
    """The session as the `Host` of features."""

    def value(self, name: str) -> Any:
        if name not in self.namespace:
            raise ConfigError(f"There is no variable `{name}`.")
        return self.namespace[name]

    async def cells(self) -> "Sequence[CellContent]":
        from agent_nb.notebook.notebook_tools.open_notebook import NotOpenError
        from agent_nb.notebook.notebook_tools.saved_cells import open_or_saved_cells

        try:
            return (await open_or_saved_cells(self, cell_id(self.shell))).cells
        except NotOpenError as error:
            raise ConfigError(f"The notebook cannot be read: {error}.") from None

    def tools(self, names: Sequence[str]) -> "Sequence[Tool]":
        from agent_nb.notebook.magic.tool_groups import tools_of

        return tools_of(self, names)

    def say(self, text: str) -> None:
        say(text)

    def has_run(self, run: "Run") -> bool:
        from agent_nb.notebook.kernel_tools.execute import has_run
        from agent_nb.run.cells import kept_steps

        return all(has_run(step.executed) for step in kept_steps(run)) and not run.settings.get("replayed")

    async def branch(self) -> "Branch":
        maker = next(tool.branches for tool in self.tools(["kernel"]) if tool.branches)
        maker.check()
        return await maker.open()

    @property
    def notebook_file(self) -> Path | None:
        from agent_nb.notebook.notebook_tools.saved_cells import notebook_file

        return notebook_file(self)

    @property
    def cell_number(self) -> int:
        return int(self.shell.execution_count)

    async def front_end(self) -> tuple[str, bool | None]:
        return await front_end(self.shell)

    async def open_view(self, line: str, prompt: str, given: Mapping[str, Any] = {}) -> "ToolClients":
        clients: ToolClients = await _open_view(self, line, prompt, given)
        return clients
