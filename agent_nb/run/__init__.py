"""`Run`, the result of a run: its saved form, its manifest, its requests, and comparisons."""

from agent_nb.run.run import Run
from agent_nb.run.run_reader import load

__all__ = ["Run", "load"]
