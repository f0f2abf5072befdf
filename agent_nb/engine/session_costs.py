"""The cost of all runs of this process, summed by model.

A run is added when it ends, whoever started it. Runs loaded from disk are not counted.
"""

import threading
from dataclasses import dataclass, field

from agent_nb.messages import Usage
from agent_nb.run import Run


@dataclass(slots=True)
class ModelCosts:
    runs: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    unpriced: int = 0
    replays: int = 0
    """Runs that played a cassette, which is free. They are not counted in `runs`."""
    recorded_cost: float = 0.0

    def add(self, run: Run) -> None:
        if run.settings.get("replayed"):
            self.replays += 1
            self.recorded_cost += run.cost or 0.0
            return
        self.runs += 1
        self.usage += run.usage
        self.cost += run.cost or 0.0
        self.unpriced += run.cost is None


class SessionCosts:
    """Costs by model. Runs may be added from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_model: dict[str, ModelCosts] = {}

    def add(self, run: Run) -> None:
        with self._lock:
            self._by_model.setdefault(run.model, ModelCosts()).add(run)

    def by_model(self) -> dict[str, ModelCosts]:
        with self._lock:
            return dict(self._by_model)

    def clear(self) -> None:
        with self._lock:
            self._by_model.clear()


SESSION = SessionCosts()
