"""Finds the cassettes of a prompt in a folder, by the first lines of each file."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

from agent_nb.cassette.matching import same_text

MOST_FILES = 500
MOST_BYTES = 1_000_000
"""Of a line that is read."""


def cassettes_for(prompt: str, folder: Path) -> Iterator[Path]:
    """The cassettes in a folder that were recorded for this prompt, by name. Whether they fit is not checked."""
    try:
        files = sorted(itertools.islice(folder.glob("*.jsonl"), MOST_FILES))
    except OSError:
        return
    for file in files:
        recorded = _prompt_of(file)
        if recorded is not None and same_text(recorded, prompt):
            yield file


def _prompt_of(file: Path) -> str | None:
    """The prompt of a cassette; None if the file is none."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            stream.readline(MOST_BYTES)
            prompt = json.loads(stream.readline(MOST_BYTES))["yours"]["prompt"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return prompt if isinstance(prompt, str) else None
