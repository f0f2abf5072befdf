"""Calls functions that the user or the author of a tool wrote."""

import inspect
from collections.abc import Callable
from typing import Any

from agent_nb.engine.ending import EndRun
from agent_nb.errors import ToolError


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
