"""JSON that was damaged: keys missing, values of other types, numbers out of range, deep nesting."""

import copy
import random
from collections.abc import Iterator
from typing import Any

_DEEP: list[Any] = []
for _ in range(150):
    _DEEP = [_DEEP]
ODD = [
    None,
    True,
    -1,
    2**70,
    1e400,
    float("nan"),
    "x",
    "../../x",
    "\ud800",
    [],
    {},
    [[]],
    {"a": {}},
    3.5,
    _DEEP,
    *("ask", "create_file", "call", "run_finished", "conversation", "end"),
]


def places(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """Where each value stands in a JSON value, from the outside in."""
    yield path
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield from places(item, *path, step)


def mutated(whole: Any, chance: random.Random) -> Any:
    """A copy with one to three values dropped, doubled, swapped, or replaced."""
    damaged = copy.deepcopy(whole)
    for _ in range(chance.choice((1, 1, 2, 3))):
        *path, last = chance.choice([place for place in places(damaged) if place])
        inner = damaged
        for step in path:
            inner = inner[step]
        match chance.choice(("drop", "double", "swap", "replace", "replace", "replace")):
            case "drop":
                del inner[last]
            case "double" if isinstance(inner, list):
                inner.insert(last, copy.deepcopy(inner[last]))
            case "swap" if isinstance(inner, list):
                inner[last - 1], inner[last] = inner[last], inner[last - 1]
            case _:
                inner[last] = copy.deepcopy(chance.choice(ODD))
        if not damaged:
            return damaged
    return damaged
