"""A run whose answer has a type: the tool that ends it, and what follows if the model does not call it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent_nb.features.answer import ANSWER, answer_form
from agent_nb.plugins import (
    Addition,
    Done,
    Draft,
    FeatureCode,
    Next,
    PartInputs,
    Request,
    Run,
    RunEnd,
    RunPart,
    Say,
    ToolCall,
    ToolResult,
    Turn,
)
from agent_nb.plugins import events as ev
from agent_nb.plugins.engine import (
    ANSWER_TOOL,
    AnswerType,
    EndRun,
    Journal,
    answer_table,
    answer_type,
    prompt_text,
)

ANSWER_TRIES = 2
"""How often the model is asked again for an answer that is missing or does not fit its type."""


class TypedAnswer(FeatureCode[AnswerType]):
    def read(self, value: Any, names: Mapping[str, Any]) -> AnswerType:
        return answer_type(value, names)

    def prepare(self, draft: Draft) -> None:
        if not (kind := draft.get(ANSWER)):
            return
        draft.recorded["answer"] = kind.schema
        if draft.runs_by == "engine" and "answer_type" not in draft.kept:  # else code computes the answer
            draft.kept |= {"answer_type": kind, ANSWER.name: True}
            draft.toolbox = draft.toolbox.plus(kind.tool())
            draft.sections.append(prompt_text("answer"))

    def part(self, run: PartInputs) -> RunPart | None:
        kind = run.prepared.get(ANSWER)
        return AnswerPart(kind, run.journal) if kind and ANSWER.name in run.prepared.kept else None

    def addition(self, run: Run) -> Addition | None:
        if run.plain_answer is None:
            return None
        return Addition(below=[answer_table(run.plain_answer, run.answer_numbers)])


class AnswerPart(RunPart):
    def __init__(self, kind: AnswerType, journal: Journal) -> None:
        self._kind, self._journal = kind, journal
        self._answer: Any = None
        self._missing = self._wrong = 0

    def outgoing(self, request: Request) -> Request:
        # A call of this tool has no effect, and its numbers are those of results.
        return replace(
            request,
            answer=ANSWER_TOOL,
            takes=lambda call: call.name == ANSWER_TOOL or request.takes(call),
        )

    def closing(self) -> str:
        return prompt_text("no_answer")

    def runs_last(self, calls: Sequence[ToolCall]) -> bool:
        return all(call.name == ANSWER_TOOL for call in calls)

    async def after_tools(self, results: Sequence[tuple[str, ToolResult]]) -> Next:
        return Done() if self._has_answered() else None

    def after_turn(self, turn: Turn, left: int) -> Next:
        if turn.stop != "end_turn":
            return None
        if not left:
            return Done("max_steps")
        self._missing += 1
        self._check_tries("the model ended without one")
        return Say(prompt_text("no_answer"))

    def finish(self, end: RunEnd) -> None:
        end.answer = self._answer

    def _has_answered(self) -> bool:
        """Whether an answer was accepted. Ends the run after too many that were missing or did not fit the type."""
        events = self._journal.events
        ids = {event.call_id for event in events.of(ev.ToolStarted) if event.name == ANSWER_TOOL}
        ends = [event for event in events.of(ev.ToolFinished) if event.call_id in ids]
        if accepted := {end.call_id for end in ends if end.ok}:
            args = next(event.args for event in events.of(ev.ToolReady) if event.call_id in accepted)
            self._answer = self._kind.value_of(args)
            return True
        self._wrong = len(ends)
        self._check_tries(ends[-1].summary.rstrip(".") if ends else "")
        return False

    def _check_tries(self, why: str) -> None:
        if self._wrong + self._missing > ANSWER_TRIES:
            raise EndRun(
                "failed", f"There is no answer of the type `{answer_form(self._kind.schema)}`: {why}."
            )
