"""A model whose answers are filtered before anything of them is shown, saved or recorded."""

import contextlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace

from agent_nb.engine.cost import CHARS_PER_TOKEN
from agent_nb.lab.hints.allowance import Allowance
from agent_nb.lab.hints.calls import filtered_arguments
from agent_nb.lab.hints.text import TextFilter
from agent_nb.messages import Message, Source, Text, ToolCall, Usage
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import (
    CallPiece,
    CallStarted,
    Piece,
    Provider,
    Request,
    TextPiece,
    ThinkingPiece,
    Turn,
    UsagePiece,
    WrappedProvider,
)
from agent_nb.tools import Toolbox

ESTIMATE_EVERY = 2_000
"""Characters after which the run learns how much has arrived."""
UNKNOWN_TOOL = "unknown_tool"
"""Stands for the name of a tool that does not exist, which the model made up."""
THINKING_HELD = "The model's thinking is not shown: this lab gives hints, not solutions. (`mode` in {file})"


class HintsProvider(WrappedProvider):
    """Another provider, live, demo or replay, behind the filter."""

    def __init__(self, provider: Provider, toolbox: Toolbox, allowance: Allowance) -> None:
        super().__init__(provider)
        self._toolbox, self._allowance = toolbox, allowance

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        turn = _FilteredTurn(self._toolbox, self._allowance)
        async with contextlib.aclosing(super().stream(request)) as pieces:
            async for piece in pieces:
                for passed in turn.feed(piece):
                    yield passed


class _FilteredTurn:
    """The pieces of one turn that pass, and the message that they make."""

    def __init__(self, toolbox: Toolbox, allowance: Allowance) -> None:
        self._toolbox, self._allowance = toolbox, allowance
        self._passed = Assembler()
        self._text = TextFilter(allowance)
        self._calls = 0
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
                yield from self._say(self._text.feed(text))
            case ThinkingPiece():
                yield from self._say(self._text.finish())
                yield from self._think()
            case CallStarted(call_id, name):
                yield from self._say(self._text.finish())
                self._calls += 1
                shown = name if name in self._toolbox else UNKNOWN_TOOL
                yield self._passed.start_call(self._calls, call_id, shown)
            case CallPiece():
                pass  # the turn has the arguments as a whole
            case Turn():
                yield from self._say(self._text.finish())
                for number, call in enumerate(piece.message.tool_calls[: self._calls], 1):
                    tool = self._toolbox.get(call.name)
                    arguments = filtered_arguments(self._allowance, tool, call.arguments)
                    yield self._passed.arguments(number, arguments)
                yield self._turn(piece)
            case _:
                yield piece

    def _say(self, text: str) -> Iterator[Piece]:
        if text:
            yield self._passed.text(text)

    def _think(self) -> Iterator[Piece]:
        """A sentence in place of the thinking, in which models work out the solution in prose that no filter sees."""
        if not self._has_thinking:
            self._has_thinking = True
            yield self._passed.thinking(THINKING_HELD.format(file=self._allowance.file))

    def _turn(self, turn: Turn) -> Turn:
        made = self._passed.turn(stop=turn.stop, usage=turn.usage, model=turn.model).message
        sources = [each for each in turn.message.parts if isinstance(each, Source)]
        if not sources and _content(made) == _content(turn.message):
            made = turn.message
        else:  # vendor data repeats what the model wrote, so it is left out
            shown = (source for source in map(self._source, sources) if source)
            made = replace(made, parts=(*made.parts, *shown))
        explanation = TextFilter(self._allowance)
        detail = explanation.feed(turn.detail) + explanation.finish()
        return replace(turn, message=made, detail=detail)

    def _source(self, source: Source) -> Source | None:
        """A cited page without its excerpt; None if even its title gives something away."""
        if self._allowance.refusal_of_text(f"{source.title} {source.url}", "source"):
            return None
        return replace(source, snippet="")


def _content(message: Message) -> tuple[object, ...]:
    """What the user can read of a message."""
    others = [part for part in message.parts if not isinstance(part, Text | ToolCall)]
    return message.text, message.tool_calls, others
