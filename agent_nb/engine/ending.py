"""Ending a run early from inside a turn, including from code written by the user or a tool's author."""

import inspect
from collections.abc import Callable
from typing import Any

from agent_nb.core.errors import ToolError
from agent_nb.core.event_list import EventList
from agent_nb.core.events import FileDelta, Reason
from agent_nb.files import Files

NOT_RUN = "Not run: the run ended first."


def cut_summary(call_id: str, events: EventList, files: Files) -> str:
    """What a call has left that the end of the run cut off."""
    paths = [event.path for event in events.of(FileDelta) if event.call_id == call_id]
    if not paths:
        return NOT_RUN
    # The model may not have named it yet, or `./index.html`.
    path = paths[-1] if paths[-1] in files else next(iter(files.unfinished), "")
    return f"Cut off at {files.size_text(path)}." if path in files.unfinished else "Cut off, not kept."


class EndRun(Exception):  # noqa: N818 - ends the run, but is not an error
    """Ends the run from anywhere inside it."""

    def __init__(self, reason: Reason, error: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.error = reason, error


async def call_user_code(title: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a hook, policy or tool function. Its exceptions become tool errors; a `KeyboardInterrupt` ends the run."""
    try:
        result = function(*args)
        return await result if inspect.isawaitable(result) else result
    except (ToolError, EndRun):
        raise
    except KeyboardInterrupt:  # would end the event loop if it got that far
        raise EndRun("interrupted") from None
    except SystemExit as error:
        raise ToolError(f"{title} tried to exit with {error.code!r}.") from None
    except Exception as error:
        raise ToolError(f"{title} failed: {type(error).__name__}: {error}") from error
