"""Schemas of tools as MCP servers write them: by hand, with Zod, and with pydantic. Each has arguments that fit it."""

import enum
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from tests.support.mcp_servers.good import MCPServer

Json = dict[str, Any]
_ZOD = "http://json-schema.org/draft-07/schema#"
_EMAIL = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"


def _zod(required: list[str] | None = None, /, **properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "additionalProperties": False, "$schema": _ZOD}
    return schema if required is None else {**schema, "required": required}


_STRING: Json = {"type": "string"}
_ENTITY = _zod(
    ["name", "entityType", "observations"],
    name={"type": "string", "description": "The name of the entity"},
    entityType=_STRING,
    observations={"type": "array", "items": _STRING},
)
_HEADERS = {"type": "object", "additionalProperties": _STRING}

BY_HAND: dict[str, tuple[Json, Json]] = {
    "everything_echo": (_zod(["message"], message=_STRING), {"message": "hi"}),
    "everything_no_arguments": ({"type": "object"}, {}),
    "everything_annotated": (
        _zod(
            ["messageType"],
            messageType={"type": "string", "enum": ["error", "success", "debug"]},
            includeImage={"type": "boolean", "default": False},
        ),
        {"messageType": "debug"},
    ),
    "everything_long_running": (
        _zod(duration={"type": "number", "default": 10}, steps={"type": "number", "exclusiveMinimum": 0}),
        {"steps": 3},
    ),
    "filesystem_read_many": (
        _zod(["paths"], paths={"type": "array", "items": _STRING, "minItems": 1}),
        {"paths": ["a"]},
    ),
    "filesystem_edit": (
        _zod(
            ["path", "edits"],
            path=_STRING,
            edits={"type": "array", "items": _zod(["oldText", "newText"], oldText=_STRING, newText=_STRING)},
            dryRun={"type": "boolean", "default": False},
        ),
        {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]},
    ),
    "memory_create_entities": (
        _zod(["entities"], entities={"type": "array", "items": _ENTITY}),
        {"entities": [{"name": "a", "entityType": "b", "observations": []}]},
    ),
    "time_convert": (
        {
            "type": "object",
            "properties": {"source_timezone": _STRING, "time": _STRING, "target_timezone": _STRING},
            "required": ["source_timezone", "time", "target_timezone"],
        },
        {"source_timezone": "UTC", "time": "12:00", "target_timezone": "UTC"},
    ),
    "sqlite_insights": ({"type": "object", "properties": {}}, {}),
    "email_send": (
        _zod(["to"], to={"type": "array", "items": {"type": "string", "format": "email", "pattern": _EMAIL}}),
        {"to": ["a@example.org"]},
    ),
    "graph_list": (
        _zod(
            ["$top"],
            **{
                "$top": {"type": "integer", "minimum": 1, "description": "How many."},
                "$filter": _STRING,
                "where": _zod(**{"filter[id]": _STRING, "@microsoft.graph.conflictBehavior": _STRING}),
                "x" * 70: _STRING,
            },
        ),
        {"$top": 3, "where": {"filter[id]": "7"}, "x" * 70: "long"},
    ),
    "dns_record": (
        {
            "type": "object",
            "properties": {"ttl": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
        },
        {"ttl": 5},
    ),
    "crawl": (
        {
            "type": "object",
            "properties": {
                "urls": {"type": "array", "items": _STRING},
                "headers": _HEADERS,
                "actions": {"type": "array", "items": {"$ref": "#/properties/headers"}},
                "prompt": {"type": "string", "maxLength": 10_000},
            },
            "required": ["urls", "not_there"],
        },
        {"urls": [], "not_there": 1, "actions": [{"a": "b"}]},
    ),
    "draft_4_tuple": (
        {"type": "object", "properties": {"at": {"type": "array", "items": [{"type": "number"}, _STRING]}}},
        {"at": [1.5, "north"]},
    ),
    "either_at_the_top": (
        {
            "type": "object",
            "oneOf": [
                {"properties": {"kind": {"const": "file"}, "path": _STRING}, "required": ["kind", "path"]},
                {"properties": {"kind": {"const": "url"}, "url": _STRING}, "required": ["kind", "url"]},
            ],
        },
        {"kind": "url", "url": "https://example.org"},
    ),
    "conditions": (
        {
            "type": "object",
            "properties": {"mode": {"enum": ["a", 1, None]}, "depth": {"type": ["integer", "array"]}},
            "if": {"properties": {"mode": {"const": "a"}}},
            "then": {"required": ["depth"]},
            "dependentRequired": {"depth": ["mode"]},
            "patternProperties": {"^x-": _STRING},
            "additionalProperties": False,
        },
        {"mode": 1, "x-more": "y"},
    ),
    "booleans": ({"type": "object", "properties": {"any": True, "never": False}}, {"any": 3}),
    "untyped": ({"properties": {"q": _STRING}}, {"q": "x"}),
    "damaged": (
        {
            "type": "object",
            "properties": {
                "a": {"type": "any", "required": True, "enum": "x", "minLength": -1},
                "b": {"$ref": "https://example.org/schema.json", "description": "Far away."},
                "c": {"type": "string", "pattern": "[unclosed", "format": 3},
                "d": {"type": "integer", "multipleOf": 0},
            },
        },
        {"a": "x", "d": 1},
    ),
}


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Node(BaseModel):
    """A node of a tree."""

    name: str
    children: "list[Node]" = []


class Linked(BaseModel):
    value: int
    rest: "Linked | None"


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float = Field(gt=0, le=1e6)


class Box(BaseModel):
    kind: Literal["box"]
    size: tuple[float, float]


def _server() -> MCPServer:
    server = MCPServer("shapes", log_level="ERROR")

    @server.tool()
    def draw(
        shape: Annotated[Circle | Box, Field(discriminator="kind", description="What to draw.")],
        at: tuple[int, str],
        *,
        colour: Colour = Colour.RED,
        when: datetime | None = None,
        tags: list | None = None,
        more: dict | None = None,
        weights: dict[str, float] = {},  # noqa: B006
    ) -> str:
        """Draws."""
        return "done"

    @server.tool()
    def plant(tree: Annotated[Node, Field(description="The whole tree.")], root: Node, chain: Linked) -> str:
        """Plants."""
        return "done"

    @server.tool()
    def book(
        who: UUID, day: date, name: Annotated[str, Field(min_length=1, max_length=5000, pattern=r"^\w+$")]
    ) -> str:
        """Books."""
        return "done"

    return server


_ARGUMENTS: dict[str, Json] = {
    "draw": {
        "shape": {"kind": "box", "size": [1.0, 2.0]},
        "at": [1, "x"],
        "tags": [1, "a"],
        "more": {"a": 1},
    },
    "plant": {
        "tree": {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]},
        "root": {"name": "r"},
        "chain": {"value": 1, "rest": {"value": 2, "rest": None}},
    },
    "book": {"who": "12345678-1234-5678-1234-567812345678", "day": "2026-05-01", "name": "Ada"},
}


async def server_schemas() -> dict[str, tuple[Json, Json]]:
    """The schemas by the name of their tool, each with arguments."""
    listed = await _server().list_tools()
    written = {
        tool.name: (tool.model_dump(by_alias=True)["inputSchema"], _ARGUMENTS[tool.name]) for tool in listed
    }
    return {**BY_HAND, **written}
