"""What a run leaves behind: the `Run` value, its saved form, and what can be told from it."""

from agent_nb.run.run import Run
from agent_nb.run.saved import load

__all__ = ["Run", "load"]
