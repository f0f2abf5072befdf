"""The keywords of `Agent` that features add, for type checkers. A test compares them with the declarations."""

from typing import Any, TypedDict


class Keywords(TypedDict, total=False):
    agree: int
    answer: Any
    branch: bool
