"""Names that several rooms share. Importing this loads nothing else, so `%load_ext` can afford it."""

import sys

VERSION = "0.1.0"

IN_BROWSER = sys.platform == "emscripten"
"""Whether Python runs in a browser tab, as in JupyterLite: no threads, no sockets, no other process."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

MODEL_VARIABLE = "AGENT_NB_MODEL"
"""Names the model for cells and `%config` that name none."""
MODE_VARIABLE = "AGENT_NB_MODE"
"""`record`, `replay` or `live`, for every cell that does not choose itself."""

CHECK_TYPE = "application/vnd.agent-nb.check+json"
"""The media type of a page check in the outputs of a call. The bundles after it hold the screenshots."""

NAMES_TYPE = "application/vnd.agent-nb.names+json"
"""The media type of what a call of `run_python` did to names, in the outputs of the call."""

INTERACTIVE_TYPE = "application/vnd.agent-nb.interactive+json"
"""Marks the output of a library that draws in the notebook's page, such as a widget; what is shown is its text."""
INTERACTIVE_NOTE = "Interactive output: run the code in a cell of its own to see it."

MIDDLEWARE_METHODS = ("on_request", "before_tool", "after_tool", "on_event")
"""What a middleware object may have."""


DEMO = "demo"
REPLAY = "replay"
ACP = "acp"
"""Outside agents, by the Agent Client Protocol."""
DEMO_MODEL = f"{DEMO}:"
"""The demo's full name: it has one model, which needs none."""


def vendor_of(name: str) -> str:
    """`anthropic` of `anthropic:claude-opus-5-5`."""
    return name.partition(":")[0]


def is_demo(name: str) -> bool:
    return name.startswith(DEMO_MODEL)


def is_replay(name: str) -> bool:
    return name.startswith(f"{REPLAY}:")
