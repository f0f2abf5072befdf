"""Tools over a workspace, as a run would call them."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from agent_nb.core.errors import ToolError
from agent_nb.core.events import Change
from agent_nb.core.messages import ToolCall
from agent_nb.files import Files, Workspace
from agent_nb.providers.studio import local_studio
from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput

KEY = "sk-test-0123456789abcdef0123"


class Desk:
    """A workspace with pictures and a studio. It remembers what it was told, and from which thread."""

    def __init__(self, files: dict[str, Any] | None = None, *, images=(), studio=None) -> None:
        self.changes: list[Change] = []
        self.lines: list[str] = []
        self.threads: set[int] = set()
        self.box = Toolbox.default()
        self.space = Workspace(Files(files or {}), self._changed)
        self.context = ToolContext(
            files=self.space,
            progress=self._progress,
            images=tuple(images),
            studio=studio or local_studio(),
            call_id="c1",
            hosts=None,
        )

    def _changed(self, change: Change) -> None:
        self.threads.add(threading.get_ident())
        self.changes.append(change)

    def _progress(self, line: str) -> None:
        self.threads.add(threading.get_ident())
        self.lines.append(line)

    @property
    def files(self) -> Files:
        return self.space.files

    async def call(self, name: str, **args: Any) -> ToolOutput:
        tool, checked = self.box.prepare(ToolCall("1", name, json.dumps(args)))
        return await self.box.run(tool, checked, self.context)

    async def fail(self, name: str, **args: Any) -> ToolError:
        before = self.files
        with pytest.raises(ToolError) as caught:
            await self.call(name, **args)
        assert self.files is before
        return caught.value


async def run(function: Callable[..., Any] | Tool, desk: Desk | None = None, **args: Any) -> ToolOutput:
    """Runs one tool by itself."""
    desk = desk or Desk()
    desk.box = Toolbox([function])
    return await desk.call(next(iter(desk.box)).name, **args)
