"""A model whose answers are filtered before anything of them is shown, saved or recorded."""

import contextlib
import json
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace

from agent_nb.engine.cost import CHARS_PER_TOKEN
from agent_nb.lab.hints.allowance import Allowance
from agent_nb.lab.hints.calls import UNKNOWN_TOOL, filtered_arguments
from agent_nb.lab.hints.text import TextFilter
from agent_nb.messages import Message, Part, Source, ToolCall, Usage
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import (
    CallPiece,
    CallStarted,
    Clock,
    Piece,
    Provider,
    Request,
    TextPiece,
    ThinkingPiece,
    Turn,
    UsagePiece,
)
from agent_nb.tools import Toolbox

ESTIMATE_EVERY = 2_000
"""Characters after which the run learns how much has arrived."""
THINKING_HELD = "The model's thinking is not shown: this lab gives hints, not solutions. (`mode` in {file})"


class HintsProvider:
    """Another provider, live, demo or replay, behind the filter."""

    def __init__(self, provider: Provider, toolbox: Toolbox, allowance: Allowance) -> None:
        self._provider, self._toolbox, self._allowance = provider, toolbox, allowance

    @property
    def name(self) -> str:
        return self._provider.name

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        facts = replace(request.facts, hint=self._allowance.step)
        turn = _FilteredTurn(self._toolbox, self._allowance)
        async with contextlib.aclosing(self._provider.stream(replace(request, facts=facts))) as pieces:
            async for piece in pieces:
                for passed in turn.feed(piece):
                    yield passed

    def new_clock(self) -> Clock:
        return self._provider.new_clock()

    async def close(self) -> None:
        await self._provider.close()


class _FilteredTurn:
    """The pieces of one turn that pass, and the message that they make."""

    def __init__(self, toolbox: Toolbox, allowance: Allowance) -> None:
        self._toolbox, self._allowance = toolbox, allowance
        self._passed = Assembler()
        self._text: TextFilter | None = None
        """The filter of the text that is arriving."""
        self._calls: dict[int, tuple[CallStarted, list[str]]] = {}
        """Calls whose arguments are not complete yet, in order."""
        self._count = 0
        self._has_thinking = False
        self._usage = Usage()
        """What the vendor has counted so far."""
        self._received, self._estimate_at = 0, ESTIMATE_EVERY
        """Characters. The run sees only those that pass, and the vendor charges for all of them."""

    def feed(self, piece: Piece) -> Iterator[Piece]:
        """What is shown now that this piece has arrived."""
        yield from self._filtered(piece)
        self._received += len(getattr(piece, "text", ""))
        if isinstance(piece, UsagePiece):
            self._usage = piece.usage
        elif self._received >= self._estimate_at and not isinstance(piece, Turn):
            self._estimate_at = self._received + ESTIMATE_EVERY
            output = max(self._usage.output, self._received // CHARS_PER_TOKEN)
            yield UsagePiece(replace(self._usage, output=output))

    def _filtered(self, piece: Piece) -> Iterator[Piece]:
        match piece:
            case TextPiece(text):
                self._text = self._text or TextFilter(self._allowance)
                yield from self._say(self._text.feed(text))
            case ThinkingPiece():
                yield from self._end_text()
                yield from self._think()
            case CallStarted(call_id, name):
                yield from self._end_text()
                yield from self._end_calls()
                started = CallStarted(call_id, name if name in self._toolbox else UNKNOWN_TOOL)
                self._count += 1
                self._calls[self._count] = started, []
                yield self._passed.start_call(self._count, call_id, started.name)
            case CallPiece(call_id, text):
                # Vendors reuse ids within a turn: the newest call of an id is meant.
                started_calls = reversed(self._calls.values())
                next(parts for call, parts in started_calls if call.id == call_id).append(text)
            case Turn():
                yield from self._end_text()
                yield from self._end_calls(all_of_them=True)
                yield self._turn(piece)
            case _:
                yield piece

    def _say(self, text: str) -> Iterator[Piece]:
        if text:
            yield self._passed.text(text)

    def _end_text(self) -> Iterator[Piece]:
        if self._text:
            yield from self._say(self._text.finish())
            self._text = None

    def _think(self) -> Iterator[Piece]:
        """A sentence in place of the thinking, in which models work out the solution in prose that no filter sees."""
        if not self._has_thinking:
            self._has_thinking = True
            yield self._passed.thinking(THINKING_HELD.format(file=self._allowance.file))

    def _end_calls(self, *, all_of_them: bool = False) -> Iterator[Piece]:
        """Passes on the arguments of calls that are complete; vendors may send those of several at a time."""
        for number, (call, parts) in [*self._calls.items()]:
            arguments = "".join(parts)
            if all_of_them or _is_complete(arguments):
                del self._calls[number]
                tool = self._toolbox.get(call.name)
                yield self._passed.arguments(
                    number, filtered_arguments(self._allowance, tool, arguments or "{}")
                )

    def _turn(self, turn: Turn) -> Turn:
        made = self._passed.turn(stop=turn.stop, usage=turn.usage, model=turn.model)
        sources = [each for each in turn.message.parts if isinstance(each, Source)]
        shown = [source for source in map(self._source, sources) if source]
        if _content(made.message) == _content(turn.message) and shown == sources:
            message = turn.message
        else:  # vendor data repeats what the model wrote, so it is left out
            message = replace(made.message, parts=(*made.message.parts, *shown))
        explanation = TextFilter(self._allowance)
        detail = explanation.feed(turn.detail) + explanation.finish()
        return replace(turn, message=message, detail=detail)

    def _source(self, source: Source) -> Source | None:
        """A cited page without its excerpt; None if even its title gives something away."""
        if self._allowance.refusal_of_text(f"{source.title} {source.url}", "source"):
            return None
        return replace(source, snippet="")


def _content(message: Message) -> list[object]:
    """What the person can read of a message, with texts joined as they are read."""
    content: list[object] = []
    for part in message.parts:
        entry = _entry(part)
        if isinstance(entry, str) and content and isinstance(content[-1], str):
            content[-1] += entry
        elif entry:
            content.append(entry)
    return content


def _entry(part: Part) -> object:
    match part:
        case ToolCall(call_id, name, arguments):
            return (call_id, name, arguments)
        case Source():
            return None
        case _:
            return getattr(part, "text", part)


def _is_complete(arguments: str) -> bool:
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return True
