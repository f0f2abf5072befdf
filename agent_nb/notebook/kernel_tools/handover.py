"""What the code of `run_python` gets besides the notebook's names: the run's files, and a way to write one."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from agent_nb.files import Workspace
from agent_nb.files.contents import content_of

ALTERNATIVES = {"agent_files": "_agent_files", "to_file": "_to_file"}
"""The names that the code can use, and those it has to use where the notebook has a variable of that name."""


Shield = Callable[[], AbstractContextManager[None]]
"""Delays interrupts to the end of a block."""


@contextlib.contextmanager
def handed_over(namespace: dict[str, Any], files: Workspace, shield: Shield) -> Iterator[list[str]]:
    """Puts `agent_files` and `to_file` into the namespace for the block; yields a note for each other name."""

    def to_file(path: str, value: Any) -> str:
        """Writes a value to a file of the run, by its suffix: data frames and plain values as JSON, CSV or a
        script, text and bytes as they are, figures as PNG. Returns the path."""
        content = content_of(path, value)
        with shield():
            return files.write(path, content).path

    given = {"agent_files": dict(files.files.items()), "to_file": to_file}
    notes, bound = [], {}
    for usual, value in given.items():
        name = usual if usual not in namespace else ALTERNATIVES[usual]
        if name != usual:
            notes.append(f"`{usual}` is a variable of the notebook: use `{name}` instead.")
        if name not in namespace:
            bound[name] = namespace[name] = value
    try:
        yield notes
    finally:
        for name, value in bound.items():
            if namespace.get(name) is value:
                del namespace[name]
