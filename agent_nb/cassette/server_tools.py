"""The tools of MCP servers in a cassette: it holds their specs, so that it plays without the servers."""

import contextlib
from collections.abc import Iterable, Iterator

from agent_nb._base.wire import Json
from agent_nb.engine.tool_runner import title_of
from agent_nb.errors import ToolError
from agent_nb.messages import ToolSpec
from agent_nb.tools import Tool, Toolbox, ToolContext, ToolOutput
from agent_nb.tools.schema import without_nulls

_KEY = "servers"


class ReplayToolbox(Toolbox):
    """The tools of a replay. Compiling a schema makes code of it, so those that come from the file are not compiled."""

    def valid(self, tool: Tool, args: Json) -> Json:
        if not tool.origin:
            return super().valid(tool, args)
        with contextlib.suppress(AttributeError, TypeError):  # of a schema that is none
            return without_nulls(tool.spec.schema, args)  # type: ignore[no-any-return]
        return args


def with_server_tools(fingerprint: Json, tools: Iterable[Tool]) -> Json:
    """The fingerprint with the specs of these tools that come from a server, if there are any."""
    specs = {
        tool.name: {
            "origin": tool.origin,
            "title": title_of(tool, {}),
            "description": tool.spec.description,
            "schema": tool.spec.schema,
        }
        for tool in tools
        if tool.origin
    }
    return {**fingerprint, _KEY: specs} if specs else fingerprint


def with_recorded(tools: Iterable[Tool], recorded: Json) -> Iterator[Tool]:
    """These tools, with the recorded ones in place of those of the same server."""
    specs: Json = recorded.get(_KEY, {})
    by_server: dict[str, list[Tool]] = {}
    for name, spec in specs.items():
        by_server.setdefault(_server(spec["origin"]), []).append(_recorded(name, spec))
    replaced: set[str] = set()
    for tool in tools:
        server = _server(tool.origin)
        if not tool.origin or server not in by_server:
            yield tool
        elif server not in replaced:
            replaced.add(server)
            yield from by_server[server]


def _server(origin: str) -> str:
    """`mcp:weather` for `mcp:weather/forecast`"""
    return origin.partition("/")[0]


def _recorded(name: str, recorded: Json) -> Tool:
    def run(args: Json, context: ToolContext) -> ToolOutput:
        raise ToolError(f"`{name}` was recorded; its server is not called.")

    return Tool(
        spec=ToolSpec(name=name, description=recorded["description"], schema=recorded["schema"]),
        run=run,
        title=lambda args: str(recorded["title"]),
        approval="ask",
        identical_only=True,
        origin=recorded["origin"],
    )
