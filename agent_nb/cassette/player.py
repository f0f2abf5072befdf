"""Plays a cassette: a provider with the recorded pieces, and tools that give the recorded results.

Tools that can be run again are, so the files are really made; nothing else is called, asked or sent.
"""

import asyncio
import base64
import logging
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_nb._base.wire import Json, from_wire
from agent_nb.cassette.fingerprint import differences, release_fingerprint
from agent_nb.cassette.format import Cassette, Mark, Take, TapedTurn
from agent_nb.cassette.reader import read_cassette
from agent_nb.engine.ending import EndRun
from agent_nb.engine.limits import Limits
from agent_nb.engine.prepared import Prepared, variants_fingerprint
from agent_nb.engine.tool_runner import ToolRunner, result_of, title_of
from agent_nb.errors import CassetteError, ProviderError, ToolError
from agent_nb.events import ApprovalRequested, ApprovalResolved, ToolProgress, ToolReady, ToolRunning
from agent_nb.messages import Image, ToolCall, ToolResult, Usage
from agent_nb.providers.base import Clock, Piece, Request, VirtualClock
from agent_nb.providers.prices import price_of
from agent_nb.providers.settings import check_pace
from agent_nb.providers.studio import local_studio
from agent_nb.tools import Tool, Toolbox, ToolOutput

log = logging.getLogger("agent_nb")

_BREATH = 64
"""Pieces between two looks at the loop, when no time passes between them."""
_LAG = 0.004
"""Seconds a replay may be ahead of the person's clock; shorter sleeps are less exact than none."""


class Deck(VirtualClock):
    """The clock of one replay, which also knows how far the tape has played."""

    def __init__(self, pace: float) -> None:
        super().__init__(pace)
        self._begun = time.monotonic()
        self.turn = self.attempt = 0
        self.marks: tuple[Mark, ...] = ()
        """The moments of the tools of the turn last played."""
        self.cut: Take | None = None
        """Set once everything has played of a take that was cut: what comes next is its end."""

    async def sleep(self, seconds: float) -> None:
        """The run waits before it tries again, and may be cut meanwhile."""
        await self.end_if_cut()
        await self.play(seconds)

    async def play(self, seconds: float) -> None:
        """Lets the time between two moments of the tape pass."""
        self._now = round(self._now + seconds, 4)
        ahead = self._now * self._pace - (time.monotonic() - self._begun)
        await asyncio.sleep(ahead if self._pace and ahead > _LAG else 0)

    async def end_if_cut(self) -> None:
        if self.cut and self.cut.cut:
            await self.play(self.cut.cut.after / 1000)
            raise EndRun(self.cut.reason, self.cut.cut.error)


class ReplayProvider:
    """The model of one variant of a cassette, under the name it was recorded with."""

    def __init__(self, cassette: Cassette, shown: str, *, pace: float = 0.0, variant: int = 0) -> None:
        self.cassette, self.path = cassette, shown
        self._pace = check_pace(pace)
        self.take = cassette.takes[variant]
        self._prices = _prices(self.take)

    @property
    def name(self) -> str:
        return self.take.model

    @property
    def variants(self) -> "list[ReplayProvider]":
        """All variants of the cassette, this one's siblings."""
        each = range(len(self.cassette.takes))
        return [ReplayProvider(self.cassette, self.path, pace=self._pace, variant=number) for number in each]

    def prepare(self, prepared: Prepared) -> Prepared:
        """The same request with the tools, limits, settings and prices of the recording."""
        recorded = self.take.settings
        config = replace(
            prepared.config,
            toolbox=self._offered(prepared.toolbox),
            limits=Limits(steps=int(recorded.get("steps", Limits().steps))),
            settings={**recorded, "replayed": self.path},
            price=self.price,
            runner=ReplayedTools,
            studio=local_studio(),
        )
        if log.isEnabledFor(logging.INFO) and (
            parts := _changed(self.cassette.ours, release_fingerprint(config))
        ):
            log.info("%s was recorded with other %s; it plays all the same", self.path, ", ".join(parts))
        return replace(prepared, config=config, playback=self)

    def differences(self, prepared: Prepared, models: Sequence[str | None]) -> list[str]:
        """How a request differs from the recorded one, in a few words each; empty if the cassette plays."""
        fingerprint = {**variants_fingerprint([prepared]), "model": models[0], "variants": models}
        missing = [name for name in self.repeats if name not in prepared.toolbox]
        return [
            *differences(self.cassette.yours, fingerprint),
            *(f"the tool `{name}`" for name in missing),
        ]

    def _offered(self, toolbox: Toolbox) -> Toolbox:
        """These tools without the built-in ones that the model was not offered when it was recorded."""
        names = self.take.settings.get("tools")
        left_out = {tool.name for tool in Toolbox.default()}.difference(names) if names is not None else ()
        return Toolbox(tool for tool in toolbox if tool.name not in left_out)

    @property
    def repeats(self) -> list[str]:
        """The tools that will be run again, and so must be there."""
        turns = [turn for take in self.cassette.takes for turn in take.turns]
        return sorted({name for turn in turns for name in _repeated(turn)})

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        deck, take = request.clock, self.take
        assert isinstance(deck, Deck)
        if deck.turn >= len(take.turns):
            raise CassetteError(f"{self.path!r} ends after {len(take.turns)} turns.")
        turn = take.turns[deck.turn]
        attempt = turn.attempts[deck.attempt]
        for number, (gap, piece) in enumerate(attempt.pieces):
            if gap or number % _BREATH == 0:
                await deck.play(gap / 1000)
            yield piece
        deck.attempt += 1
        last = deck.turn == len(take.turns) - 1 and deck.attempt == len(turn.attempts)
        if attempt.retry is None:
            deck.cut = take if last else None
            if turn.end is None:
                await deck.end_if_cut()
            deck.turn, deck.attempt, deck.marks = deck.turn + 1, 0, turn.marks
            return
        await deck.play(attempt.retry.after / 1000)
        deck.cut = take if last else None
        raise ProviderError(attempt.retry.why, retryable=True, retry_after=attempt.retry.wait)

    def price(self, usage: Usage) -> float | None:
        """Dollars as they were when recorded; an estimate in between is of today."""
        if self._prices is None:
            return None
        return self._prices[usage] if usage in self._prices else price_of(self.name, usage)

    def new_clock(self) -> Clock:
        return Deck(self._pace)

    async def close(self) -> None:
        """Holds nothing open."""

    def __repr__(self) -> str:
        return f"<ReplayProvider {self.path} of {self.name}>"


def replay(path: str | Path, *, pace: float = 0.0, folder: Path | None = None) -> ReplayProvider:
    """The recorded model in this file. `pace` 1 takes as long as it took, 0 no time; relative paths are in `folder`."""
    return ReplayProvider(read_cassette(path, folder), Path(path).as_posix(), pace=pace)


def _changed(before: Json, now: Json) -> list[str]:
    return [name for name in now if before.get(name) != now[name]]


def _repeated(turn: TapedTurn) -> Iterator[str]:
    names = {call.id: call.name for call in turn.calls}
    for mark in turn.marks:
        if mark.what == "finished" and "text" not in mark.data:
            yield names.get(mark.call, names.get(mark.call.rpartition("#")[0], mark.call))


def _prices(take: Take) -> dict[Usage, float] | None:
    """What each attempt cost; None when the model had no known price."""
    prices = {Usage(): 0.0}
    for attempt in (attempt for turn in take.turns for attempt in turn.attempts):
        if attempt.cost is None:
            return None
        counted = [usage for _, piece in attempt.pieces if (usage := getattr(piece, "usage", None))]
        if counted:
            prices[counted[-1]] = attempt.cost
    return prices


@dataclass(slots=True, kw_only=True)
class ReplayedTools(ToolRunner):
    """Runs calls as the tape says: in its order, at its times, with its results."""

    _ended: dict[str, tuple[ToolOutput, ToolError | None]] = field(default_factory=dict)

    async def run(self, calls: Sequence[tuple[str, ToolCall]]) -> tuple[ToolResult, ...]:
        assert isinstance(self.clock, Deck)
        named = dict(calls)
        self._ended.clear()
        for mark in self.clock.marks:
            if mark.call not in named:
                raise CassetteError(f"The cassette has a result for {mark.call!r}, which was not called.")
            await self.clock.play(mark.after / 1000)
            call = named[mark.call]
            if mark.what == "finished":
                self.results[mark.call] = await self._end(mark, call)
            else:
                await self._play(mark, call)
        await self.clock.end_if_cut()
        return tuple(self.results[event_id] for event_id, _ in calls)

    async def _play(self, mark: Mark, call: ToolCall) -> None:
        tool, args = self._prepared(call)
        args = mark.data.get("args", args)
        title = title_of(tool, args) if tool else call.name
        match mark.what:
            case "ready":
                self.emit(ToolReady, call_id=mark.call, title=title, args=args)
            case "running":
                self.emit(ToolRunning, call_id=mark.call, title=title)
            case "asking":
                name, title = mark.data.get("name", call.name), mark.data.get("title", title)
                self.emit(ApprovalRequested, call_id=mark.call, name=name, title=title, args=args)
            case "answered":
                approved, note = bool(mark.data["approved"]), str(mark.data.get("note", ""))
                self.emit(ApprovalResolved, call_id=mark.call, approved=approved, note=note)
            case "progress":
                self.emit(ToolProgress, call_id=mark.call, text=str(mark.data["text"]))
            case "changed" if "path" in mark.data:
                self._change(mark)
            case "changed":
                await self._repeat(mark.call, call)
            case "finished":
                raise AssertionError(mark)

    async def _end(self, mark: Mark, call: ToolCall) -> ToolResult:
        data, seconds = mark.data, float(mark.data.get("seconds", 0))
        self._pay(mark)
        if "text" not in data:
            output, error = await self._repeat(mark.call, call)
            self._finished(mark.call, seconds, output, error)
            return result_of(call, output, error)
        images: tuple[Image, ...] = from_wire(tuple[Image, ...], data.get("images", ()))
        text, code = str(data["text"]), data.get("code")
        output = ToolOutput(
            text=text, summary=data.get("summary", ""), images=images, outputs=tuple(data.get("outputs", ()))
        )
        error = ToolError(output.summary or text, code=code, hint=data.get("hint", "")) if code else None
        self._finished(mark.call, seconds, output, error)
        told = data.get("told_code", code)
        return ToolResult(call_id=call.id, name=call.name, text=text, images=images, code=told)

    def _pay(self, mark: Mark) -> None:
        """The call costs what it cost when it was recorded."""
        if "cost" in mark.data:
            charge, cost = self.open_charge(), mark.data["cost"]
            charge.pay(None if cost is None else float(cost))
            self.settle(mark.call, charge)

    async def _repeat(self, event_id: str, call: ToolCall) -> tuple[ToolOutput, ToolError | None]:
        """Runs a tool again that depends on its arguments and the files alone; once."""
        if event_id not in self._ended:
            try:
                tool, args = self.toolbox.prepare(call)
                output = await self.toolbox.run(tool, args, replace(self.context, call_id=event_id))
                self._ended[event_id] = output, None
            except ToolError as error:
                self._ended[event_id] = ToolOutput(text=""), error
        return self._ended[event_id]

    def _change(self, mark: Mark) -> None:
        path = str(mark.data["path"])
        if "text" in mark.data:
            self.context.files.write(path, str(mark.data["text"]), mark.call)
        elif "data" in mark.data:
            self.context.files.write(path, base64.b64decode(mark.data["data"]), mark.call)
        else:
            self.context.files.delete(path, mark.call)

    def _prepared(self, call: ToolCall) -> tuple[Tool | None, Json]:
        """The tool and its arguments; a later release may take neither, and the tape still plays."""
        try:
            return self.toolbox.prepare(call)
        except ToolError:
            return self.toolbox.get(call.name), {}
