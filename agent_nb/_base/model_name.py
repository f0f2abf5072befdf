"""A model's name is `vendor:model`. The names of the vendors that need no server are written here only."""

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
