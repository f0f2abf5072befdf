"""The image tools over a workspace, as a run would call them."""

import json
from typing import Any

import pytest

from agent_nb.errors import ToolError
from agent_nb.files import Files, Workspace
from agent_nb.messages import ToolCall
from agent_nb.providers.studio import local_studio
from agent_nb.tools import Toolbox, ToolContext, ToolOutput

KEY = "sk-test-0123456789abcdef0123"


class Desk:
    """A workspace with pictures and a studio."""

    def __init__(self, files: dict[str, Any] | None = None, *, images=(), studio=None) -> None:
        self.lines: list[str] = []
        self.box = Toolbox.default()
        self.space = Workspace(Files(files or {}))
        self.context = ToolContext(
            files=self.space,
            progress=self.lines.append,
            images=tuple(images),
            studio=studio or local_studio(),
            call_id="c1",
            hosts=None,
        )

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
