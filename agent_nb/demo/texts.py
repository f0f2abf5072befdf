"""Loads the pages folder: templates, and the copy for bakeries, surveys and everything else."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_PAGES = files(__package__) / "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """A line of business and its copy, from `trades.toml`."""

    key: str
    pattern: str
    """A pattern for its subjects; empty for the general trade, which is the last."""
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

    @property
    def is_general(self) -> bool:
        return not self.pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What a form is for, from `forms.toml`."""

    key: str
    pattern: str
    title: str
    lede: str
    action: str
    fields: list[list[str]]
    """Label, type, and a hint or the choices separated by `|`."""


@cache
def template(name: str) -> str:
    """The text of a file in the pages folder."""
    return (_PAGES / name).read_text(encoding="utf-8")


@cache
def trades() -> tuple[Trade, ...]:
    return tuple(Trade(key=key, **entry) for key, entry in tomllib.loads(template("trades.toml")).items())


@cache
def purposes() -> tuple[Purpose, ...]:
    return tuple(Purpose(key=key, **entry) for key, entry in tomllib.loads(template("forms.toml")).items())


def trade_of(subject: str) -> Trade:
    """The first trade that fits the subject; the last one fits everything."""
    return next(trade for trade in trades() if _fits(trade.pattern, subject))


def purpose_of(prompt: str) -> Purpose:
    return next(purpose for purpose in purposes() if _fits(purpose.pattern, prompt))


def _fits(pattern: str, text: str) -> bool:
    return not pattern or re.search(rf"\b(?:{pattern})\b", text, re.IGNORECASE) is not None
