"""Values that are called like secrets: by their variable, their key, their field or their column."""

import copy
import dataclasses
import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from agent_nb._base.secrets import MASK
from agent_nb.notebook.magic.table_masking import holds_text, is_table, mask_table

_KEYS = (
    "access|account|anthropic|api|auth|aws|azure|client|deepseek|encryption|gemini|github|google|groq|hf|license"
    "|master|mistral|openai|openrouter|private|secret|service|session|shared|signing|ssh|storage|stripe"
    "|subscription|webhook"
)
"""Of these a key is a secret; a `sort_key` or a `primary_key` is none."""
_SECRET_NAME = re.compile(
    rf"(?:^|_)(?:(?:{_KEYS})_?keys?|secrets?|token|passwords?|passwd|passphrase|credentials?)$", re.IGNORECASE
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
DEPTH = 8


def is_secret(name: str, value: Any) -> bool:
    """Whether a value has the name of a secret: `api_key`, `config["client-secret"]`, `user.accessToken`."""
    return is_secret_name(name) and holds_text(value)


def is_secret_name(name: str) -> bool:
    words = [word for word in re.findall(r"[^\W_]+", _HUMP.sub("_", name)) if not word.isdigit()]
    return _SECRET_NAME.search("_".join(words)) is not None


class Masks:
    """Gives values with the secrets in them masked, and remembers what these were called. Nothing is changed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def over(self, value: Any, depth: int = DEPTH) -> Any:
        """The value, or a copy; deeper than anybody nests, it is left out."""
        match value:
            case Mapping() | list() | tuple() if depth == 0:
                return "…"
            case Mapping():
                return {key: self._item(str(key), item, depth) for key, item in value.items()}
            case list():
                return [self.over(item, depth - 1) for item in value]
            case tuple() if names := getattr(value, "_fields", None):
                items = zip(names, value, strict=True)
                return type(value)(*(self._item(name, item, depth) for name, item in items))
            case tuple():
                return tuple(self.over(item, depth - 1) for item in value)
            case _ if is_table(value):
                masked, names = mask_table(value, is_secret_name, lambda cell: self.over(cell, depth - 1))
                for name in names:
                    self._remember(name)
                return masked
            case _:
                return self._object(value, depth)

    def _item(self, name: str, item: Any, depth: int) -> Any:
        if not is_secret(name, item):
            return self.over(item, depth - 1)
        self._remember(name)
        return MASK

    def _remember(self, name: str) -> None:
        if name not in self.names:
            self.names.append(name)

    def _object(self, value: Any, depth: int) -> Any:
        """What tells its fields in its own words: a copy of it, so that it still does."""
        names = _fields(value)
        if not names:
            return value
        if depth == 0:
            return "…"
        own = {name: getattr(value, name) for name in names if hasattr(value, name)}
        shown = {name: self._item(name, item, depth) for name, item in own.items()}
        if all(shown[name] is item for name, item in own.items()):
            return value
        copied = copy.copy(value)
        for name, item in shown.items():
            object.__setattr__(copied, name, item)  # also where it is frozen
        return copied


def _fields(value: Any) -> list[str]:
    """The fields of a dataclass, of a pydantic model and of a namespace; of others we know none."""
    if isinstance(value, type):
        return []
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    if isinstance(value, SimpleNamespace):
        return list(vars(value))
    models = getattr(type(value), "model_fields", None)
    return list(models) if isinstance(models, dict) else []
