"""A plugin for the time of a test."""

from contextlib import contextmanager

from agent_nb import plugins


class Adds(plugins.Plugin):
    def __init__(self, *features):
        self._features = features

    def features(self):
        return self._features


@contextmanager
def plugin_of(*features):
    """Have a plugin that adds these features."""
    plugins.register(Adds(*features), "adds")
    try:
        yield
    finally:
        entry = next(each for each in plugins.plugins() if each.name == "adds")
        plugins._remove(entry)
        plugins.plugins().remove(entry)
