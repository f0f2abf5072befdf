"""The tools of a request as a vendor takes them, and the way back: its calls have the tools' own names again."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent_nb.errors import ConfigError
from agent_nb.messages import Message, Part, ToolCall, ToolResult, ToolSpec
from agent_nb.providers.base import CallPiece, CallStarted, Piece, Request, Turn
from agent_nb.providers.dialects import Dialect
from agent_nb.providers.tool_schemas import UnsendableError, accepted_name, converted


@dataclass(frozen=True, slots=True)
class Offered:
    """The tools of a request in a dialect."""

    tools: tuple[ToolSpec, ...]
    left_out: tuple[str, ...]
    """A sentence for each tool that the vendor cannot be told of."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What is sent instead of names of tools."""
    properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What is sent instead of names of arguments, by tool."""

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], dialect: Dialect, vendor: str) -> "Offered":
        """Raises `ConfigError` if the vendor does not take so many tools."""
        if dialect.max_tools is not None and len(specs) > dialect.max_tools:
            raise ConfigError(
                f"This run has {len(specs)} tools, and {vendor} takes at most {dialect.max_tools}. Name those that"
                " it needs, such as `-t mcp:SERVER/TOOL` or `Agent(tools=[...])`."
            )
        tools, left_out = [], []
        names: dict[str, str] = {}
        properties: dict[str, Mapping[str, str]] = {}
        for spec in specs:
            try:
                found = converted(spec.schema, dialect)
            except UnsendableError as problem:
                left_out.append(f"The model is not offered `{spec.name}`: its schema {problem}.")
                continue
            sent = accepted_name(spec.name, dialect.tool_name)
            names |= {spec.name: sent} if sent != spec.name else {}
            properties |= {spec.name: found.names} if found.names else {}
            tools.append(replace(spec, name=sent, schema=found.schema))
        return cls(tuple(tools), tuple(left_out), names, properties)

    def outgoing(self, request: Request) -> Request:
        """The request with these tools, and with the calls of earlier turns as the vendor has made them."""
        messages = request.messages
        if self.names or self.properties:
            messages = tuple(self._sent_message(message) for message in messages)
        return replace(request, tools=self.tools, messages=messages)

    def incoming(self) -> Callable[[Sequence[Piece]], Sequence[Piece]]:
        """What gives the pieces of an answer the tools' own names, batch by batch."""
        return _Restoring(self).restored if self.names or self.properties else _same

    def own(self, call: ToolCall) -> ToolCall:
        """A call of the vendor with the tool's own names."""
        return _Restoring(self).call(call) if self.names or self.properties else call

    def _sent_message(self, message: Message) -> Message:
        parts = tuple(self._sent_part(part) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    def _sent_part(self, part: Part) -> Part:
        if not isinstance(part, ToolCall | ToolResult):
            return part
        sent = replace(part, name=self.names.get(part.name, part.name))
        if isinstance(sent, ToolCall) and (renames := self.properties.get(part.name)):
            return replace(sent, arguments=_renamed(sent.arguments, renames))
        return sent


def _same(pieces: Sequence[Piece]) -> Sequence[Piece]:
    return pieces


class _Restoring:
    """One answer. Arguments with other names are held back until their call is complete."""

    def __init__(self, offered: Offered) -> None:
        self._own_names = {sent: own for own, sent in offered.names.items()}
        self._own_properties = {
            tool: {sent: own for own, sent in renames.items()} for tool, renames in offered.properties.items()
        }
        self._held: set[str] = set()

    def restored(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        restored: list[Piece] = []
        for piece in pieces:
            match piece:
                case CallStarted(call_id, name):
                    own = self._own_names.get(name, name)
                    if own in self._own_properties:
                        self._held.add(call_id)
                    restored.append(replace(piece, name=own))
                case CallPiece(call_id) if call_id in self._held:
                    pass
                case Turn():
                    turn = self._turn(piece)
                    calls = [call for call in turn.message.tool_calls if call.id in self._held]
                    restored += [*(CallPiece(call.id, call.arguments) for call in calls), turn]
                case _:
                    restored.append(piece)
        return restored

    def _turn(self, turn: Turn) -> Turn:
        parts = tuple(self.call(part) if isinstance(part, ToolCall) else part for part in turn.message.parts)
        return replace(turn, message=replace(turn.message, parts=parts))

    def call(self, call: ToolCall) -> ToolCall:
        own = self._own_names.get(call.name, call.name)
        renames = self._own_properties.get(own)
        arguments = _renamed(call.arguments, renames) if renames else call.arguments
        return replace(call, name=own, arguments=arguments)


def _renamed(arguments: str, names: Mapping[str, str]) -> str:
    """The arguments with other keys. Text that is not JSON stays: the tool's call fails for it."""
    try:
        return json.dumps(_with_keys(json.loads(arguments), names), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


def _with_keys(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {names.get(key, key): _with_keys(item, names) for key, item in value.items()}
        case list():
            return [_with_keys(item, names) for item in value]
    return value
