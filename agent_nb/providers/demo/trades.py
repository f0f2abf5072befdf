"""The words of the pages: what a bakery, a bookshop or anything else says about itself (`pages/trades.toml`)."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_PAGES = files(__package__) / "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """A line of business and its copy. `{{name}}`, `{{subject}}` and `{{place}}` in it are filled later."""

    key: str
    words: str
    """A pattern that a subject matches."""
    art: str
    font: str = "sans"
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
    caption: str = "An illustration, drawn in code."


@cache
def template(name: str) -> str:
    """The text of a file of the pages folder."""
    return (_PAGES / name).read_text(encoding="utf-8")


@cache
def trades() -> dict[str, Trade]:
    import tomllib

    return {key: Trade(key=key, **entry) for key, entry in tomllib.loads(template("trades.toml")).items()}


def trade_of(subject: str) -> Trade:
    """The trade a subject belongs to, or the general one."""
    known = trades()
    for trade in known.values():
        if trade.words and re.search(rf"\b(?:{trade.words})\b", subject, re.I):
            return trade
    return known["general"]
