"""Masks values by name: variables, keys, fields and columns that are called like secrets."""

import copy
import dataclasses
import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from agent_nb._base.secret_names import is_secret_name
from agent_nb._base.secrets import MASK, register
from agent_nb.notebook.values.table_masking import holds_text, is_table, mask_table

DEPTH = 8


def is_secret(name: str, value: Any) -> bool:
    """Whether a value has text to hide and is called like a secret: `api_key`, `config["client-secret"]`."""
    return is_secret_name(name) and holds_text(value)


def mask_environment() -> None:
    """Masks the values of environment variables that are called like secrets, such as `JUPYTERHUB_API_TOKEN`.

    Code that a model runs can print them. The path of an existing file is not a secret.
    """
    for name, value in os.environ.items():
        if is_secret_name(name) and not os.path.exists(value):
            register(value)


class Masks:
    """Makes masked copies of values and collects the names that were masked."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def over(self, value: Any, depth: int = DEPTH) -> Any:
        """The value, or a copy with its secrets masked. Below `depth` levels the content is left out."""
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
        """Objects with known fields. A masked one is a copy of the same class, so that its own `repr` describes it."""
        names = _fields(value)
        if not names:
            return value
        if depth == 0:
            return "…"
        items = {name: getattr(value, name) for name in names if hasattr(value, name)}
        masked = {name: self._item(name, item, depth) for name, item in items.items()}
        if all(masked[name] is item for name, item in items.items()):
            return value
        copied = copy.copy(value)
        for name, item in masked.items():
            object.__setattr__(copied, name, item)  # works for frozen classes too
        return copied


def _fields(value: Any) -> list[str]:
    """The fields of a dataclass, pydantic model or `SimpleNamespace`; other objects have none that we know."""
    if isinstance(value, type):
        return []
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    if isinstance(value, SimpleNamespace):
        return list(vars(value))
    models = getattr(type(value), "model_fields", None)
    return list(models) if isinstance(models, dict) else []
