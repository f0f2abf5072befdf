"""Records a run while it happens: pieces as they come from the model, tool moments from the events.

The run itself is not changed. `Recording` collects the variants and writes the file.
"""

import contextlib
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any, assert_never

import agent_nb.events as ev
from agent_nb._base.wire import Json, to_wire
from agent_nb.cassette.format import (
    Attempt,
    Compaction,
    Cut,
    Gap,
    MomentKind,
    RecordedTurn,
    RecordedVariant,
    Retry,
    Stage,
    ToolMoment,
)
from agent_nb.cassette.matching import release_fingerprint, with_pixels
from agent_nb.cassette.recording import Recording, Target
from agent_nb.cassette.server_tools import with_server_tools
from agent_nb.engine.cost import CostMeter, estimate_tokens
from agent_nb.engine.ending import NOT_RUN
from agent_nb.engine.loop import RunHandle
from agent_nb.engine.prepared import Prepared, variants_fingerprint
from agent_nb.engine.run_config import RunConfig
from agent_nb.engine.tool_runner import one_line
from agent_nb.files import Content
from agent_nb.messages import AS_TEXT, ToolResult, Usage
from agent_nb.providers.base import Accepted, Piece, Provider, Request, Turn, UsagePiece, WrappedProvider

NOT_REPLAYED: dict[type[ev.BaseEvent], str] = {}
"""Events that a replay does not emit, each with the reason. A test plays a run that has all the others."""

_ALWAYS = ("text", "seconds", "cost")
"""Fields that are always written for a call that is not repeated, even if empty."""


class Recorder:
    """Records one variant. `tap` goes between engine and model, `hear` follows the run's events."""

    def __init__(self, recording: Recording, config: RunConfig) -> None:
        self.recording, self._config = recording, config
        self._turns: list[tuple[list[Attempt], list[ToolMoment]]] = []
        self._pieces: list[tuple[float | None, Piece]] = []
        """Pieces of the current attempt, with the times of their events."""
        self._accepted = False
        self._calls: list[str] = []
        """The calls of this turn by the ids they have in events."""
        self._names: dict[str, str] = {}
        self._now = 0.0
        """The time a replay's clock will have reached."""
        self._stage: Stage = "turn"
        self._request: Request | None = None
        self._settings: Json = config.settings

    def tap(self) -> Provider:
        return _Tap(self._config.provider, self)

    def ask(self, request: Request) -> None:
        """A request has been sent, so the wait after a failed attempt is over."""
        self._request, self._stage, self._accepted = request, "turn", False

    def receive(self, piece: Piece) -> None:
        if isinstance(piece, Accepted):
            self._accepted = True  # not written: an unfinished attempt ends with the usage as estimated
        else:
            self._pieces.append((None, piece))

    def hear(self, event: ev.Event, run: RunHandle) -> None:
        """Records what a replay needs to emit this event again."""
        match event:
            case ev.RunStarted(settings=settings):
                self._settings = settings
            case (
                ev.TextDelta() | ev.ThinkingDelta() | ev.ToolArgsDelta() | ev.FileDelta() | ev.UsageUpdated()
            ):
                self._time_piece(event.at)  # the engine emits them from the recorded pieces
            case ev.TurnStarted():
                self._turns.append(([], []))
                self._begin_attempt("turn")
            case ev.TurnRetrying():
                pieces = self._timed(event.at)
                retry = Retry(why=event.why, wait=event.wait, after=self._gap(event.at))
                self._now = round(self._now + event.wait, 4)
                self._turns[-1][0].append(self._attempt(pieces, retry))
                self._begin_attempt("wait")
            case ev.ConversationCompacted(why=why, limit=limit):
                compaction = Compaction(why=why, limit=limit, after=self._gap(event.at))
                self._turns[-1][0].append(Attempt(compaction=compaction))
                self._begin_attempt("turn")
            case ev.TurnFinished():
                self._turns[-1][0].append(self._attempt(self._timed(event.at), None))
                self._pieces, self._stage = [], "tools"
            case ev.MessageAdded(message=message):
                self._keep_results([part for part in message.parts if isinstance(part, ToolResult)])
            case ev.RunFinished():
                self.recording.add(self._variant(event, run.ended_at))
            case _:
                self._hear_call(event, run)
                self._time_piece(event.at)

    def _hear_call(self, event: ev.CallEvent, run: RunHandle) -> None:
        match event:
            case ev.ToolStarted(call_id=call_id, name=name):
                self._calls.append(call_id)
                self._names[call_id] = name
            case ev.ToolReady():
                self._moment("ready", event, {"args": event.args} if self._hooked else {})
            case ev.ToolRunning():
                self._moment("running", event, {})
            case ev.ApprovalRequested(name=name, title=title):
                about_tool = name == self._names[event.call_id]
                self._moment("asking", event, {} if about_tool else {"name": name, "title": title})
            case ev.ApprovalResolved():
                self._moment("answered", event, _answer(event))
            case ev.ToolProgress(text=text, output=output):
                self._moment("progress", event, {"text": text} if output is None else {"output": output})
            case ev.FileChanged(path=path, call_id=str(call_id)):
                again = self._repeats(call_id)
                self._moment("changed", event, {} if again else _content(path, run.files.get(path)))
            case ev.FileChanged():
                pass  # given with the prompt or found in the answer: the engine emits it again
            case ev.ToolFinished(code="STOPPED", summary=summary) if summary == NOT_RUN:
                pass  # the engine closes open calls at the end of a replay, too
            case ev.ToolFinished(code="DENIED", summary=summary) if summary == AS_TEXT:
                self._calls.remove(event.call_id)  # so it does here
            case ev.ToolFinished():
                cost = {"cost": run.call_costs[event.call_id]} if event.call_id in run.call_costs else {}
                self._moment("finished", event, {"seconds": event.seconds, **self._outcome(event), **cost})
            case _:
                assert_never(event)

    def _time_piece(self, at: float) -> None:
        """Gives the newest piece the time of the first event after it."""
        if self._pieces and self._pieces[-1][0] is None:
            self._pieces[-1] = (at, self._pieces[-1][1])

    def _moment(self, what: MomentKind, event: Any, data: Json) -> None:
        self._turns[-1][1].append(
            ToolMoment(what=what, call=event.call_id, after=self._gap(event.at), data=to_wire(data))
        )

    def _outcome(self, event: ev.ToolFinished) -> Json:
        """What the user saw of a call that is not repeated; its text follows with the message."""
        cut_off = event.code in ("TIMEOUT", "DENIED", "STOPPED")
        if self._repeats(event.call_id) and not cut_off and not self._others_wrote(event.call_id):
            return {}
        shown: Json = {"text": "", "summary": event.summary, "code": event.code, "hint": event.hint}
        return {**shown, "outputs": list(event.outputs)}

    def _keep_results(self, results: list[ToolResult]) -> None:
        """Adds the results that the model received to the calls that are not repeated."""
        by_call = dict(zip(self._calls, results, strict=False))
        moments = self._turns[-1][1]
        for place, moment in enumerate(moments):
            if moment.what == "finished" and "text" in moment.data and moment.call in by_call:
                result = by_call[moment.call]
                data = {**moment.data, "text": result.text, "images": to_wire(result.images)}
                if result.code != moment.data["code"]:
                    data["told_code"] = result.code
                if data["summary"] == one_line(result.text):
                    data["summary"] = ""
                kept = {key: value for key, value in data.items() if value or key in _ALWAYS}
                moments[place] = ToolMoment(what=moment.what, call=moment.call, after=moment.after, data=kept)

    def _repeats(self, call_id: str) -> bool:
        tool = self._config.toolbox.get(self._names.get(call_id, ""))
        return bool(tool and self._config.rules.repeats(tool) and not self._hooked)

    def _others_wrote(self, call_id: str) -> bool:
        """Whether other calls changed files while this one ran, so that a repetition might see other files."""
        writers: set[str] = set()
        for moment in reversed(self._turns[-1][1]):
            if moment.call == call_id and moment.what == "running":
                return bool(writers) and call_id not in writers
            if moment.what == "changed":
                writers.add(moment.call)
        return False

    @property
    def _hooked(self) -> bool:
        """Whether the caller's hooks may change calls; then no tool is repeated."""
        return bool(self._config.hooks.before or self._config.hooks.after)

    def _begin_attempt(self, stage: Stage) -> None:
        self._pieces, self._calls, self._stage, self._request = [], [], stage, None

    def _timed(self, end: float) -> list[tuple[Gap, Piece]]:
        """The pieces of the attempt with their gaps; a piece without an event has the time of the one before."""
        timed = []
        for at, piece in self._pieces:
            moment = end if isinstance(piece, Turn) else at
            timed.append((self._gap(moment) if moment is not None else 0, piece))
        return timed

    def _attempt(self, pieces: list[tuple[Gap, Piece]], retry: Retry | None) -> Attempt:
        counted = _counted(pieces)
        is_whole = bool(pieces) and isinstance(pieces[-1][1], Turn)
        if not is_whole and (expected := self._expected(pieces)) != counted:
            pieces, counted = [*pieces, (0, UsagePiece(expected))], expected
        return Attempt(pieces=tuple(pieces), retry=retry, cost=self._config.price(counted))

    def _expected(self, pieces: list[tuple[Gap, Piece]]) -> Usage:
        """The usage of an unfinished attempt as the run estimates it, so that a replay counts the same."""
        if self._request is None:  # the run ended before the request was sent
            return Usage()
        meter = CostMeter(self._config.price)
        meter.begin_turn(estimate_tokens(self._request.messages, self._request.system))
        if self._accepted:
            meter.accepted()
        meter.counted(_counted(pieces))
        meter.chars = sum(len(getattr(piece, "text", "")) for _, piece in pieces)
        meter.cut_off()
        return meter.total

    def _gap(self, at: float) -> Gap:
        """Advances the replay's clock to `at` and returns the milliseconds in between."""
        gap = round((at - self._now) * 1000, 1)
        self._now = at
        return int(gap) if gap.is_integer() else gap

    def _cut(self, end: ev.RunFinished) -> Cut:
        """Where the run was ended from outside."""
        attempts = self._turns[-1][0]
        if self._stage == "turn":
            if self._pieces and isinstance(self._pieces[-1][1], Turn):  # it came, but too late to count
                self._pieces.pop()
            attempts.append(self._attempt(self._timed(end.at), None))
        elif self._stage == "wait" and attempts[-1].retry:
            self._now = round(self._now - attempts[-1].retry.wait, 4)
        return Cut(during=self._stage, after=self._gap(end.at), error=end.error)

    def _variant(self, end: ev.RunFinished, ended: str) -> RecordedVariant:
        cut = self._cut(end) if self._turns and not ev.ENDINGS[end.reason].is_own else None
        turns = [
            RecordedTurn(attempts=tuple(attempts), moments=tuple(moments))
            for attempts, moments in self._turns
        ]
        return RecordedVariant(
            variant=end.variant,
            model=self._config.provider.name,
            settings={name: value for name, value in self._settings.items() if name != "replayed"},
            turns=tuple(turns),
            reason=end.reason,
            seconds=end.seconds,
            ended=ended,
            cut=cut,
        )


def record(target: Target, variants: Sequence[Prepared]) -> list[Recorder]:
    """One recorder for each variant; the cassette is written when all of them have ended."""
    fingerprint = with_pixels(variants_fingerprint(variants), variants[0].opening.images)
    recording = Recording(
        target,
        request=with_server_tools(fingerprint, variants[0].config.toolbox),
        release=release_fingerprint(variants[0].config),
        variants=len(variants),
    )
    return [Recorder(recording, prepared.config) for prepared in variants]


class _Tap(WrappedProvider):
    """Passes the model's pieces on and records them."""

    def __init__(self, provider: Provider, recorder: Recorder) -> None:
        super().__init__(provider)
        self._recorder = recorder

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        self._recorder.ask(request)
        async with contextlib.aclosing(super().stream(request)) as pieces:
            async for piece in pieces:
                self._recorder.receive(piece)
                yield piece


def _counted(pieces: Iterable[tuple[Gap, Piece]]) -> Usage:
    """The last usage that the vendor reported in an attempt."""
    counted = [piece.usage for _, piece in pieces if isinstance(piece, UsagePiece | Turn)]
    return counted[-1] if counted else Usage()


def _answer(event: ev.ApprovalResolved) -> Json:
    """The answer. Who decided and what ran are written only if they differ from the default."""
    answer: Json = {"approved": event.approved, "note": event.note}
    if event.by != "person":
        answer["by"] = event.by
    if event.approved and event.executed != event.proposed:
        answer["executed"] = event.executed
    return answer


def _content(path: str, content: Content | None) -> Json:
    """The contents of a file that a tool wrote that is not repeated."""
    match content:
        case str():
            return {"path": path, "text": content}
        case bytes():
            return {"path": path, "data": to_wire(content)}
        case None:
            return {"path": path}
