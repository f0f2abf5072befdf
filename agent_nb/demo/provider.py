"""The provider of `demo:`: plays the actions of one turn in fragments, at the pace of a fast model."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator

from agent_nb._base.model_name import DEMO
from agent_nb.demo.conversation import Action, Call, Say, Think
from agent_nb.demo.script import next_turn
from agent_nb.messages import Image, Message, Text, Thinking, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import Piece, Provider, Request, VirtualClock
from agent_nb.providers.settings import check_pace

FIRST_FRAGMENT = 0.1
"""Seconds before a turn's first fragment."""
THINKING, SAYING, WRITING = 0.0005, 0.002, 0.0006
"""Seconds per character."""
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_IMAGE = 800
BUILT_IN_TOKENS = 1_700
"""For the system text and the built-in tools. Fixed, so that a change to those does not change demo runs."""

# Up to 24 characters, ending after white space if there is any: much like the fragments of vendors.
_FRAGMENT = re.compile(r".{1,23}(?:\s|$)|.{1,24}", re.DOTALL)
_IMAGE_DATA = re.compile(r"(data:image/[\w+.-]+;base64,[\w+/=]+)")
IMAGE_SECONDS = 0.3
"""For the data of an image, which would take long in small fragments and is nothing to watch."""


class DemoProvider(Provider):
    """The offline scripted model. With `pace` 1 it is as fast as a fast model, with 0 it does not wait."""

    sees_pages = False  # so that it answers the same everywhere
    offline = True

    def __init__(self, model: str = "", *, pace: float = 1.0) -> None:
        self.name = f"{DEMO}:{model}"
        self._pace = check_pace(pace)

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        actions = next_turn(request)
        assembler = Assembler()
        turn = sum(message.role == "assistant" for message in request.messages) + 1
        await request.clock.sleep(FIRST_FRAGMENT)
        for place, action in enumerate(actions, start=1):
            for piece, seconds in _pieces(action, assembler, f"demo_{turn}_{place}"):
                yield piece
                await request.clock.sleep(seconds)
        yield assembler.turn(
            stop="tool_use" if assembler.has_calls else "end_turn", usage=_usage(request, actions), model=DEMO
        )

    def new_clock(self) -> VirtualClock:
        return VirtualClock(self._pace)


def _pieces(action: Action, assembler: Assembler, call_id: str) -> Iterator[tuple[Piece, float]]:
    """The pieces of an action, each with its duration in seconds."""
    match action:
        case Think(text):
            yield from _fragments(text, assembler.thinking, THINKING)
        case Say(text):
            yield from _fragments(text, assembler.text, SAYING)
        case Call(name, arguments):
            yield assembler.start_call(call_id, call_id, name), WRITING
            written = json.dumps(arguments, ensure_ascii=False)
            yield from _fragments(written, lambda part: assembler.arguments(call_id, part), WRITING)


def _fragments(text: str, emit: Callable[[str], Piece], pace: float) -> Iterator[tuple[Piece, float]]:
    for stretch in _IMAGE_DATA.split(text):
        if _IMAGE_DATA.fullmatch(stretch):
            yield emit(stretch), IMAGE_SECONDS
            continue
        for part in _FRAGMENT.findall(stretch):
            yield emit(part), round(len(part) * pace, 4)


def _usage(request: Request, actions: tuple[Action, ...]) -> Usage:
    own = [tool for tool in request.tools if tool.name in request.facts.own_tools]
    sent = sum(map(_message_size, request.messages)) + sum(map(_tool_size, own))
    thinking = sum(len(action.text) for action in actions if isinstance(action, Think))
    text = sum(len(action.text) for action in actions if isinstance(action, Say))
    calls = sum(len(json.dumps(action.arguments)) for action in actions if isinstance(action, Call))
    return Usage(
        input=BUILT_IN_TOKENS + sent // CHARACTERS_PER_TOKEN,
        output=(thinking + text + calls) // CHARACTERS_PER_TOKEN,
        reasoning=thinking // CHARACTERS_PER_TOKEN,
    )


def _message_size(message: Message) -> int:
    size = 0
    for part in message.parts:
        match part:
            case Text(text) | Thinking(text):
                size += len(text)
            case ToolCall(_, name, arguments):
                size += len(name) + len(arguments)
            case ToolResult(text=text):
                size += len(text)
            case Image():
                size += TOKENS_PER_IMAGE * CHARACTERS_PER_TOKEN
            case _:
                pass
    return size


def _tool_size(tool: ToolSpec) -> int:
    return len(tool.name) + len(tool.description) + len(json.dumps(tool.schema))
