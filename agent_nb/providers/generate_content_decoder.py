"""Decodes the chunks of Gemini's `generate_content`."""

import base64
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.events import Stop
from agent_nb.messages import Usage
from agent_nb.providers import failure
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import Piece, UsagePiece
from agent_nb.providers.settings import Settings

VENDOR = "generate_content"
REFUSALS = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}
    | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}
)
_STOPS: dict[str, Stop] = {"MAX_TOKENS": "max_tokens", "CONTINUATION": "go_on"}
_ENDS = ("STOP", "FINISH_REASON_UNSPECIFIED")


class GenerateContentDecoder:
    """Decodes the chunks of one answer, which the SDK has parsed."""

    ended = False
    """No chunk says that it is the last one."""

    def __init__(self, settings: Settings, chunks: AsyncGenerator[Any, None]) -> None:
        self.chunks = chunks
        self._settings = settings
        self._turn = Assembler()
        self._parts: list[Json] = []
        self._call_ids: set[str | None] = set()
        self._usage = Usage()
        self._model = settings.model
        self._reason = ""
        self._detail = ""

    def feed(self, chunk: Any) -> Sequence[Piece]:
        pieces: list[Piece] = []
        self._model = chunk.model_version or self._model
        if chunk.usage_metadata and (usage := _usage(chunk.usage_metadata)) != self._usage:
            self._usage = usage
            pieces.append(UsagePiece(usage))
        feedback = chunk.prompt_feedback
        if feedback and feedback.block_reason:
            self._reason = "SAFETY"
            self._detail = feedback.block_reason_message or str(feedback.block_reason.value)
        for candidate in (chunk.candidates or [])[:1]:
            for part in (candidate.content and candidate.content.parts) or []:
                pieces += self._part(part)
            if candidate.finish_reason:
                self._reason = str(candidate.finish_reason.value)
                self._detail = self._detail or candidate.finish_message or ""
        return pieces

    def finish(self) -> Sequence[Piece]:
        """The end of the chunks: complete if a finish reason came, else cut."""
        reason = self._reason
        if not reason:
            raise failure.cut(self._settings)
        stop = "refusal" if reason in REFUSALS else _STOPS.get(reason)
        if stop is None and reason not in _ENDS:
            cause = self._detail or reason
            raise failure.from_status(self._settings, 500, f"the answer ended with {cause}")
        return (
            self._turn.turn(
                stop=stop,
                usage=self._usage,
                model=self._model,
                vendor={VENDOR: [_joined(part) for part in self._parts]},
                detail=(self._detail or reason) if stop == "refusal" else "",
            ),
        )

    def _part(self, part: Any) -> Sequence[Piece]:
        signature = part.thought_signature
        extra: Json = {"thought_signature": base64.b64encode(signature).decode()} if signature else {}
        if part.function_call:
            return self._call(part.function_call, extra)
        if part.text is None:
            return ()
        if part.thought:
            extra["thought"] = True
        self._remember_text(part.text, extra)
        if not part.text:
            return ()
        return (self._turn.thinking(part.text) if part.thought else self._turn.text(part.text),)

    def _remember_text(self, text: str, extra: Json) -> None:
        """Joins unsigned fragments. A signed part stays separate, even an empty one, for its signature."""
        signed = "thought_signature" in extra
        last = self._parts[-1] if self._parts else {}
        plain = isinstance(last.get("text"), list) and "thought_signature" not in last
        if plain and not signed and last.get("thought") == extra.get("thought"):
            last["text"].append(text)
        elif text or signed:
            self._parts.append({"text": [text], **extra})

    def _call(self, call: Any, extra: Json) -> Sequence[Piece]:
        if call.id and call.id in self._call_ids:
            raise failure.disordered(self._settings)
        self._call_ids.add(call.id)
        key = len(self._parts)
        call_id = call.id or f"call_{key}"
        arguments = call.args or {}
        sent: Json = {"name": call.name, "args": arguments} | ({"id": call.id} if call.id else {})
        self._parts.append({"function_call": sent, **extra})
        started = self._turn.start_call(key, call_id, call.name)
        return started, self._turn.arguments(key, json.dumps(arguments, ensure_ascii=False))


def _joined(part: Json) -> Json:
    return {**part, "text": "".join(part["text"])} if "text" in part else part


def _usage(counts: Any) -> Usage:
    thoughts = counts.thoughts_token_count or 0
    return Usage(
        input=(counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0),
        cached_read=counts.cached_content_token_count or 0,
        output=(counts.candidates_token_count or 0) + thoughts,
        reasoning=thoughts,
    )
