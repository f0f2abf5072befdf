"""A second way from the page to a kernel in the same browser.

JupyterLite hands a kernel one message at a time, so a comm message waits until the cell has ended: too late for Stop
and for an approval. A broadcast channel reaches the kernel's worker at once, and only pages of the same origin can
use it, which previews do not have.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any


def listen(name: str, handle: Callable[[Any], None]) -> Any:
    """Calls `handle` with what the page sends on the channel, as long as the returned object is kept."""
    from pyodide.ffi import create_proxy

    import js

    loop = asyncio.get_running_loop()
    channel = js.BroadcastChannel.new(name)
    channel.onmessage = create_proxy(lambda event: loop.call_soon(handle, json.loads(event.data)))
    return channel
