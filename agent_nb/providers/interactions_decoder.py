"""Decodes the stream of Gemini's Interactions API."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from agent_nb._base.wire import Json
from agent_nb.events import Stop
from agent_nb.messages import Usage
from agent_nb.providers.base import Piece, UsagePiece
from agent_nb.providers.decoder import Decoder
from agent_nb.providers.parts import arguments_object

VENDOR = "gemini"
_STOPS: dict[str, Stop] = {"incomplete": "max_tokens", "requires_continuation": "go_on"}
_FAILED = ("failed", "cancelled", "budget_exceeded")


class InteractionsDecoder(Decoder):
    """Decodes the events of one answer. Steps are keyed by their index."""

    status_of: ClassVar = {
        "invalid_argument": 400,
        "failed_precondition": 400,
        "unauthenticated": 401,
        "permission_denied": 403,
        "not_found": 404,
        "resource_exhausted": 429,
        "unavailable": 503,
        "deadline_exceeded": 504,
    }

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._steps: dict[int, Json] = {}
        self._open: set[int] = set()
        self._event_id = ""

    def feed(self, event: str, data: Json) -> Sequence[Piece]:
        kind = data.get("event_type") or event
        if event_id := data.get("event_id"):
            if event_id == self._event_id:
                return ()
            self._event_id = event_id
        if kind == "step.delta":
            return self._delta(data["index"], data["delta"])
        match kind:
            case "step.start":
                return self._start(data["index"], data["step"])
            case "step.stop":
                self._open.discard(data["index"])
            case "interaction.completed":
                return self._finished(data["interaction"])
            case "interaction.status_update" if data.get("usage"):
                return (UsagePiece(_usage(data["usage"])),)
            case "error":
                raise self._error(data.get("error") or {})
        return ()

    def _start(self, index: int, step: Json) -> Sequence[Piece]:
        if index in self._open:
            raise self._disordered()
        self._open.add(index)
        self._steps[index] = dict(step)
        if step.get("type") != "function_call":
            return ()
        started = self._turn.start_call(index, step["id"], step["name"])
        if not step.get("arguments"):
            return (started,)
        return started, self._turn.arguments(index, json.dumps(step["arguments"], ensure_ascii=False))

    def _delta(self, index: int, delta: Json) -> Sequence[Piece]:
        if index not in self._open:
            raise self._disordered()
        kind = delta["type"]
        if kind == "arguments_delta":
            text = delta.get("arguments")
            return (self._turn.arguments(index, text),) if text else ()
        if kind == "text":
            return (self._turn.text(delta["text"], index),)
        if kind == "thought_summary":
            text = (delta.get("content") or {}).get("text")
            return (self._turn.thinking(text, index),) if text else ()
        if kind == "thought_signature":
            self._steps[index]["signature"] = delta["signature"]
        elif kind == "text_annotation":
            for annotation in delta.get("annotations") or ():
                self._turn.cite(annotation)
        return ()

    def _finished(self, interaction: Json) -> Sequence[Piece]:
        status = interaction.get("status") or "completed"
        problem = next((step["error"] for step in self._steps.values() if step.get("error")), None)
        if status in _FAILED:
            cause = problem or interaction.get("error") or {}
            raise self._error({"message": f"status {status}", **cause})
        stop = "refusal" if problem else _STOPS.get(status)
        echo: Json = {"steps": [self._complete(index) for index in sorted(self._steps)]}
        if stop == "go_on" and interaction.get("continuation_token"):
            echo["continuation_token"] = interaction["continuation_token"]
        return (
            self._turn.turn(
                stop=stop,
                usage=_usage(interaction.get("usage") or {}),
                model=interaction.get("model") or self._model,
                vendor={VENDOR: echo},
                detail=str(problem.get("message") or "") if problem else "",
            ),
        )

    def _complete(self, index: int) -> Json:
        """The step as it is sent back."""
        step = self._steps[index]
        match step.get("type"):
            case "thought":
                text = self._turn.joined("thinking", index)
                return {**step, "summary": [{"type": "text", "text": text}]} if text else step
            case "model_output":
                text = self._turn.joined("text", index)
                return {**step, "content": [{"type": "text", "text": text}]}
            case "function_call":
                return {**step, "arguments": arguments_object(self._turn.joined("call", index))}
        return step


def _usage(counts: Json) -> Usage:
    thought = counts.get("total_thought_tokens") or 0
    return Usage(
        input=(counts.get("total_input_tokens") or 0) + (counts.get("total_tool_use_tokens") or 0),
        cached_read=counts.get("total_cached_tokens") or 0,
        output=(counts.get("total_output_tokens") or 0) + thought,
        reasoning=thought,
    )
