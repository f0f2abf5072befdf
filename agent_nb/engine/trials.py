"""Tries calls that wait for approval, in a copy of the session or branch. Only the user sees the results."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import replace

from agent_nb._base.wire import Json
from agent_nb.core.errors import ConfigError, ToolError
from agent_nb.files import Workspace
from agent_nb.tools import Tool, ToolContext, ToolOutput


def can_try(tool: Tool) -> bool:
    """Whether the tool runs code and the kernel can be copied here without risk."""
    return tool.allows_whole_run and tool.branches is not None and tool.branches.are_safe()


class Trials:
    """The calls of a variant that the user may try before answering, one trial at a time per call.

    A trial is no event of the run, and its result is not sent to the model.
    """

    def __init__(self) -> None:
        self._calls: dict[str, tuple[Tool, ToolContext]] = {}
        self._running: dict[str, asyncio.Task[ToolOutput]] = {}

    @contextlib.contextmanager
    def offered(self, call_id: str, tool: Tool, context: ToolContext) -> Iterator[None]:
        """Let the user try the call until the block ends, which also stops a trial."""
        self._calls[call_id] = tool, context
        try:
            yield
        finally:
            self._calls.pop(call_id, None)  # an outside agent may ask twice about a call
            self.stop(call_id)

    async def run(self, call_id: str, args: Json) -> ToolOutput:
        """Try the call with these arguments; raises `ToolError` as the tool would."""
        if call_id not in self._calls:
            raise ConfigError("This call no longer waits for approval.")
        if call_id in self._running:
            raise ConfigError("This call is being tried already.")
        work = _try(*self._calls[call_id], args)
        trial = self._running[call_id] = asyncio.get_running_loop().create_task(work)
        try:
            await asyncio.wait([trial])
        finally:
            trial.cancel()
            del self._running[call_id]
        if trial.cancelled():
            raise ToolError("The code was stopped.", code="STOPPED")
        return trial.result()

    def stop(self, call_id: str) -> None:
        """End the trial of a call at once, if there is one."""
        if trial := self._running.get(call_id):
            trial.cancel()


async def _try(tool: Tool, context: ToolContext, args: Json) -> ToolOutput:
    assert tool.branches is not None
    branch = await (context.branch.copy() if context.branch else tool.branches.open())
    own_files = Workspace(context.files.files)
    quiet = replace(context, files=own_files, progress=lambda text: None, show=lambda bundle: None)
    try:
        return await branch.call(tool.name, args, quiet)
    finally:
        branch.end()
