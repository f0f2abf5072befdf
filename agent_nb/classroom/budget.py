"""Counts the cost of a student's runs in a file shared by all their notebooks."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import PATIENCE, locked, write_atomically
from agent_nb._base.text import sha256
from agent_nb._base.user_file import home_folder
from agent_nb._base.wire import parse_json
from agent_nb.core.errors import ConfigError


def data_folder() -> Path:
    """Return the folder of this user's counters. Not beside the lab file, which a whole class may share."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or home_folder() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_DATA_HOME") or home_folder() / ".local" / "share"
    return Path(base) / "agent_nb" / "labs"


class BudgetCounter:
    def __init__(self, lab: Path) -> None:
        self._lab = lab
        digest = sha256(os.fsencode(lab))[:16]
        try:
            self.path = data_folder() / f"{digest}.json"
        except FileNotFoundError as error:
            raise ConfigError(f"The costs of this lab cannot be counted: {error.strerror}.") from None

    def total(self) -> float:
        """Return the cost of all runs so far, including running ones in any notebook."""
        with self._opened() as costs:
            return sum(costs.values())

    def record(self, run_id: str, cost: float) -> float:
        """Set the current cost of a run and return the total. Costs recorded by a killed kernel remain."""
        with self._opened() as costs:
            costs[run_id] = cost
            content = {"lab": str(self._lab), "costs": costs}
            data = json.dumps(content, indent=1).encode("utf-8", "backslashreplace")
            write_atomically(self.path, data, within=self.path.parent)
            return sum(costs.values())

    @contextlib.contextmanager
    def _opened(self) -> Iterator[dict[str, float]]:
        """Yield the costs under a lock; raises `ConfigError` if they cannot be read or written."""
        try:
            with locked(self.path.with_suffix(".lock"), within=self.path.parent, seconds=PATIENCE):
                yield self._read()
        except TimeoutError:
            raise ConfigError(
                f"Another program has locked {self.path.with_suffix('.lock')}, so the budget is unknown. Try again."
            ) from None
        except OSError as error:
            raise ConfigError(
                f"The costs of this lab cannot be counted in {self.path}: {error.strerror or error}."
            ) from None

    def _read(self) -> dict[str, float]:
        if not self.path.exists():
            return {}
        try:
            costs: Any = parse_json(self.path.read_bytes())["costs"]
            return {str(run_id): float(cost) for run_id, cost in costs.items()}
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ConfigError(
                f"The costs of this lab in {self.path} are damaged. Delete the file to count from 0."
            ) from None
