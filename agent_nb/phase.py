"""What a run is doing, in a few words: its phase. `reduce` in `js/src/state.ts` uses the same wording."""

from typing import assert_never

from agent_nb.events import (
    ENDINGS,
    ApprovalRequested,
    ApprovalResolved,
    ConversationCompacted,
    Event,
    FileChanged,
    FileDelta,
    MessageAdded,
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
