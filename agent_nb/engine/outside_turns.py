"""Turns that are not the engine's: texts and calls arrive from an outside agent or a client, whenever it sends them."""

import json
from abc import abstractmethod

import agent_nb.core.events as ev
from agent_nb._base.wire import Json
from agent_nb.core.messages import Message, Part, ToolCall, ToolResult, Usage
from agent_nb.engine.cost import Budget
from agent_nb.engine.ending import EndRun
from agent_nb.engine.journal import Journal
from agent_nb.engine.prepared import PreparedRun
from agent_nb.engine.turns import Turns
from agent_nb.run.cut_off import NOT_RUN


class OutsideTurns(Turns):
    def __init__(self, prepared: PreparedRun, journal: Journal, budget: Budget, title: str) -> None:
        super().__init__(prepared, journal, budget)
        self._title = title
        self._turn_number = 0
        self._parts: list[Part] = []
        """Text, thinking and calls of this turn."""
        self._call_results: dict[str, ToolResult] = {}
        """Results of this turn's calls, by event id."""
        self._usage = Usage()
        """Usage of the last prompt, until its last turn is reported."""

    @abstractmethod
    def _end_by(self, end: EndRun) -> None:
        """End the run: one of our tools could not go on."""

    def _need_turn(self) -> None:
        """Start a turn if there is none, or if all calls of the last one have ended."""
        if self._turn_number and (self._open_calls or not self._call_results):
            return
        self._end_turn()
        self._turn_number += 1
        self._emit(ev.TurnStarted, step=self._turn_number)

    def _end_turn(self) -> None:
        """Add the messages of a turn: text and calls, and the results."""
        parts, by_id = tuple(self._parts), self._call_results
        results = tuple(by_id[part.id] for part in parts if isinstance(part, ToolCall) and part.id in by_id)
        self._parts, self._call_results = [], {}
        if not parts:
            return
        stop = "tool_use" if results else "end_turn"
        self._emit(ev.TurnFinished, stop=stop, usage=self._usage, model=self._title)
        self._usage = Usage()
        self.add(Message(role="assistant", parts=parts))
        if results:
            self.add(Message(role="tool", parts=results))

    async def _call_tool(self, name: str, args: Json) -> ToolResult:
        """Run one of our tools, as a call of this turn."""
        self._need_turn()
        call = ToolCall(f"{name}-{len(self._call_counts) + 1}", name, json.dumps(args, ensure_ascii=False))
        event_id = self._event_id(call.id)
        tool = self._prepared.toolbox.get(name)
        self._open_calls[event_id] = call
        self._parts.append(call)
        self._journal.emit_now(ev.ToolStarted, call_id=event_id, name=name, title=tool.name if tool else name)
        result = ToolResult(call_id=call.id, name=name, text=NOT_RUN, code="STOPPED")
        try:
            (result,) = await self._runner.run([(event_id, call)])
            await self._after_call()
        except EndRun as end:
            self._end_by(end)
        finally:
            self._open_calls.pop(event_id, None)
            self._call_results[event_id] = result
        return result

    async def _after_call(self) -> None:
        """Called when a tool has run, before the turn can end."""
