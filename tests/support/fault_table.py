"""The table of `make test-faults`: what was run and how it ended, printed and written as JSON."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from benchmarks.quality import write_figures

COLUMNS = ("runs", "recovered", "failed_cleanly", "other_answer", "violations")
"""`other_answer` counts faults that turn an answer into another valid one, which no client can notice."""


@dataclass
class Table:
    """Counts by what was broken and how."""

    rows: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    """Further facts, such as the moments at which kernels were killed."""

    def add(self, where: str, fault: str, outcome: str) -> None:
        counts = self.rows.setdefault((where, fault), Counter())
        counts["runs"] += 1
        counts[outcome] += 1

    def take(self) -> dict[str, Any]:
        """Empties the table; returns what it held as plain values, which can be sent to another process."""
        rows = [[where, fault, dict(counts)] for (where, fault), counts in self.rows.items()]
        taken = {"rows": rows, "figures": self.figures}
        self.rows, self.figures = {}, {}
        return taken

    def merge(self, taken: dict[str, Any]) -> None:
        """Adds what was taken from another table."""
        for where, fault, counts in taken["rows"]:
            self.rows.setdefault((where, fault), Counter()).update(counts)
        self.rows = dict(sorted(self.rows.items()))
        self.figures |= taken["figures"]

    @property
    def lines(self) -> list[str]:
        head = f"{'where':<18}{'fault':<20}" + "".join(f"{name.replace('_', ' '):>16}" for name in COLUMNS)
        rows = [
            f"{where:<18}{fault:<20}" + "".join(f"{counts[name]:>16}" for name in COLUMNS)
            for (where, fault), counts in self.rows.items()
        ]
        total: Counter[str] = sum(self.rows.values(), Counter())
        return [head, *rows, f"{'total':<38}" + "".join(f"{total[name]:>16}" for name in COLUMNS)]

    def write(self) -> None:
        rows = [
            {"where": where, "fault": fault, **{name: counts[name] for name in COLUMNS}}
            for (where, fault), counts in self.rows.items()
        ]
        write_figures("faults", {"runs": rows, **self.figures})


TABLE = Table()
"""What the test that is running has found."""
