"""Loads templates and copy from the pages folder."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_PAGES = files(__package__) / "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """A line of business and its copy, from `trades.toml`."""

    key: str
    pattern: str
    """Regular expression for its subjects; empty for the general trade, the last one."""
    art: str
    font: str
    usual: tuple[str, ...] = ("hours",)
    """Default sections of a landing page."""
    hue: int | None = None
    eyebrow: str
    headline: list[str]
    """One per variant, with *emphasis* marked."""
    lede: list[str]
    action: str
    notice: str
    offer: str
    link: str = "Offer"
    """The offer in one word, for the navigation."""
    points: list[list[str]]
    menu: list[list[str]]
    hours: list[list[str]]

    @property
    def is_general(self) -> bool:
        return not self.pattern


@cache
def template(name: str) -> str:
    return (_PAGES / name).read_text(encoding="utf-8")


@cache
def table(name: str) -> dict[str, Any]:
    return tomllib.loads(template(f"{name}.toml"))


@cache
def trades() -> tuple[Trade, ...]:
    return tuple(Trade(key=key, **entry) for key, entry in table("trades").items())


def trade_of(subject: str) -> Trade:
    return next(trade for trade in trades() if _fits(trade.pattern, subject))


def entry_for(name: str, prompt: str) -> dict[str, Any]:
    """The first entry of a TOML file that matches the beginning of a prompt; the last one always matches."""
    return next(entry for entry in table(name).values() if _fits(entry["pattern"], prompt[:300]))


def _fits(pattern: str, text: str) -> bool:
    return not pattern or re.search(rf"\b(?:{pattern})\b", text, re.IGNORECASE) is not None
