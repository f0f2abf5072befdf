"""`python -m benchmarks.soak [--runs N]`: runs the widget for an hour's worth of work and counts what stays behind.

Exits with 1 if a count grows faster than its bound. Times and memory are only reported.
"""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.quality import write_figures
from benchmarks.soak.lab_runs import soak_in_lab
from benchmarks.soak.mounts import open_and_close
from benchmarks.soak.scrolling import scroll

SCROLLED = 200
"""Finished runs in the notebook that is scrolled."""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=300, help="of every kind together; the default is 300")
    options.add_argument("--outputs", type=int, default=1000, help="opened and closed; the default is 1000")
    chosen = options.parse_args()
    phases: list[Callable[[], tuple[dict[str, Any], list[str]]]] = [
        lambda: open_and_close(chosen.outputs),
        lambda: (scroll(SCROLLED), []),
        lambda: soak_in_lab(chosen.runs),
    ]
    figures: dict[str, Any] = {}
    failures: list[str] = []
    for phase in phases:
        measured, exceeded = phase()
        figures |= measured
        failures += exceeded
        write_figures("soak", {**figures, "exceeded": {"bounds": "; ".join(failures) or "none"}})
    print(json.dumps(figures, indent=2), *failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
