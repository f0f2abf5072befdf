"""Fills the page templates from a brief."""

import html
import re
from collections.abc import Iterable

from agent_nb.providers.demo.brief import Brief
from agent_nb.providers.demo.trades import template
from agent_nb.providers.demo.look import FONTS, Look

_SLOT = re.compile(r"\{\{(\w+)\}\}")


class Html(str):
    """Text that is HTML already; everything else is escaped on its way into a page."""

    __slots__ = ()


def fill(text: str, /, **slots: str) -> Html:
    """The template with its `{{slots}}` filled, in one pass: a value is never looked into."""

    def value(found: re.Match[str]) -> str:
        slot = slots[found[1]]
        return slot if isinstance(slot, Html) else html.escape(slot, quote=True)

    return Html(_SLOT.sub(value, text))


def joined(items: Iterable[str], between: str = "\n") -> Html:
    return Html(between.join(items))


def spoken(copy: str, brief: Brief) -> str:
    """A line of copy with the brief's words in it, not yet escaped."""
    subject = brief.subject
    words = {
        "name": brief.name,
        "subject": subject,
        "Subject": subject[:1].upper() + subject[1:],
        "place": brief.place,
        "in_place": f" in {brief.place}" if brief.place else "",
    }
    return _SLOT.sub(lambda found: words[found[1]], copy)


def base_css(look: Look) -> Html:
    heading = FONTS[look.font]
    round_corners = look.font in ("round", "sans")
    return fill(
        template("base.css").strip(),
        scheme=look.scheme,
        hue=str(look.hue),
        chroma=str(look.chroma),
        head_font=Html(heading),
        body_font=Html(FONTS["sans"] if look.font != "serif" else FONTS["serif"]),
        weight="600" if look.font == "serif" else "700",
        radius="999px" if look.font == "round" else "10px" if round_corners else "4px",
        radius_large="20px" if round_corners else "6px",
    )


def art(name: str) -> Html:
    return Html(template(f"art/{name}.svg").strip())
