"""What the runs of this process cost, by model: sums alone, so they stay when the runs are gone.

A run is added when it ends, whoever started it. What is loaded from disk was paid for elsewhere.
"""

import threading
from dataclasses import dataclass, field

from agent_nb.messages import Usage
from agent_nb.run import Run


@dataclass(slots=True)
class ModelCosts:
    """One model's runs, added up. It changes as runs end."""

    runs: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    """US dollars, as far as prices are known."""
    unpriced: int = 0
    """Runs whose price is not known."""
    replays: int = 0
    """Runs that played a cassette: not among `runs`, and free."""
    recorded_cost: float = 0.0
    """What the replayed ones cost when they were recorded."""

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
    """The accounts, by model. Runs may end in several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._accounts: dict[str, ModelCosts] = {}

    def add(self, run: Run) -> None:
        with self._lock:
            self._accounts.setdefault(run.model, ModelCosts()).add(run)

    def accounts(self) -> dict[str, ModelCosts]:
        with self._lock:
            return dict(self._accounts)

    def clear(self) -> None:
        with self._lock:
            self._accounts.clear()


SESSION = SessionCosts()
"""Of this process: in a notebook, of this kernel."""
