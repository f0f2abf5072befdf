"""Loads templates and copy from the pages folder, and fills templates."""

import html
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

_PAGES = files(__package__) / "pages"
SLOT = re.compile(r"\{\{(\w+)\}\}")


class Html(str):
    """HTML, CSS or a script. `fill` escapes all other values."""

    __slots__ = ()


@cache
def template(name: str) -> str:
    return (_PAGES / name).read_text(encoding="utf-8").strip()


@cache
def table(name: str) -> dict[str, Any]:
    return tomllib.loads(template(f"{name}.toml"))


def entry_for(name: str, prompt: str) -> dict[str, Any]:
    """The first entry of a TOML file that matches the beginning of a prompt; the last one always matches."""
    patterns = {key: entry["pattern"] for key, entry in table(name).items()}
    key = next(
        key
        for key, pattern in patterns.items()
        if not pattern or re.search(rf"\b(?:{pattern})\b", prompt[:300], re.I)
    )
    return {"key": key, **table(name)[key]}


def fill(text: str, /, **slots: str) -> Html:
    """Fill the `{{slots}}` of a template. Slots inside values are not filled."""

    def value(match: re.Match[str]) -> str:
        slot = slots[match[1]]
        return slot if isinstance(slot, Html) else html.escape(slot)

    return Html(SLOT.sub(value, text))


def fill_each(text: str, rows: Iterable[Sequence[str]], between: str = "\n") -> Html:
    """Fill a template once per row, whose values are in the order of the slots."""
    names = dict.fromkeys(SLOT.findall(text))
    return Html(between.join(fill(text, **dict(zip(names, row, strict=True))) for row in rows))
