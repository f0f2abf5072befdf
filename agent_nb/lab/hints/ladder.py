"""The ladder of hints: the next step comes only after a try of one's own.

Where a user stands is stored in a file, so that a restarted kernel goes on from there.
"""

import contextlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_nb._base.atomic import PATIENCE, locked, write_atomically
from agent_nb._base.text import sha256
from agent_nb._base.wire import Json
from agent_nb.lab.hints.allowance import STEPS

MOST_TRIES = 500
"""Tries that are remembered, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a user stands on the ladder with this run."""

    step: str
    number: int
    """Counted from 1."""
    total: int
    is_again: bool = False
    """Whether the step is the same as before because there was no new try."""
    given: frozenset[str] = frozenset()
    """Digests of the lines of code that were given since the last try."""
    tries: tuple[str, ...] = ()
    """Digests of the user's tries."""

    def __str__(self) -> str:
        """The sentence before a run."""
        again = " again" if self.is_again else ""
        return f"Hint {self.number} of {self.total}{again}: {STEPS[self.step]}. {self._next}"

    @property
    def _next(self) -> str:
        if self.is_again:
            what = "the next one comes" if self.number < self.total else "there is more"
            return f"You have run no new code of your own since the last hint; {what} after that."
        if self.number < self.total:
            return "Change and run your own code for the next hint."
        return "This is the last step."


class Ladder:
    """The steps of a lab for one cell, known by the lab file, the notebook and the name of its run."""

    def __init__(self, path: Path, *, lab: Path, notebook: str, steps: Sequence[str]) -> None:
        self._path, self._lab, self._notebook = path, str(lab), notebook
        self._home = path.parent.parent
        self.steps = tuple(steps) or tuple(STEPS)

    def place(self, name: str, sources: Sequence[str]) -> Place:
        """Where the next run of this name stands; `sources` are the user's tries, newest last."""
        last = self._entries().get(name)
        tries = [try_digest(text) for text in sources]
        if last is None:
            return self._at(0, tries=tries)
        known = [*last["tries"], *tries]
        number = self.steps.index(last["step"]) if last["step"] in self.steps else 0
        if set(tries) <= set(last["tries"]):
            return self._at(number, tries=known, is_again=True, given=last["given"])
        return self._at(min(number + 1, len(self.steps) - 1), tries=known)

    def record(self, name: str, place: Place, given: Iterable[str]) -> str:
        """Notes that a hint was given; returns why that could not be written to the file, or an empty string."""
        entry = {"step": place.step, "given": sorted(given), "tries": [*place.tries]}
        try:
            with locked(self._path.with_suffix(".lock"), within=self._home, seconds=PATIENCE):
                content = self._read()
                content.setdefault(self._lab, {}).setdefault(self._notebook, {})[name] = entry
                data = json.dumps(content, indent=1, ensure_ascii=False).encode()
                write_atomically(self._path, data, within=self._home)
        except (OSError, AttributeError) as error:  # a lock that others hold is an OSError, too
            return f"The step of the hints is not saved. {self._path}: {error}."
        return ""

    def steps_so_far(self) -> dict[str, str]:
        """The step of the last hint, by the name of the run: `2 of 3 (pointer)`."""
        entries = self._entries()
        known = {name: entry["step"] for name, entry in entries.items() if entry["step"] in self.steps}
        total = len(self.steps)
        return {name: f"{self.steps.index(step) + 1} of {total} ({step})" for name, step in known.items()}

    def _at(
        self, number: int, *, tries: Iterable[str], is_again: bool = False, given: Iterable[str] = ()
    ) -> Place:
        newest = tuple(dict.fromkeys(tries))[-MOST_TRIES:]
        return Place(
            step=self.steps[number],
            number=number + 1,
            total=len(self.steps),
            is_again=is_again,
            given=frozenset(given),
            tries=newest,
        )

    def _entries(self) -> Json:
        """The last hint of each name. What cannot be read counts as none: the ladder begins at its first step."""
        with contextlib.suppress(OSError, AttributeError):
            found = self._read().get(self._lab, {}).get(self._notebook, {})
            return {name: each for name, each in found.items() if _is_entry(each)}
        return {}

    def _read(self) -> Json:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}


def try_digest(text: str) -> str:
    """Identifies a try. Blank lines, comments and spaces at the ends of lines make no difference."""
    lines = [line.rstrip() for line in text.splitlines()]
    code = "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))
    return sha256(code)[:16]


def _is_entry(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("step"), str)
        and all(
            isinstance(value.get(name), list) and all(isinstance(each, str) for each in value[name])
            for name in ("tries", "given")
        )
    )
