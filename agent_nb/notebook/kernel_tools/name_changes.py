"""Changes that code makes to the notebook's names: detected by identity, undone by name.

Changes inside objects are only reported (`in_place.py`).
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from agent_nb.core.errors import ConfigError
from agent_nb.notebook.kernel_tools.in_place import Snapshot, differences

MOST_CALLS = 20
"""Maximum number of undoable calls; low, because each keeps the objects that it replaced."""

_MISSING = object()


@dataclass(frozen=True, slots=True)
class NameChanges:
    """The names that a call set, changed or deleted, with their objects before and after."""

    namespace: dict[str, Any]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    in_place: Mapping[str, str] = field(default_factory=dict)
    """What changed inside objects that kept their names, such as `+ revenue`."""

    @property
    def added(self) -> list[str]:
        return [name for name in self.after if name not in self.before]

    @property
    def changed(self) -> list[str]:
        return [name for name in self.after if name in self.before]

    @property
    def deleted(self) -> list[str]:
        return [name for name in self.before if name not in self.after]

    def __bool__(self) -> bool:
        """Whether there is something to undo."""
        return bool(self.before or self.after)

    def sentence(self) -> str:
        """`Set df, total; changed x. orders: + revenue.`"""
        parts = [("set", self.added), ("changed", self.changed), ("deleted", self.deleted)]
        text = "; ".join(f"{verb} {', '.join(names)}" for verb, names in parts if names)
        in_place = "; ".join(f"{name}: {change}" for name, change in self.in_place.items())
        return " ".join(f"{part}." for part in (text[:1].upper() + text[1:], in_place) if part)

    def undo(self) -> tuple[str, list[str]]:
        """Restore the names that have not changed since; return a summary and the restored names."""
        names = dict.fromkeys([*self.before, *self.after])
        now = self.namespace
        free = [name for name in names if now.get(name, _MISSING) is self.after.get(name, _MISSING)]
        for name in free:
            if name in self.before:
                now[name] = self.before[name]
            else:
                now.pop(name, None)
        lists = (
            ("Put back", [name for name in free if name in self.before]),
            ("Removed", [name for name in free if name not in self.before]),
            ("Left alone, because they have changed since", [name for name in names if name not in free]),
        )
        sentences = [f"{verb}: {', '.join(changed_names)}." for verb, changed_names in lists if changed_names]
        return " ".join([*sentences, "Changes inside objects cannot be undone."]), free


def changes_between(
    namespace: dict[str, Any],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    objects: Mapping[str, Snapshot] = MappingProxyType({}),
) -> NameChanges:
    """The changes of the names, and of the objects of which there are snapshots."""

    def differing(mapping: Mapping[str, Any], baseline: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in mapping.items() if baseline.get(name, _MISSING) is not value}

    same = {name: after[name] for name in objects if after.get(name, _MISSING) is before[name]}
    return NameChanges(
        namespace, differing(before, after), differing(after, before), differences(objects, same)
    )


class UndoStore:
    """The newest undoable calls, by a token unique across kernels."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, NameChanges] = OrderedDict()

    def add(self, changes: NameChanges) -> str:
        token = uuid4().hex[:12]
        self._calls[token] = changes
        while len(self._calls) > MOST_CALLS:
            self._calls.popitem(last=False)
        return token

    def before(self, token: str) -> Mapping[str, Any]:
        """The objects that the call replaced or deleted, by name; empty if no longer stored."""
        changes = self._calls.get(token)
        return changes.before if changes else {}

    def undo(self, token: str) -> tuple[str, list[str]]:
        changes = self._calls.pop(token, None)
        if changes is None:
            raise ConfigError("This was undone already, or the kernel no longer has the earlier objects.")
        return changes.undo()

    def undo_all(self, tokens: Sequence[str]) -> str:
        """Undo these calls in this order, except those that were undone before; raise `ConfigError` if all were."""
        left = [token for token in tokens if token in self._calls]
        return " ".join(self.undo(token)[0] for token in left or tokens)


undo_store = UndoStore()
