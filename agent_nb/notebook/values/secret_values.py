"""Finds the secret values of the user's variables, which are masked in every text that enters a message."""

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from agent_nb._base.secrets import (
    can_be_secret,
    forms_of,
    is_pair_label,
    is_secret_name,
    place_found,
    safe_line,
)
from agent_nb.core.limited import UnreadableError, call_within
from agent_nb.notebook.values.classes import LAZY, class_of
from agent_nb.notebook.values.kinds import has_columns, kind_of
from agent_nb.notebook.values.value_masking import BUILT_IN, DEPTH, PLAIN, Masks, is_secret, stored

SECONDS = 3.0
"""Maximum time for all variables; `SECONDS_EACH` for one, whose own code may block."""
SECONDS_EACH = 1.0
MOST_ITEMS = 20_000
"""Containers and objects to read per variable."""
ENDS = 2_000
"""Items to read at each end of a long container or table."""
MOST_VALUES = 5_000
MAX_LENGTH = 20_000
_NESTED = 4

_remembered: WeakKeyDictionary[Any, dict[str, dict[str, str]]] = WeakKeyDictionary()
"""The values found so far, with their forms and where each was found, by shell: code may delete a variable and then
print its value."""
_from_branches: WeakKeyDictionary[Any, dict[str, dict[str, str]]] = WeakKeyDictionary()
"""The same for values that branches have reported, which must not displace those of the session."""
_blocked: WeakKeyDictionary[Any, set[tuple[str, int]]] = WeakKeyDictionary()
"""Names and ids of the values that took too long. They are not read again."""


class _EnoughError(Exception):
    """The limit of items or of time is reached."""


class Collector(Masks):
    """Collects the values that `Masks` would mask, from a bounded number of items, and copies nothing.

    Its time limit counts processor time: on a busy machine it would otherwise end before it has read a small value.
    """

    def __init__(self, values: dict[str, dict[str, str]], seconds: float = SECONDS_EACH / 2) -> None:
        super().__init__()
        self._variable = ""
        self._values, self._room, self._end = values, MOST_ITEMS, time.thread_time() + seconds

    def read(self, name: str, value: Any) -> None:
        """Collect the secrets of a variable: the texts of a module, the attributes of one of the user's classes."""
        self._variable = name
        if isinstance(value, ModuleType):
            attributes = object.__getattribute__(value, "__dict__")  # a lazy module is not loaded
            self._fields({label: [text] for label, text in attributes.items() if type(text) is str}, 1)
        elif isinstance(value, type):
            self._fields(dict(vars(value)) if value.__module__ == "__main__" else {}, DEPTH)
        else:
            self._item(name, value, DEPTH)

    def note_masked(self, name: Any, item: Any) -> None:
        # A password may be a plain word. In tables, lists and linguistics, such words are seldom secrets.
        or_words = isinstance(item, str | bytes) and not str(name).lower().endswith("token")
        for text in self._texts(item, _NESTED):
            if text in self._values or not can_be_secret(text, or_words=or_words) or len(text) > MAX_LENGTH:
                continue
            if not is_secret_name(text) and not os.path.exists(text):
                self._values[text] = dict.fromkeys(forms_of(text) or {text}, self._place(name))

    def _place(self, name: Any) -> str:
        """Where a value was found: `password`, or `token` in `config`."""
        names = [safe_line(str(one), 40) for one in dict.fromkeys((name, self._variable))]
        return place_found(" in ".join(f"`{one}`" for one in names))

    def _texts(self, value: Any, depth: int) -> Iterator[str]:
        if isinstance(value, str):
            yield from (value, value.partition(" ")[2])  # without a scheme such as `Bearer`
        elif isinstance(value, bytes | bytearray):
            yield value.decode("utf-8", "ignore")
        elif kind_of(value):
            for rows in _parts(value) if _has_rows(value) and "numpy" in sys.modules else ():
                for cell in sys.modules["numpy"].asarray(rows).ravel()[:MOST_ITEMS].tolist():
                    self._over(cell, DEPTH)
                    yield from [cell] if isinstance(cell, str) else ()
        elif depth:
            for item in self._contents(value):
                yield from self._texts(item, depth - 1)

    def _contents(self, value: Any) -> Iterable[Any]:
        if isinstance(value, Mapping):
            return itertools.chain(*(part.values() for part in _parts(value)))
        if isinstance(value, list | tuple | set | frozenset):
            return itertools.chain(*_parts(value))
        self._over(value, DEPTH)
        return [item for label, item in stored(value).items() if is_pair_label(label, 1)]

    def _over(self, value: Any, depth: int) -> Any:
        if type(value) not in PLAIN:
            self._room -= 1
            if self._room < 0 or time.thread_time() > self._end:
                raise _EnoughError
            for part in _parts(value):
                super()._over(part, depth)
        return value

    def _item(self, name: Any, item: Any, depth: int) -> Any:
        if is_secret(name, item):
            self.note_masked(name, item)
        else:
            self._over(item, depth)
        return item

    def _is_table(self, value: Any) -> bool:
        # Attributes of other classes may run code, and a lazy table may read its schema from afar.
        return kind_of(value) is not None and class_of(value) not in LAZY


def user_secrets(shell: Any) -> Mapping[str, str]:
    """The secret values of the user's variables, now and earlier, in all their forms, and where each was found.

    Call it off the loop.
    """
    values, blocked = _remembered.setdefault(shell, {}), _blocked.setdefault(shell, set())
    hidden, end = shell.user_ns_hidden, time.monotonic() + SECONDS
    variables = [
        (name, value)
        for name, value in sorted(shell.user_ns.items(), key=_length, reverse=True)
        if hidden.get(name, hidden) is not value or name == "Out"
    ]
    latest: list[Any] = []

    def read_some() -> None:
        started = time.monotonic()
        while variables and time.monotonic() - started < SECONDS_EACH / 4:
            latest[:] = name, value = variables.pop()
            if (name, id(value)) not in blocked:
                with contextlib.suppress(Exception):  # the value's own code, or too many items
                    Collector(values).read(name, value)

    while variables and time.monotonic() < end:
        try:
            call_within(SECONDS_EACH, read_some)
        except UnreadableError:
            blocked.add((latest[0], id(latest[1])))
    for text in list(values)[:-MOST_VALUES]:
        values.pop(text, None)
    return _forms(_from_branches.get(shell, {}), values)


def remembered() -> set[str]:
    """The values that earlier searches have found."""
    return {*_forms(*_from_branches.values(), *_remembered.values())}


def _forms(*found: dict[str, dict[str, str]]) -> dict[str, str]:
    """The forms of the values, and where each was found."""
    return {
        form: place for values in found for forms in list(values.values()) for form, place in forms.items()
    }


def remember(shell: Any, texts: Iterable[str]) -> None:
    """Add secrets that were found in a branch of this shell, and keep the latest."""
    values = _from_branches.setdefault(shell, {})
    for text in texts:
        if text not in values and can_be_secret(text, or_words=True) and len(text) <= MAX_LENGTH:
            values[text] = dict.fromkeys(forms_of(text) or {text}, "")
    for text in list(values)[:-MOST_VALUES]:
        values.pop(text, None)


def found_in(shell: Any) -> list[str]:
    """The secrets that earlier searches have found in this shell, each in its plain form."""
    return [*_remembered.get(shell, ()), *_from_branches.get(shell, ())]


def _length(item: tuple[str, Any]) -> int:
    """The length of a built-in container: long ones are read last."""
    return len(item[1]) if type(item[1]) in BUILT_IN else 0


def _has_rows(value: Any) -> bool:
    return has_columns(value) and class_of(value) not in LAZY


def _parts(value: Any) -> list[Any]:
    """The value, or the ends of a long container or table."""
    try:
        if (type(value) not in BUILT_IN and not _has_rows(value)) or len(value) <= 2 * ENDS:
            return [value]
    except TypeError:  # a scalar or a picture
        return [value]
    if isinstance(value, dict):
        items = value.items()
        return [dict(itertools.islice(items, ENDS)), dict(itertools.islice(reversed(items), ENDS))]
    if isinstance(value, set | frozenset):
        return [set(itertools.islice(value, ENDS))]
    rows = getattr(value, "iloc", value)
    return [rows[:ENDS], rows[-ENDS:]]
