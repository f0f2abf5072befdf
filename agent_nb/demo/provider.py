"""The provider of `demo:`: derives the next actions from the request alone, at the pace of a fast model."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence

from agent_nb._base.constants import DEMO
from agent_nb.core.messages import Document, Image, Part, Text, Thinking, ToolCall, ToolResult, Usage
from agent_nb.demo.conversation import Action, DemoCall
from agent_nb.demo.script import next_turn
from agent_nb.images.pdf import page_count
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import Piece, Provider, Request, VirtualClock
from agent_nb.providers.prices import CHARS_PER_TOKEN
from agent_nb.providers.settings import check_pace

FIRST_FRAGMENT = 0.1
"""Seconds before a turn's first fragment."""
THINKING, SAYING, WRITING = 0.0005, 0.002, 0.0006
"""Seconds per character."""
IMAGE_SECONDS = 0.3
"""Seconds for the data of an image, which is sent as one fragment."""
TOKENS_PER_IMAGE = 800
BUILT_IN_TOKENS = 1_700
"""Input tokens of the system text and built-in tools. Fixed, so that changes to them do not change demo runs."""
# Up to 24 characters, ending after white space if possible, like the fragments of vendors.
_FRAGMENT = re.compile(r".{1,23}(?:\s|$)|.{1,24}", re.DOTALL)
_IMAGE_DATA = re.compile(r"(data:image/[\w+.-]+;base64,[\w+/=]+)")


class DemoProvider(Provider):
    """The offline scripted model. `pace` 1 is the speed of a fast model, 0 means no waiting."""

    sees_pages = False  # for the same answers everywhere
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
    match action:
        case Thinking(text):
            yield from _fragments(text, assembler.thinking, THINKING)
        case Text(text):
            yield from _fragments(text, assembler.text, SAYING)
        case DemoCall(name, arguments):
            yield assembler.start_call(call_id, call_id, name), WRITING
            payload = json.dumps(arguments, ensure_ascii=False)
            yield from _fragments(payload, lambda part: assembler.arguments(call_id, part), WRITING)


def _fragments(text: str, emit: Callable[[str], Piece], pace: float) -> Iterator[tuple[Piece, float]]:
    for stretch in _IMAGE_DATA.split(text):
        if _IMAGE_DATA.fullmatch(stretch):
            yield emit(stretch), IMAGE_SECONDS
            continue
        for part in _FRAGMENT.findall(stretch):
            yield emit(part), round(len(part) * pace, 4)


def _usage(request: Request, actions: Sequence[Action]) -> Usage:
    tools = [tool for tool in request.tools if tool.name in request.facts.own_tools]
    sizes = [len(tool.name) + len(tool.description) + len(json.dumps(tool.schema)) for tool in tools]
    sizes += [_size(part) for message in request.messages for part in message.parts]
    thinking = sum(len(action.text) for action in actions if isinstance(action, Thinking))
    output = sum(
        len(json.dumps(action.arguments)) if isinstance(action, DemoCall) else len(action.text)
        for action in actions
    )
    return Usage(
        input=BUILT_IN_TOKENS + sum(sizes) // CHARS_PER_TOKEN,
        output=output // CHARS_PER_TOKEN,
        reasoning=thinking // CHARS_PER_TOKEN,
    )


def _size(part: Part) -> int:
    match part:
        case Text(text) | Thinking(text) | ToolResult(text=text):
            return len(text)
        case ToolCall(_, name, arguments):
            return len(name) + len(arguments)
        case Image():
            return TOKENS_PER_IMAGE * CHARS_PER_TOKEN
        case Document():
            return TOKENS_PER_IMAGE * CHARS_PER_TOKEN * page_count(part.data)
    return 0
