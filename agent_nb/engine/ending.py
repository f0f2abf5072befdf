"""Ending a run early from inside a turn, including from code written by the user or a tool's author."""

import inspect
from collections.abc import Callable
from typing import Any

from agent_nb.core.errors import ToolError
from agent_nb.core.events import Reason


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
