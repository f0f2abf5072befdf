"""Denies tools that write files or run code. A call that is held back is not run: the model gets an error instead."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb._base.wire import Json
from agent_nb.cassette.player import ReplayClock, ReplayedTools
from agent_nb.engine.tool_runner import ToolRunner, result_of
from agent_nb.errors import ToolError
from agent_nb.lab.hints.allowance import Allowance
from agent_nb.messages import ToolCall, ToolResult
from agent_nb.tools import Tool, ToolOutput

HELD_BACK = "held_back"
"""The argument of a call that was held back; its value says why."""
INSTEAD = "Give the hint in words."


def filtered_arguments(allowance: Allowance, tool: Tool | None, arguments: str) -> str:
    """The arguments as they are, or those of a call that was held back."""
    args = _parsed(arguments)
    if tool and tool.content_arguments:
        refusal = allowance.hold("A file write")
    elif tool is None or tool.identical_only or args is None:  # such a tool runs code
        refusal = allowance.hold("A tool call")
    else:
        refusal = allowance.refusal_of_text(json.dumps(args, ensure_ascii=False), "tool call")
    return json.dumps({HELD_BACK: refusal}, ensure_ascii=False) if refusal else arguments


def held_back(call: ToolCall) -> str:
    """Why a call was held back; empty if it was not."""
    return str((_parsed(call.arguments) or {}).get(HELD_BACK, ""))


@dataclass(slots=True, kw_only=True)
class HeldTools(ToolRunner):
    """Runs calls, except for those that were held back."""

    def prepare(self, event_id: str, call: ToolCall) -> tuple[Tool, Json]:
        if refusal := held_back(call):
            raise _error(refusal)
        return ToolRunner.prepare(self, event_id, call)


@dataclass(slots=True, kw_only=True)
class HeldReplay(ReplayedTools):
    """Plays calls as recorded, except for those that were held back: nothing of them is played."""

    async def run(self, calls: Sequence[tuple[str, ToolCall]]) -> tuple[ToolResult, ...]:
        assert isinstance(self.clock, ReplayClock)
        held = {event_id: call for event_id, call in calls if held_back(call)}
        moments = self.clock.moments
        self.clock.moments = tuple(moment for moment in moments if moment.call not in held)
        for event_id, call in held.items():
            error = _error(held_back(call))
            self._finished(event_id, 0.0, ToolOutput(text=""), error)
            self.results[event_id] = result_of(call, ToolOutput(text=""), error)
        return await ReplayedTools.run(self, calls)


def _error(refusal: str) -> ToolError:
    return ToolError(refusal, code="DENIED", hint=INSTEAD)


def _parsed(arguments: str) -> Json | None:
    """The arguments; None if they are not a JSON object, or too deep to be written again."""
    try:
        args = json.loads(arguments)
        json.dumps(args)
    except (ValueError, RecursionError):
        return None
    return args if isinstance(args, dict) else None
