"""Repairs a server's list of tools: the `mcp` package refuses the whole list, and so the server, for one entry."""

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, Self

import mcp_types
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from agent_nb._base.text import printable_line
from agent_nb._base.wire import Json

_ANY: Json = {"type": "object", "additionalProperties": True}


class ToolListRepair:
    """Repairs the lists that come over a transport, and notes what was left out of them."""

    def __init__(self, version: Callable[[], str]) -> None:
        self.notes: list[str] = []
        self._version = version

    @contextlib.asynccontextmanager
    async def over(self, transport: Any) -> AsyncIterator[Any]:
        """The transport with repaired lists."""
        async with transport as (read, write):
            yield _Stream(read, self._message), write

    def _message(self, item: Any) -> Any:
        response = getattr(item, "message", None)
        result = response.result if isinstance(response, mcp_types.JSONRPCResponse) else {}
        if isinstance(result.get("tools"), list) and "content" not in result:
            entries = [self._entry(raw, result) for raw in result["tools"]]
            result["tools"] = [entry for entry in entries if entry is not None]
        return item

    def _entry(self, raw: Any, result: Json) -> Json | None:
        entry: Json = raw if isinstance(raw, dict) else {}
        name, schema = entry.get("name"), entry.get("inputSchema")
        if not isinstance(name, str) or not name:
            self.notes.append("A tool without a name is left out.")
            return None
        if isinstance(schema, dict) and "type" not in schema:
            schema = {"type": "object", **schema}  # it means an object all the same
            entry = {**entry, "inputSchema": schema}
        if self._is_valid(entry, result):
            return entry
        usable = schema if isinstance(schema, dict) and schema.get("type") == "object" else _ANY
        entry = {"name": name, "description": str(entry.get("description") or ""), "inputSchema": usable}
        shown = printable_line(name)[:60]
        if self._is_valid(entry, result):
            self.notes.append(f"A part of what the server says about `{shown}` is not valid, and left out.")
            return entry
        self.notes.append(f"`{shown}` is left out: what the server says about it is not valid.")
        return None

    def _is_valid(self, entry: Json, result: Json) -> bool:
        try:
            validate_server_result("tools/list", self._version(), {**result, "tools": [entry]})
            mcp_types.Tool.model_validate(entry, by_name=False)
        except ValidationError:
            return False
        return True


class _Stream:
    """A stream whose items are changed as they are received."""

    def __init__(self, stream: Any, change: Callable[[Any], Any]) -> None:
        self._stream, self._change = stream, change

    async def receive(self) -> Any:
        return self._change(await self._stream.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._change(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._stream.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
