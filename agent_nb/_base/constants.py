"""Shared names. Importing this loads nothing else, so that `%load_ext` stays fast."""

import sys
from typing import Literal

VERSION = "0.1.0"

IN_BROWSER = sys.platform == "emscripten"
"""Whether Python runs in a browser tab, as in JupyterLite: no threads, no sockets, no other process."""

STACKS = ("html", "tailwind", "react", "vue", "bootstrap")
"""Names of `--stack`, each with a prompt of its own."""
APPROVE: tuple[Literal["ask", "auto", "deny"], ...] = ("ask", "auto", "deny")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

MODEL_VARIABLE = "AGENT_NB_MODEL"
"""Default model of cells, unless the cell or `%config` sets one."""
MODE_VARIABLE = "AGENT_NB_MODE"
"""`record`, `replay` or `live`: the default of every cell."""

CHECK_TYPE = "application/vnd.agent-nb.check+json"
"""The media type of a page check in a call's outputs. The bundles after it contain the screenshots."""

NAMES_TYPE = "application/vnd.agent-nb.names+json"
"""The media type of the variables that a `run_python` call changed, in its outputs."""

CHANGE_TYPE = "application/vnd.agent-nb.change+json"
"""The media type of a `CellChange`, in the outputs of the call that offers it."""

INTERACTIVE_TYPE = "application/vnd.agent-nb.interactive+json"
"""Marks output that a library renders in the notebook's page, such as a widget; only its text is shown."""
INTERACTIVE_NOTE = "Interactive output: run the code in a cell of its own to see it."

MIDDLEWARE_METHODS = ("on_request", "before_tool", "after_tool", "on_event")
"""The methods that a middleware object may define."""

DEMO = "demo"
REPLAY = "replay"
ACP = "acp"
"""Outside agents over the Agent Client Protocol."""
DEMO_MODEL = f"{DEMO}:"
"""Full name of the demo, whose single model has no name."""


def vendor_of(name: str) -> str:
    """Return the vendor: `anthropic` for `anthropic:claude-opus-5-5`."""
    return name.partition(":")[0]


def is_demo(name: str) -> bool:
    return name.startswith(DEMO_MODEL)


def is_replay(name: str) -> bool:
    return name.startswith(f"{REPLAY}:")
