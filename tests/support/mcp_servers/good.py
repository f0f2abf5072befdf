"""A well-behaved server of the `mcp` package: `python good.py` on stdio, `python good.py http` on a free port."""

import asyncio
import base64
import sys
from typing import Any

try:
    from mcp.server.mcpserver import Context, Image, MCPServer
    from mcp_types import EmbeddedResource, TextResourceContents, ToolAnnotations
except ImportError:  # version 1
    from mcp.server.fastmcp import Context, Image
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.types import EmbeddedResource, TextResourceContents, ToolAnnotations

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
IS_2 = MCPServer.__name__ == "MCPServer"
server = MCPServer("good", log_level="CRITICAL")


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts and reports its progress."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, "counting")
        await asyncio.sleep(0.11)
    return f"counted to {to}"


@server.tool()
def draw() -> Image:
    """Draws one pixel."""
    return Image(data=PNG, format="png")


@server.tool()
def read() -> list[EmbeddedResource]:
    """Gives a resource."""
    return [
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(uri="note://1", text="a note", mimeType="text/plain"),
        )
    ]


waiting: list[str] = []


@server.tool()
async def wait() -> str:
    """Waits for a minute."""
    waiting.append("wait")
    try:
        await asyncio.sleep(60)
    finally:
        waiting.remove("wait")
    return "waited"


@server.tool()
def running() -> str:
    """The calls that are waiting."""
    return ", ".join(waiting)


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("no such city")


@server.tool()
def environment() -> str:
    """The names of its environment variables."""
    import os

    return " ".join(sorted(os.environ))


@server.tool()
async def learn(ctx: Context) -> str:
    """Adds a tool to the list."""
    server.add_tool(lambda: "new", name="learned", description="A new tool.")
    await (ctx.notify_tools_changed if IS_2 else ctx.session.send_tool_list_changed)()
    return "learned"


def main() -> Any:
    if sys.argv[1:] != ["http"]:
        return server.run()
    from tests.support.processes import hold_port  # the package adds to PYTHONPATH

    with hold_port() as port:
        print(f"http://127.0.0.1:{port}/mcp", flush=True)
        if IS_2:
            return server.run("streamable-http", host="127.0.0.1", port=port)
        server.settings.port = port
        return server.run("streamable-http")


if __name__ == "__main__":
    main()
