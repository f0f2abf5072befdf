"""Judges the arguments of tool calls. A call that is held back is not run: the model gets an error as its result."""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.cassette.player import ReplayClock, ReplayedTools
from agent_nb.engine.tool_runner import ToolRunner, result_of
from agent_nb.errors import ToolError
from agent_nb.lab.hints.allowance import Allowance
from agent_nb.lab.hints.code import code_in, code_lines
from agent_nb.messages import ToolCall, ToolResult
from agent_nb.tools import Tool, ToolOutput

HELD_BACK = "held_back"
"""The argument of a call that was held back; its value says why."""
UNKNOWN_TOOL = "unknown_tool"
"""Stands for the name of a tool that does not exist, which the model made up."""
INSTEAD = "Give the hint in words."


def filtered_arguments(allowance: Allowance, tool: Tool | None, arguments: str) -> str:
    """The arguments as they are, or those of a call that was held back."""
    args = _parsed(arguments)
    texts = [arguments] if args is None else [*_texts(args)]
    if args is None or tool is None:
        written = texts
    else:  # what is written to a file counts as code, whatever it looks like
        written = [text for name in tool.content_arguments for text in _texts(args.get(name))]
    lines = [line for text in texts for line in code_in(text)]
    lines += [line for text in written for line in code_lines(text)]
    what = "file write" if tool and tool.content_arguments else "tool call"
    readable = arguments if args is None else json.dumps(args, ensure_ascii=False)
    refusal = allowance.refusal_of_text("\n".join((*texts, readable)), what)
    if not refusal and lines:
        refusal = allowance.refusal_of_code([*dict.fromkeys(lines)], what)
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


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names of fields included if they are more than a word."""
    waiting = deque([value])
    while waiting:
        match waiting.popleft():
            case str(text):
                yield text
            case dict(fields):
                waiting += [name for name in fields if not name.isidentifier()]
                waiting += fields.values()
            case list(items):
                waiting += items
            case _:
                pass


def _parsed(arguments: str) -> Json | None:
    """The arguments; None if they are not a JSON object, or too deep to be written again."""
    try:
        args = json.loads(arguments)
        json.dumps(args)
    except (ValueError, RecursionError):
        return None
    return args if isinstance(args, dict) else None
