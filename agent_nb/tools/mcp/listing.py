"""Makes what a server lists into specs that every vendor accepts. What was changed for that is noted."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from agent_nb._base.text import printable_line, sha256, shortened, showable_text
from agent_nb._base.wire import Json
from agent_nb.errors import ToolError
from agent_nb.messages import ToolSpec
from agent_nb.tools.schema import compile_schema

MAX_NAME = 64
MAX_DESCRIPTION = 4_000
MAX_SCHEMA = 50_000
_ANY: Json = {"type": "object", "properties": {}, "additionalProperties": True}
_COMBINED = ("anyOf", "oneOf", "allOf", "not", "$schema", "$id")
"""Keywords that vendors refuse at the top of a schema, or do not need."""
_HINTS = (
    ("readOnlyHint", True, "only reads"),
    ("destructiveHint", True, "may destroy data"),
    ("idempotentHint", True, "has the same effect if repeated"),
    ("openWorldHint", True, "reaches the outside world"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    name: str
    """Its name on the server; `spec.name` is the one for the model."""
    spec: ToolSpec
    label: str
    digest: str
    """Of what the server says about it; it changes when the description or the schema does."""
    output_schema: Json | None = None
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return _short(self.name)


def listed_tools(server: str, listing: Iterable[Json]) -> list[ListedTool]:
    """The tools of a server, from the `tools` of its `tools/list` answer."""
    found: dict[str, ListedTool] = {}
    taken: set[str] = set()
    for raw in listing:
        name = str(raw.get("name", ""))
        if name in found:
            note = f"The server lists `{_short(name)}` twice; the first one is used."
            found[name] = replace(found[name], notes=(*found[name].notes, note))
            continue
        tool = _listed(server, name, raw, taken)
        taken.add(tool.spec.name)
        found[name] = tool
    return list(found.values())


def _listed(server: str, name: str, raw: Json, taken: set[str]) -> ListedTool:
    wire_name, renamed = _wire_name(server, name, taken)
    schema, changed = _usable_schema(name, raw.get("inputSchema"))
    annotations = raw.get("annotations") or {}
    title = raw.get("title") or annotations.get("title") or name
    described = {key: raw.get(key) for key in ("name", "title", "description", "inputSchema", "annotations")}
    return ListedTool(
        name=name,
        spec=ToolSpec(
            name=wire_name, description=_description(server, raw, annotations, title), schema=schema
        ),
        label=_short(f"{server}: {printable_line(str(title))}", 80),
        digest=sha256(json.dumps(described, sort_keys=True))[:32],
        output_schema=raw.get("outputSchema"),
        notes=tuple(note for note in (renamed, changed) if note),
    )


def wire_prefix(server: str) -> str:
    return f"{re.sub(r'[^a-zA-Z0-9_-]', '_', server)[:24]}__"


def _wire_name(server: str, name: str, taken: set[str]) -> tuple[str, str]:
    """`weather__forecast`, and what the user should know about it."""
    wanted = wire_prefix(server) + name
    valid = re.sub(r"[^a-zA-Z0-9_-]", "_", wanted)
    if valid == wanted and len(valid) <= MAX_NAME and valid not in taken:
        return valid, ""
    short = sha256(name)[:6]
    mapped = valid if len(valid) <= MAX_NAME and valid not in taken else f"{valid[: MAX_NAME - 7]}_{short}"
    reason = (
        "is too long" if len(valid) > MAX_NAME else "is taken" if valid in taken else "has other characters"
    )
    return mapped, f"`{_short(name)}` is called `{mapped}` for the model: its name {reason}."


def _usable_schema(name: str, schema: Any) -> tuple[Json, str]:
    """The schema, or one that accepts any object, and why."""
    problem = ""
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        problem = "is not that of an object"
    elif len(json.dumps(schema)) > MAX_SCHEMA:
        problem = f"has more than {MAX_SCHEMA:,} characters"
    else:
        try:
            compile_schema(schema)
        except ToolError as error:
            problem = printable_line(error.message.removeprefix("The tool's schema "))
    if problem:
        return _ANY, f"The schema of `{_short(name)}` {problem[:200].rstrip('.')}. The model gets none."
    if not schema.get("properties") and any(key in schema for key in _COMBINED[:3]):
        return {"type": "object", **schema}, ""  # its properties are in its alternatives: all are offered
    refused = [key for key in _COMBINED[:4] if key in schema]
    usable = {key: value for key, value in schema.items() if key not in _COMBINED}
    usable = {**usable, "type": "object", "properties": usable.get("properties", {})}
    note = (
        f"The model does not get {', '.join(refused)} of the schema of `{_short(name)}`." if refused else ""
    )
    return usable, note


def _description(server: str, raw: Json, annotations: Json, title: str) -> str:
    text = shortened(showable_text(str(raw.get("description") or title)).strip(), MAX_DESCRIPTION)
    hints = [words for key, value, words in _HINTS if annotations.get(key) is value]
    says = f" The server says that it {' and '.join(hints)}; nobody has checked that." if hints else ""
    return f"{text}\n(A tool of the MCP server `{server}`.{says})"


def _short(text: str, limit: int = 60) -> str:
    return shortened(printable_line(text), limit)
