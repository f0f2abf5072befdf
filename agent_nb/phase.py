"""What a run is doing, in a few words: its phase. `reduce` in `js/src/state.ts` uses the same wording."""

from dataclasses import dataclass
from typing import Literal, assert_never

from agent_nb.events import (
    ApprovalRequested,
    ApprovalResolved,
    ConversationCompacted,
    Event,
    FileChanged,
    FileDelta,
    MessageAdded,
    Reason,
    RunFinished,
    RunStarted,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolFinished,
    ToolProgress,
    ToolReady,
    ToolRunning,
    ToolStarted,
    TurnFinished,
    TurnRetrying,
    TurnStarted,
    UsageUpdated,
)

Tone = Literal["ok", "warn", "err", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What is known about a reason for the end of a run."""

    words: str
    tone: Tone = "off"
    """How it is shown."""
    is_own: bool = False
    """Whether the run ends by itself. Any other end comes from outside, and a cassette says where."""
    is_cut: bool = False
    """Whether it may end in the middle of a turn, at a time that only the clock knows."""
    is_by_user: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether there is no answer."""
        return self.tone in ("warn", "err")


ENDINGS: dict[Reason, Ending] = {
    "end_turn": Ending(words="done", tone="ok", is_own=True),
    "max_tokens": Ending(words="cut off at the token limit", is_own=True),
    "max_steps": Ending(words="stopped at the step limit", is_own=True),
    "max_seconds": Ending(words="stopped at the time limit", is_cut=True),
    "budget": Ending(words="stopped at the budget"),
    "refusal": Ending(words="refused", tone="warn", is_own=True),
    "stopped": Ending(words="stopped", is_cut=True, is_by_user=True),
    "interrupted": Ending(words="interrupted", is_cut=True, is_by_user=True),
    "failed": Ending(words="failed", tone="err", is_cut=True),
}
"""Every reason. Whatever depends on how a run ended is read from here; `make events` writes it for the page."""

WAITING = "waiting for approval, clock paused"


def phase_after(phase: str, event: Event) -> str:
    """The phase after `event`, given the phase before it."""
    match event:
        case RunStarted():
            return "starting"
        case TurnStarted() | ThinkingDelta():
            return "thinking"
        case TurnRetrying(wait=wait):
            return f"retrying in {max(1, round(wait))} s"
        case TextDelta():
            return "writing"
        case FileDelta(path=path):
            return f"writing {path or 'a file'}"
        case ToolRunning() if phase == WAITING:  # another call of the same turn
            return phase
        case ToolStarted(title=title) | ToolRunning(title=title):
            return f"running {title.removeprefix('run ')}"
        case ApprovalRequested():
            return WAITING
        case ApprovalResolved():
            return "running tools"
        case RunFinished(reason=reason):
            return ENDINGS[reason].words
        case (
            TurnFinished()
            | ConversationCompacted()
            | ToolArgsDelta()
            | ToolReady()
            | ToolProgress()
            | ToolFinished()
            | UsageUpdated()
            | MessageAdded()
            | FileChanged()
        ):
            return phase
        case _:
            assert_never(event)
