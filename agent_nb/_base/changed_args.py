"""How the arguments of a call were changed before it ran, in words."""

import json

from agent_nb._base.secrets import mask_json
from agent_nb._base.text import from_difference
from agent_nb._base.wire import Json

MOST_CHARACTERS = 400
BEFORE_CHANGE = 60
"""Characters that are quoted before the first difference of two long texts."""
_MISSING = object()


def changes(before: Json, after: Json) -> str:
    """``` `path` from "a" to "b" and `size` from 3 to nothing ```"""
    names = [name for name in {**before, **after} if before.get(name, _MISSING) != after.get(name, _MISSING)]
    return " and ".join(
        f"`{name}` from {_from_to(_text(before, name), _text(after, name))}" for name in names
    )


def _text(args: Json, name: str) -> str:
    if name not in args:
        return "nothing"
    # Masked before it is cut, because half a key would not be recognised.
    return json.dumps(mask_json(args[name]), ensure_ascii=False, sort_keys=True)


def _from_to(before: str, after: str) -> str:
    if max(len(before), len(after)) > MOST_CHARACTERS:
        before, after = from_difference(before, after, MOST_CHARACTERS, BEFORE_CHANGE)
    return f"{before} to {after}"
