"""Loads the pages folder: templates, and the copy for bakeries, surveys and everything else."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeVar

_PAGES = files(__package__) / "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """A line of business and its copy, from `trades.toml`."""

    key: str
    pattern: str
    """A pattern for its subjects; empty for the general trade, which is the last."""
    art: str
    font: str
    kind: Literal["landing", "event", "portfolio"] = "landing"
    """The kind of its pages if the prompt names none."""
    hue: int | None = None
    eyebrow: str
    headline: list[str]
    """One for each variant, with the *emphasis* marked."""
    lede: list[str]
    action: str
    notice: str
    offer: str
    """The heading over `points`."""
    link: str = "Offer"
    """The same in one word, for the navigation."""
    points: list[list[str]]
    menu: list[list[str]]
    """What it costs."""
    tickets: str = "Tickets"
    """The heading over `menu` on the page of an event."""
    hours: list[list[str]]

    @property
    def is_general(self) -> bool:
        return not self.pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What a form is for, from `forms.toml`."""

    key: str
    pattern: str
    title: str
    lede: list[str]
    """One for each variant."""
    action: str
    fields: list[list[str]]
    """Label, type, and a hint or the choices separated by `|`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dish:
    """A recipe from `recipes.toml`."""

    key: str
    pattern: str
    lede: list[str]
    art: str
    minutes: int
    serves: int
    effort: str
    ingredients: list[list[str]]
    """Name, amount and unit; an empty amount is to taste."""
    steps: list[str]
    tip: str


T = TypeVar("T", Trade, Purpose, Dish)


@cache
def template(name: str) -> str:
    """The text of a file in the pages folder."""
    return (_PAGES / name).read_text(encoding="utf-8")


@cache
def table(name: str) -> dict[str, Any]:
    """The entries of a TOML file in the pages folder."""
    return tomllib.loads(template(f"{name}.toml"))


@cache
def trades() -> tuple[Trade, ...]:
    return tuple(Trade(key=key, **entry) for key, entry in table("trades").items())


@cache
def purposes() -> tuple[Purpose, ...]:
    return tuple(Purpose(key=key, **entry) for key, entry in table("forms").items())


@cache
def dishes() -> tuple[Dish, ...]:
    return tuple(Dish(key=key, **entry) for key, entry in table("recipes").items())


def trade_of(subject: str) -> Trade:
    return _first(trades(), subject)


def purpose_of(prompt: str) -> Purpose:
    return _first(purposes(), prompt)


def dish_of(prompt: str) -> Dish:
    return _first(dishes(), prompt)


def _first(entries: tuple[T, ...], text: str) -> T:
    """The first entry whose pattern is found as whole words; the last one has none and fits everything."""
    return next(
        entry
        for entry in entries
        if not entry.pattern or re.search(rf"\b(?:{entry.pattern})\b", text, re.IGNORECASE)
    )
