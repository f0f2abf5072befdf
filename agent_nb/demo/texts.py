"""The texts of the pages folder: templates, and what a bakery, a survey or anything else says about itself."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_PAGES = files(__package__) / "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """A line of business and its copy (`trades.toml`)."""

    key: str
    words: str
    """A pattern that its subjects match; empty for the general one, which is last."""
    art: str
    font: str
    hue: int | None = None
    eyebrow: str
    headline: str
    lede: str
    action: str
    notice: str
    offer: str
    """The heading over `points`."""
    points: list[list[str]]
    menu: list[list[str]]
    hours: list[list[str]]
    caption: str = "Drawn in code, for want of a camera."


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What a form is for (`forms.toml`)."""

    key: str
    words: str
    title: str
    lede: str
    action: str
    fields: list[list[str]]
    """Label, type, and a hint or the options separated by `|`."""


@cache
def template(name: str) -> str:
    """The text of a file of the pages folder."""
    return (_PAGES / name).read_text(encoding="utf-8")


@cache
def trades() -> tuple[Trade, ...]:
    return tuple(Trade(key=key, **entry) for key, entry in tomllib.loads(template("trades.toml")).items())


@cache
def purposes() -> tuple[Purpose, ...]:
    return tuple(Purpose(key=key, **entry) for key, entry in tomllib.loads(template("forms.toml")).items())


def trade_of(subject: str) -> Trade:
    """The first trade a subject belongs to; the last, which has no words, fits all."""
    return next(trade for trade in trades() if _fits(trade.words, subject))


def purpose_of(prompt: str) -> Purpose:
    return next(purpose for purpose in purposes() if _fits(purpose.words, prompt))


def _fits(words: str, text: str) -> bool:
    return not words or re.search(rf"\b(?:{words})\b", text, re.IGNORECASE) is not None
