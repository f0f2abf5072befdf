"""A model for tests that plays a list of turns.

    provider = ScriptedProvider([
        [think("A page."), call("create_file", {"path": "index.html", "content": "<h1>Hi</h1>"}, fragment=7)],
        [text("Done."), usage(input=12, output=3)],
    ])

An unplanned request raises `ScriptError`; unused turns fail `assert_done()` and the exit of a `with` block.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from agent_nb.core.events import Stop
from agent_nb.core.messages import Usage
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import Clock, Piece, Provider, Request, UsagePiece, VirtualClock, takes_none

usage = Usage
"""Token counts so far; the last one of a turn becomes the turn's usage."""


FRAGMENT_SECONDS = 0.05
"""Seconds of the run's clock between two fragments, after which the next one is a delta of its own."""


class ScriptError(AssertionError):
    """The engine requested an unplanned turn, or left planned ones unused."""


@dataclass(frozen=True, slots=True)
class Saying:
    text: str
    thinking: bool
    fragment: int | None


@dataclass(frozen=True, slots=True)
class Calling:
    name: str
    arguments: str
    id: str
    fragment: int | None


@dataclass(frozen=True, slots=True)
class Failure:
    error: BaseException


@dataclass(frozen=True, slots=True)
class Pause:
    """Waits for the event; forever without one."""

    until: asyncio.Event | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Sleeps on the run's clock."""

    seconds: float


@dataclass(frozen=True, slots=True)
class End:
    stop: Stop | None
    detail: str = ""


Step = Saying | Calling | Usage | Failure | Pause | Wait | End


def text(content: str, *, fragment: int | None = None) -> Saying:
    """Stream `content` in fragments of `fragment` characters, each a delta of its own, or at once."""
    return Saying(content, thinking=False, fragment=fragment)


def think(content: str, *, fragment: int | None = None) -> Saying:
    return Saying(content, thinking=True, fragment=fragment)


def call(name: str, arguments: Any = None, *, id: str = "", fragment: int | None = None) -> Calling:  # noqa: A002
    """Call a tool. Arguments are sent verbatim if they are a string, valid or not; otherwise as JSON.

    The default `id` is `call_<turn>_<step>`, both counted from 1.
    """
    payload = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return Calling(name, payload, id, fragment)


fail, pause, stall, wait, stop = Failure, Pause, Pause, Wait, End


def refuse(explanation: str = "") -> End:
    return End("refusal", explanation)


class ScriptedProvider(Provider):
    """Plays `turns` in order, one per request; `requests` records the requests."""

    def __init__(
        self,
        turns: Iterable[Sequence[Step]],
        *,
        name: str = "scripted:test",
        clock: Clock | None = None,
        window: int | None = None,
    ) -> None:
        self.name = name
        self.window = window
        self.requests: list[Request] = []
        self._turns = [tuple(turn) for turn in turns]
        self._clock = clock

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        self.requests.append(replace(request, takes=takes_none))  # recorded requests must be picklable
        number = len(self.requests)
        if number > len(self._turns):
            raise ScriptError(f"unplanned call {number}: the script has {_count(len(self._turns))}")
        return self._play(number, request)

    async def _play(self, number: int, request: Request) -> AsyncGenerator[Piece, None]:
        assembler = Assembler()
        counts = Usage()
        end = End(None)
        for place, step in enumerate(self._turns[number - 1], start=1):
            match step:
                case Saying() | Calling():
                    for piece in _pieces(step, assembler, f"call_{number}_{place}"):
                        yield piece
                        if step.fragment:
                            await request.clock.sleep(FRAGMENT_SECONDS)
                case Usage():
                    counts = step
                    yield UsagePiece(step)
                case Failure(error):
                    raise error
                case Pause(until):
                    await request.clock.sleep(FRAGMENT_SECONDS)  # in which the text so far arrives
                    await (until or asyncio.Event()).wait()
                case Wait(seconds):
                    await request.clock.sleep(seconds)
                case End():
                    end = step
                    break
        model = self.name.partition(":")[2]
        yield assembler.turn(stop=end.stop, usage=counts, model=model, detail=end.detail)

    def new_clock(self) -> Clock:
        return self._clock or VirtualClock(pace=0)

    def assert_done(self) -> None:
        """Raise `ScriptError` unless every planned turn was requested."""
        if len(self.requests) != len(self._turns):
            raise ScriptError(f"the script has {_count(len(self._turns))}, {len(self.requests)} asked for")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        if kind is None:
            self.assert_done()


def _pieces(step: Saying | Calling, assembler: Assembler, call_id: str) -> Iterator[Piece]:
    match step:
        case Saying(content, thinking, fragment):
            add = assembler.thinking if thinking else assembler.text
            yield from (add(part) for part in _fragments(content, fragment))
        case Calling(name, arguments, explicit_id, fragment):
            key = explicit_id or call_id
            yield assembler.start_call(key, key, name)
            yield from (assembler.arguments(key, part) for part in _fragments(arguments, fragment))


def _fragments(content: str, size: int | None) -> Iterator[str]:
    size = size or max(len(content), 1)
    return (content[start : start + size] for start in range(0, len(content), size))


def _count(turns: int) -> str:
    return "1 turn" if turns == 1 else f"{turns} turns"
