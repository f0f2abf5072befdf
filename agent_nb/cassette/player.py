"""Plays a cassette: a provider that yields the recorded pieces, and tools that return the recorded results.

Repeatable tools really run, so that the files are really made. Nothing else is called, asked or sent.
"""

import asyncio
import base64
import logging
import math
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import agent_nb.events as ev
from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.model_name import is_demo
from agent_nb._base.wire import Json, from_wire
from agent_nb.cassette.format import Cassette, RecordedVariant, ToolMoment
from agent_nb.cassette.matching import as_recorded, changed, differences, release_fingerprint
from agent_nb.cassette.reader import AGAIN, read_cassette
from agent_nb.cassette.server_tools import ReplayToolbox, with_recorded
from agent_nb.engine.approval import question_about
from agent_nb.engine.approval_rules import Rules
from agent_nb.engine.ending import EndRun, MustCompact
from agent_nb.engine.limits import Limits
from agent_nb.engine.middleware import Hooks
from agent_nb.engine.prepared import Prepared, variants_fingerprint
from agent_nb.engine.retries import Retries
from agent_nb.engine.tool_runner import ToolRunner, result_of, title_of
from agent_nb.errors import CassetteError, ConfigError, ProviderError, ToolError
from agent_nb.messages import Image, ToolCall, ToolResult, Usage
from agent_nb.providers.base import Clock, Piece, Provider, Request, VirtualClock
from agent_nb.providers.prices import price_of
from agent_nb.providers.settings import check_pace
from agent_nb.providers.studio import local_studio
from agent_nb.tools import Tool, Toolbox, ToolOutput

log = logging.getLogger("agent_nb")

_BREATH = 64
"""Pieces between two yields to the event loop when no time passes between them."""
_LAG = 0.004
"""Seconds that a replay may run ahead of the wall clock; shorter sleeps are less exact than none."""


class ReplayClock(VirtualClock):
    """The clock of one replay. It also knows how far the cassette has played."""

    def __init__(self, pace: float, date: str = "") -> None:
        super().__init__(pace)
        self.date = date
        self._begun = time.monotonic()
        self.turn = self.attempt = 0
        self.moments: tuple[ToolMoment, ...] = ()
        """The tool moments of the last turn played."""
        self.cut: RecordedVariant | None = None
        """Set once everything of an interrupted variant has played: what comes next is its end."""

    async def sleep(self, seconds: float) -> None:
        """Waits before a retry; the recording may end during the wait."""
        await self.end_if_cut()
        await self.play(seconds)

    async def play(self, seconds: float) -> None:
        """Waits for the time between two recorded moments."""
        self._now = round(self._now + seconds, 4)
        ahead = self._now * self._pace - (time.monotonic() - self._begun)
        await asyncio.sleep(ahead if self._pace and ahead > _LAG else 0)

    async def end_if_cut(self) -> None:
        if self.cut and self.cut.cut:
            await self.play(self.cut.cut.after / 1000)
            raise EndRun(self.cut.reason, self.cut.cut.error)


class ReplayProvider(Provider):
    """The model of one variant of a cassette, under the name it was recorded with."""

    def __init__(self, cassette: Cassette, shown: str, *, pace: float = 0.0, variant: int = 0) -> None:
        self.cassette, self.path = cassette, shown
        self._pace = check_pace(pace)
        self.recorded = cassette.variants[variant]
        self._prices = _prices(self.recorded)
        self.name = self.recorded.model
        self.sees_pages = not is_demo(self.name)

    @property
    def variants(self) -> "list[ReplayProvider]":
        """All variants of the cassette."""
        each = range(len(self.cassette.variants))
        return [ReplayProvider(self.cassette, self.path, pace=self._pace, variant=number) for number in each]

    def prepare(self, prepared: Prepared) -> Prepared:
        """The same request with the limits, settings and prices of the recording."""
        recorded = self.recorded.settings
        config = replace(
            prepared.config,
            limits=Limits(steps=recorded.get("steps", Limits().steps)),
            settings={**recorded, "replayed": self.path},
            window=None,
            compact=False,
            price=self.price,
            runner=ReplayedTools,
            retries=ReplayedRetries,
            studio=local_studio(),
            hooks=Hooks(),
        )
        if log.isEnabledFor(logging.INFO) and (
            parts := changed(self.cassette.release, release_fingerprint(config))
        ):
            log.info("%s was recorded with other %s; it plays all the same", self.path, ", ".join(parts))
        return replace(prepared, config=config, playback=self)

    def differences(self, prepared: Prepared, models: Sequence[str | None]) -> list[str]:
        """How a request differs from the recorded one, in a few words each; empty if the cassette plays."""
        recorded = self.cassette.request
        fingerprint = {**variants_fingerprint([prepared]), "model": models[0], "variants": models}
        return [
            *differences(recorded, as_recorded(fingerprint, recorded, prepared.opening.images)),
            *dict.fromkeys(self._other_tools(prepared)),
        ]

    def offered(self, toolbox: Toolbox) -> Toolbox:
        """These tools without those built-in ones that were not offered in the recording.

        The tools of MCP servers are those of the recording, so that the servers are not needed.
        """
        names = self.recorded.settings.get("tools")
        left_out = {tool.name for tool in Toolbox.default()}.difference(names) if names is not None else ()
        offered = (tool for tool in toolbox if tool.name not in left_out)
        try:
            return ReplayToolbox(with_recorded(offered, self.cassette.request))
        except ConfigError as error:
            raise CassetteError(f"{self.path!r} is damaged at line 2: {error} {AGAIN}") from None

    def _other_tools(self, prepared: Prepared) -> Iterator[str]:
        """How the tools that would be run again differ. Raises `CassetteError` if one of them must not be."""
        turns = (turn for recorded in self.cassette.variants for turn in recorded.turns)
        for moment in (moment for turn in turns for moment in turn.moments if moment.is_repeated):
            tool = prepared.config.toolbox.get(moment.tool)
            if tool is None:
                yield f"the tool `{moment.tool}`"
            elif not Rules().repeats(tool):
                raise _not_run(moment, f"{self.path!r} is damaged at line {moment.line}")
            elif not prepared.config.rules.repeats(tool):
                yield f"`{moment.tool}` not asking first"

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        clock, recorded = request.clock, self.recorded
        assert isinstance(clock, ReplayClock)
        if clock.turn >= len(recorded.turns):
            raise CassetteError(f"{self.path!r} ends after {len(recorded.turns)} turns.")
        turn = recorded.turns[clock.turn]
        attempt = turn.attempts[clock.attempt]
        if attempt.compaction:
            clock.attempt += 1
            await clock.play(attempt.compaction.after / 1000)
            raise MustCompact(attempt.compaction.why, attempt.compaction.limit)
        for number, (gap, piece) in enumerate(attempt.pieces):
            if gap or number % _BREATH == 0:
                await clock.play(gap / 1000)
            yield piece
        clock.attempt += 1
        last = clock.turn == len(recorded.turns) - 1 and clock.attempt == len(turn.attempts)
        if attempt.retry is None:
            clock.cut = recorded if last else None
            if turn.end is None:
                await clock.end_if_cut()
            clock.turn, clock.attempt, clock.moments = clock.turn + 1, 0, turn.moments
            return
        await clock.play(attempt.retry.after / 1000)
        clock.cut = recorded if last else None
        raise ProviderError(attempt.retry.why, retryable=True, retry_after=attempt.retry.wait)

    def price(self, usage: Usage) -> float | None:
        """Dollars as recorded; estimates during a turn use current prices."""
        if self._prices is None:
            return None
        return self._prices[usage] if usage in self._prices else price_of(self.name, usage)

    def new_clock(self) -> Clock:
        return ReplayClock(self._pace, self.recorded.ended)

    def __repr__(self) -> str:
        return f"<ReplayProvider {self.path} of {self.name}>"


def replay(path: str | Path, *, pace: float = 0.0, folder: Path | None = None) -> ReplayProvider:
    """The model recorded in this file.

    `pace` is 1 for the recorded times and 0 for no waiting. Relative paths start in `folder`.
    """
    return ReplayProvider(read_cassette(path, folder), Path(path).as_posix(), pace=pace)


def _not_run(moment: ToolMoment, place: str) -> CassetteError:
    return CassetteError(
        f"{place}: a replay does not run `{moment.tool}`, and its result is missing. {AGAIN}"
    )


def _prices(recorded: RecordedVariant) -> dict[Usage, float] | None:
    """What each attempt cost; None if the model had no known price."""
    prices = {Usage(): 0.0}
    for attempt in (attempt for turn in recorded.turns for attempt in turn.attempts):
        if attempt.compaction:
            continue
        if attempt.cost is None:
            return None
        counted = [usage for _, piece in attempt.pieces if (usage := getattr(piece, "usage", None))]
        if counted:
            prices[counted[-1]] = attempt.cost
    return prices


class ReplayedRetries(Retries):
    """Waits exactly as long as the recorded run did."""

    def wait_after(self, error: ProviderError, left: float = math.inf) -> float:
        if error.retry_after is None:
            raise error
        return error.retry_after


@dataclass(slots=True, kw_only=True)
class ReplayedTools(ToolRunner):
    """Runs calls as recorded: in that order, at those times, with those results."""

    _ended: dict[str, tuple[ToolOutput, ToolError | None]] = field(default_factory=dict)
    _args: dict[str, Json] = field(default_factory=dict)
    """The arguments of each call after hooks and approvals."""

    async def run(self, calls: Sequence[tuple[str, ToolCall]]) -> tuple[ToolResult, ...]:
        assert isinstance(self.clock, ReplayClock)
        named = dict(calls)
        self._ended.clear()
        for moment in self.clock.moments:
            if moment.call not in named:
                raise CassetteError(f"The cassette has a result for {moment.call!r}, which was not called.")
            await self.clock.play(moment.after / 1000)
            call = named[moment.call]
            if moment.what == "finished":
                self.results[moment.call] = await self._end(moment, call)
            else:
                await self._play(moment, call)
        await self.clock.end_if_cut()
        return tuple(self.results[event_id] for event_id, _ in calls)

    async def _play(self, moment: ToolMoment, call: ToolCall) -> None:
        tool, args = self._prepared(call)
        args = moment.data.get("args", self._args.get(moment.call, args))
        title = title_of(tool, args, written=call.written) if tool else call.name
        match moment.what:
            case "ready":
                self._args[moment.call] = args
                self.emit(ev.ToolReady, call_id=moment.call, title=title, args=args)
            case "running":
                self.emit(ev.ToolRunning, call_id=moment.call, title=title)
            case "asking":
                name, title = moment.data.get("name", call.name), moment.data.get("title", title)
                about = {"written": call.written, **question_about(self.toolbox.get(name))}
                self.emit(
                    ev.ApprovalRequested, call_id=moment.call, name=name, title=title, args=args, **about
                )
            case "answered":
                self._answered(moment, args)
            case "progress":
                text, output = moment.data.get("text", ""), moment.data.get("output")
                self.emit(ev.ToolProgress, call_id=moment.call, text=text, output=output)
            case "changed" if moment.is_repeated:
                await self._repeat(moment, call)
            case "changed":
                self._change(moment)
            case "finished":
                raise AssertionError(moment)

    def _answered(self, moment: ToolMoment, args: Json) -> None:
        approved, note = moment.data.get("approved", False), moment.data.get("note", "")
        executed = moment.data.get("executed", args) if approved else None
        who = moment.data.get("by", "person")
        fields = {"approved": approved, "note": note, "by": who, "proposed": args, "executed": executed}
        self.emit(ev.ApprovalResolved, call_id=moment.call, **fields)
        self._args[moment.call] = args if executed is None else executed

    async def _end(self, moment: ToolMoment, call: ToolCall) -> ToolResult:
        data, seconds = moment.data, moment.data.get("seconds", 0)
        if "cost" in data:
            charge = self.open_charge()
            charge.pay(data["cost"])
            self.settle(moment.call, charge)
        if moment.is_repeated:
            output, error = await self._repeat(moment, call)
            self._finished(moment.call, seconds, output, error)
            return self.versioned(call, result_of(call, output, error))
        images: tuple[Image, ...] = from_wire(tuple[Image, ...], data.get("images", ()))
        text, code = data["text"], data.get("code")
        output = ToolOutput(
            text=text,
            summary=data.get("summary", ""),
            images=images,
            outputs=tuple(map(_played, data.get("outputs", ()))),
        )
        error = ToolError(output.summary or text, code=code, hint=data.get("hint", "")) if code else None
        self._finished(moment.call, seconds, output, error)
        code_for_model = data.get("told_code", code)
        result = ToolResult(call_id=call.id, name=call.name, text=text, images=images, code=code_for_model)
        return self.versioned(call, result)

    async def _repeat(self, moment: ToolMoment, call: ToolCall) -> tuple[ToolOutput, ToolError | None]:
        """Runs a tool again, once. `check_recording` has looked whether all of them may be."""
        event_id = moment.call
        if event_id not in self._ended:
            try:
                tool, args = self.prepare(event_id, call)
                if not self.approvals.rules.repeats(tool):
                    raise _not_run(moment, "The cassette is damaged")
                output = await self.toolbox.run(tool, args, replace(self.context, call_id=event_id))
                self._ended[event_id] = output, None
            except ToolError as error:
                self._ended[event_id] = ToolOutput(text=""), error
        return self._ended[event_id]

    def _change(self, moment: ToolMoment) -> None:
        path = moment.data["path"]
        if "text" in moment.data:
            self.context.files.write(path, moment.data["text"], moment.call)
        elif "data" in moment.data:
            self.context.files.write(path, base64.b64decode(moment.data["data"]), moment.call)
        else:
            self.context.files.delete(path, moment.call)

    def _prepared(self, call: ToolCall) -> tuple[Tool | None, Json]:
        """The tool and its arguments; a later release may refuse both, and the cassette still plays."""
        try:
            return self.toolbox.prepare(call)
        except ToolError:
            return self.toolbox.get(call.name), {}


def _played(bundle: ev.MimeBundle) -> ev.MimeBundle:
    """An output as it was recorded. What code did to names was done elsewhere: here nothing can be undone or shown."""
    names = bundle.get(NAMES_TYPE)
    if not isinstance(names, dict) or not any(names.get(kind) for kind in ("bound", "changed", "deleted")):
        return bundle
    kept = {key: value for key, value in names.items() if key not in ("undo", "kinds")}
    notes = [*from_wire(tuple[str, ...], names.get("notes", ())), "in the recording; no code ran here"]
    return {**bundle, NAMES_TYPE: {**kept, "notes": notes}}
