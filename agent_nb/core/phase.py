"""The phase of a run: a short description of its activity. `reduce` in `js/src/run/state.ts` uses the same wording."""

from typing import assert_never

import agent_nb.core.events as ev

WAITING = "waiting for approval, clock paused"
ASKING = "waiting for your answer, clock paused"
ON_YOUR_SERVER = "starting on your server"
"""The user's own server may process the first prompt for minutes before it responds."""


def phase_after(phase: str, event: ev.Event) -> str:
    match event:
        case ev.RunStarted(settings=settings):
            return ON_YOUR_SERVER if "server" in settings else "starting"
        case ev.TurnStarted() | ev.ThinkingDelta():
            reads = isinstance(event, ev.TurnStarted) and phase == ON_YOUR_SERVER
            return "reading the prompt" if reads else "thinking"
        case ev.TurnRetrying(wait=wait):
            return f"retrying in {max(1, round(wait))} s"
        case ev.TextDelta():
            return "writing"
        case ev.FileDelta(path=path):
            return f"writing {path or 'a file'}"
        case ev.ToolRunning() if phase in (WAITING, ASKING):  # another call of the same turn
            return phase
        case ev.ToolStarted(title=title) | ev.ToolRunning(title=title):
            return f"running {title.removeprefix('run ')}"
        case ev.ApprovalRequested(is_question=is_question):
            return ASKING if is_question else WAITING
        case ev.ApprovalResolved():
            return "running tools"
        case ev.RunFinished(reason=reason):
            return ev.ENDINGS[reason].words
        case (
            ev.TurnFinished()
            | ev.Note()
            | ev.ToolArgsDelta()
            | ev.ToolReady()
            | ev.ToolProgress()
            | ev.ToolFinished()
            | ev.UsageUpdated()
            | ev.MessageAdded()
            | ev.FileChanged()
        ):
            return phase
        case _:
            assert_never(event)
