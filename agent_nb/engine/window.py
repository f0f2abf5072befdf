"""The conversation of a run, and how much of the model's context window it takes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent_nb._base.wire import Json
from agent_nb.engine.compaction import Compacted, compact
from agent_nb.engine.cost import density, estimate_tokens
from agent_nb.engine.opening import base_density
from agent_nb.errors import ProviderError
from agent_nb.events import WhyCompacted
from agent_nb.messages import Message, Part, Usage
from agent_nb.providers.optional import VENDOR_DATA

if TYPE_CHECKING:
    from agent_nb.engine.prepared import Prepared

LARGEST_ANSWER = 128_000
"""The most tokens that are kept free for an answer; in a small window it is a third."""
LEAST_GAIN = 0.1
"""The share of a conversation that must go to make it worth while: every compaction empties the vendor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shorter:
    why: WhyCompacted
    limit: int | None
    before: int
    after: int
    compacted: Compacted

    @property
    def fields(self) -> Json:
        counts = {"rewritten": self.compacted.rewritten, "summarized": self.compacted.summarized}
        return {"why": self.why, "limit": self.limit, "before": self.before, "after": self.after, **counts}


class Window:
    """The messages of a run. They only ever grow, except when they are compacted or lose what a vendor refuses."""

    def __init__(self, prepared: "Prepared") -> None:
        opening, self._settings, self._toolbox = prepared.opening, prepared.settings, prepared.toolbox
        self.messages: list[Message] = [*opening.history, opening.question]
        self.question = len(opening.history)
        self.replaced: list[tuple[Message, ...]] = []
        """What was sent before it was compacted, oldest first."""
        self.without: frozenset[str] = frozenset()
        self.size = prepared.settings.window
        self._has_sent = False
        self._density = base_density(opening.base)
        self._fixed = estimate_tokens((), prepared.system, prepared.tools)

    def add_to_question(self, parts: Sequence[Part]) -> None:
        """Adds to what the run asks. Call it before the first turn."""
        question = self.messages[self.question]
        self.messages[self.question] = replace(question, parts=(*question.parts, *parts))

    def leave_out(self, part: str) -> None:
        """Leaves out what the vendor has refused: a parameter, or the data of its own on earlier messages."""
        if part == VENDOR_DATA:
            self.messages[:] = [replace(message, vendor={}) for message in self.messages]
        else:
            self.without |= {part}

    def counted(self, usage: Usage) -> None:
        self._has_sent = True
        if usage.input:
            self._density = density(usage.input, self._fixed + estimate_tokens(self.messages))

    def before_turn(self, number: int) -> Shorter | None:
        """What to send instead of the messages, because that is asked for or because they would not fit."""
        if self.messages[-1].role == "assistant":
            return None  # the turn continues an unfinished answer
        limit = room_in(self.size)
        if self._settings.compact and number == 1:
            return self.shortened("asked", limit)
        if limit is None or self._tokens(self.messages) <= limit:
            return None
        shorter = self.shortened("full", limit)
        return shorter if shorter and shorter.after <= (1 - LEAST_GAIN) * shorter.before else None

    def after_refusal(self, error: ProviderError, *, again: bool) -> Shorter | None:
        """What to send after the vendor has refused the messages as too long; None after any other error."""
        if not error.too_long:
            return None
        before = self._tokens(self.messages)
        limit = room_in(error.window or self.size)
        shorter = None if again else self.shortened("refused", min(limit or before, before))
        if shorter is None:
            known = " Earlier parts of it have been left out already." if again else ""
            raise ProviderError(f"{error}{known}") from None
        return shorter

    def shortened(self, why: WhyCompacted, limit: int | None) -> Shorter | None:
        """A conversation well below the limit, if possible, so that it lasts; None if nothing can be left out."""
        before, most = self._tokens(self.messages), limit or math.inf

        def share(messages: Sequence[Message]) -> float:
            return self._tokens(messages) / most

        compacted = compact(self.messages, self.question, self._toolbox, share)
        after = self._tokens(compacted.messages)
        if after >= before:
            return None
        return Shorter(why=why, limit=limit, before=before, after=after, compacted=compacted)

    def replace(self, shorter: Shorter) -> None:
        if self._has_sent:
            self.replaced.append(tuple(self.messages))
        self.messages[:] = shorter.compacted.messages
        self.question = shorter.compacted.question

    def _tokens(self, messages: Sequence[Message]) -> int:
        return round((self._fixed + estimate_tokens(messages)) * self._density)


def room_in(window: int | None) -> int | None:
    """The tokens that a request may have, so that the window holds the answer too; None if that is not known."""
    return window - min(LARGEST_ANSWER, window // 3) if window else None
