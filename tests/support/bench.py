"""Runs one tool by itself, and remembers what it changed and reported."""

import json
import threading
from collections.abc import Callable
from typing import Any

from agent_nb.events import Change
from agent_nb.files import Files, Workspace
from agent_nb.messages import ToolCall
from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput


class Bench:
    """A workspace that remembers what it was told, and from which thread."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.lines: list[str] = []
        self.threads: set[int] = set()
        self.context = ToolContext(
            files=Workspace(Files(), self._changed), progress=self._progress, call_id="c1"
        )

    def _changed(self, change: Change) -> None:
        self.threads.add(threading.get_ident())
        self.changes.append(change)

    def _progress(self, line: str) -> None:
        self.threads.add(threading.get_ident())
        self.lines.append(line)


async def run(function: Callable[..., Any] | Tool, bench: Bench | None = None, **args: Any) -> ToolOutput:
    box = Toolbox([function])
    found, checked = box.prepare(ToolCall("1", next(iter(box)).name, json.dumps(args)))
    return await box.run(found, checked, (bench or Bench()).context)
