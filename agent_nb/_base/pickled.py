"""Pickles of older releases, whose classes had fewer fields."""

from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import Any


def set_state(self: Any, state: Sequence[Any]) -> None:
    """`__setstate__` of a frozen dataclass with slots: fields that the pickle does not have get their defaults."""
    for number, each in enumerate(fields(self)):
        if number < len(state):
            value = state[number]
        else:
            value = each.default if each.default_factory is MISSING else each.default_factory()
        object.__setattr__(self, each.name, value)
