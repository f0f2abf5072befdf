"""How a run is ended early from inside a turn, also by code that the user or a tool's author wrote."""

import inspect
from collections.abc import Callable
from typing import Any

from agent_nb.errors import ToolError
from agent_nb.events import Reason

NOT_RUN = "Not run: the run ended first."


class EndRun(Exception):  # noqa: N818 - ends the run, but is not an error
    """Ends the run from anywhere inside it."""

    def __init__(self, reason: Reason, error: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.error = reason, error


async def call_own_code(title: str, function: Callable[..., Any], *args: Any) -> Any:
    """Calls a hook, a policy or a tool's own function, sync or async. Its exceptions become tool errors.

    A `KeyboardInterrupt` ends the run, as it does anywhere else.
    """
    try:
        result = function(*args)
        return await result if inspect.isawaitable(result) else result
    except (ToolError, EndRun):
        raise
    except KeyboardInterrupt:  # must not reach the event loop, which it would end
        raise EndRun("interrupted") from None
    except SystemExit as error:
        raise ToolError(f"{title} tried to exit with {error.code!r}.") from None
    except Exception as error:
        raise ToolError(f"{title} failed: {type(error).__name__}: {error}") from error
