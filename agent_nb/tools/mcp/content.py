"""The result of a call as our output: text and images for the model, bundles for the user."""

import base64
import binascii
import json
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError, ToolError
from agent_nb.events import MimeBundle
from agent_nb.images.convert import to_image
from agent_nb.messages import Image
from agent_nb.tools.base import ToolOutput
from agent_nb.tools.schema import compile_schema

MAX_IMAGES = 8
MAX_SHOWN = 20_000
"""Characters of a resource that the card shows."""
_MAX_ERROR = 2_000


def to_output(server: str, result: Json, schema: Json | None = None) -> ToolOutput:
    """Reads the answer to `tools/call`. Raises `ToolError` if the call failed or breaks the server's own schema."""
    parts = _Parts(server)
    for block in result.get("content") or ():
        parts.add(block)
    structured = result.get("structuredContent")
    if structured is not None and not parts.texts:
        parts.texts.append(json.dumps(structured, ensure_ascii=False))
    text = "\n".join(parts.texts)
    if result.get("isError"):
        raise ToolError(text[:_MAX_ERROR] or f"The MCP server `{server}` says that the call failed.")
    if schema is not None:
        _check(server, structured, schema)
    return ToolOutput(text=text or "done", images=tuple(parts.images), outputs=tuple(parts.outputs))


def _check(server: str, structured: Any, schema: Json) -> None:
    try:
        validate = compile_schema(schema)
    except ToolError:  # the schema is invalid, so it says nothing
        return
    try:
        validate(structured)
    except ToolError as error:
        broken = error.message.replace("The arguments", "It")
        raise ToolError(f"The MCP server `{server}` broke its own output schema: {broken}") from None


class _Parts:
    def __init__(self, server: str) -> None:
        self._server = server
        self.texts: list[str] = []
        self.images: list[Image] = []
        self.outputs: list[MimeBundle] = []

    def add(self, block: Json) -> None:
        match block:
            case {"type": "text", "text": str(text)}:
                self.texts.append(text)
            case {"type": "image", "data": str(data)}:
                self._add_image(data, f"{self._server}-{len(self.images) + 1}")
            case {"type": "audio", "data": str(data)}:
                self.texts.append(_left_out(f"audio, {block.get('mimeType', '')}", data))
            case {"type": "resource", "resource": {"uri": uri, "text": str(text)}}:
                self.texts.append(f"[resource {uri}]\n{text}")
                self.outputs.append({"text/plain": f"{uri}\n\n{text[:MAX_SHOWN]}"})
            case {"type": "resource", "resource": {"uri": uri, "blob": str(data), **resource}}:
                kind = str(resource.get("mimeType") or "")
                if kind.startswith("image/"):
                    self._add_image(data, str(uri))
                else:
                    self.texts.append(_left_out(f"resource {uri}, {kind or 'binary'}", data))
            case {"type": "resource_link", "uri": uri}:
                name = block.get("title") or block.get("name") or ""
                self.texts.append(f"[link to the resource {uri} {name}".rstrip() + "]")
            case _:
                self.texts.append(f"[content of type {str(block.get('type'))[:40]}, which is not supported]")

    def _add_image(self, data: str, name: str) -> None:
        if len(self.images) >= MAX_IMAGES:
            self.texts.append(f"[a further image, left out: at most {MAX_IMAGES} are sent]")
            return
        try:
            image = to_image(base64.b64decode(data, validate=True), name[:80])
        except (binascii.Error, ConfigError) as error:
            self.texts.append(f"[an image that cannot be read: {error}]")
            return
        self.images.append(image)
        self.texts.append(f"[{image.name}]")
        self.outputs.append({image.media_type: base64.b64encode(image.data).decode()})


def _left_out(what: str, data: Any) -> str:
    return f"[{what}, {len(data) * 3 // 4:,} bytes, left out]"
