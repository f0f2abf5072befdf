"""What identifies a request: prompt, model, own texts, images, files, own tools, the conversation so far."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agent_nb._base.secrets import mask, mask_json
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json
from agent_nb.messages import Message, Text, ToolCall
from agent_nb.prompts import (
    CHANGE_FROM_IMAGE,
    FROM_IMAGE,
    STACKS,
    is_about_images,
    is_built_in,
    prompt_text,
)
from agent_nb.prompts.left_out import has_note, summary_entries
from agent_nb.run.manifest import package_versions
from agent_nb.tools import Tool, Toolbox

if TYPE_CHECKING:
    from agent_nb.engine.prepared import Prepared

_DIGITS = 16


def digest(value: Any) -> str:
    return sha256(value if isinstance(value, bytes) else json.dumps(value, sort_keys=True))[:_DIGITS]


def tool_digest(tool: Tool) -> str:
    spec = {"description": tool.spec.description, "schema": tool.spec.schema}
    return digest(
        mask_json(spec) if tool.origin else spec
    )  # a cassette holds the spec of such a tool, masked


def variants_fingerprint(variants: "Sequence[Prepared]") -> Json:
    """What a recording of these variants is for, with secrets masked. They differ only in the model."""
    first = variants[0]
    opening, own_tools = first.opening, first.toolbox.own
    own_system = "\n\n".join(text for text in (opening.system, first.settings.instructions) if text)
    fingerprint: Json = {
        "prompt": opening.prompt,
        "model": first.provider.name,
        "system": own_system,
        "images": [{"name": image.name, "sha256": digest(image.data)} for image in opening.images],
        "files": {path: digest(content) for path, content in (opening.files or {}).items()},
        "tools": {tool.name: digest(tool.name) if tool.packaged else tool_digest(tool) for tool in own_tools},
        "history": history_digest(opening.history),
        **first.settings.matched(),
    }
    if servers := {tool.name: tool.origin for tool in own_tools if tool.origin}:
        fingerprint["servers"] = servers
    if len(variants) > 1:
        fingerprint["variants"] = [each.provider.name for each in variants]
    return mask_json(fingerprint)  # type: ignore[no-any-return]


def release_fingerprint(prepared: "Prepared") -> Json:
    texts = ["system", "look", "no_look", "sum_up", FROM_IMAGE, CHANGE_FROM_IMAGE]
    if (stack := prepared.settings.stack) in STACKS:
        texts.append(f"stacks/{stack}")
    tools = [tool for tool in Toolbox.default() if tool.name in prepared.toolbox]
    return {
        "prompts": {name: digest(prompt_text(name)) for name in texts},
        "tools": {tool.name: tool_digest(tool) for tool in tools},
        "versions": package_versions(),
    }


def history_digest(history: Sequence[Message]) -> str:
    if not history:
        return ""
    return digest([_content(message) for message in history if not _is_built_in(message)])


def _is_built_in(message: Message) -> bool:
    """Tool results and built-in texts are left out: their wording may change between releases."""
    if message.role == "user":
        return is_built_in(message.text) or summary_entries(message.text) is not None
    return message.role == "tool"


def _content(message: Message) -> list[Any]:
    content: list[Any] = [message.role]
    for part in message.parts:
        match part:
            case Text(text):
                content += [] if is_about_images(text) else [mask(text)]
            case ToolCall(name=name, arguments=arguments):
                content.append([name] if has_note(arguments) else [name, mask(arguments)])
    return content
