"""Built-in functions and modules that all code shares, which code of a model must not replace for good."""

import builtins
import sys
from typing import Any

_BUILTINS = [
    name for name in vars(builtins) if name not in ("input", "_")
]  # ipykernel sets them for each cell
_MODULES = ("asyncio", "threading", "signal")


class SharedState:
    """What they are at one moment, and the way back to it."""

    def __init__(self) -> None:
        self._kept: list[tuple[dict[str, Any], dict[str, Any]]] = [
            (current, {name: current[name] for name in names if name in current})
            for current, names in ((vars(builtins), _BUILTINS), (sys.modules, _MODULES))
        ]

    def put_back(self) -> list[str]:
        """Undoes replacements; returns a sentence about them, if there were any."""
        changed = []
        for current, before in self._kept:
            changed += [f"`{name}`" for name, value in before.items() if current.get(name) is not value]
            current.update(before)
        return [f"It replaced {', '.join(changed)} for all code; that was put back."] if changed else []
