"""What watches every run of this process, such as tracing."""

from collections.abc import Callable

from agent_nb.events import Event

Observer = Callable[[Event], None]

OBSERVERS: list[Callable[[], Observer]] = []
"""Each makes an observer for one run, which is called with its events in the task of what they tell about."""
