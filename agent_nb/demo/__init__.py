"""`demo:`, the offline scripted model: no key, no network, the same answer every time."""

from agent_nb.demo.provider import DemoProvider

__all__ = ["DemoProvider"]
