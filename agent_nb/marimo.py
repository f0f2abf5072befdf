"""Runs in marimo notebooks: `run, view = await agent_nb.marimo.agent("A landing page for a bakery", name="hero")`."""

from agent_nb.hosts.marimo.marimo_agent import agent
from agent_nb.hosts.marimo.run_view import RunView

__all__ = ["RunView", "agent"]
