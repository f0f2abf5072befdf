"""Fills the page templates. Values that are not `Html` are escaped."""

import html
import re
from collections.abc import Iterable

from agent_nb.demo.brief import Brief
from agent_nb.demo.look import FONTS, Look
from agent_nb.demo.texts import template

_SLOT = re.compile(r"\{\{(\w+)\}\}")


class Html(str):
    """Text that is HTML, CSS or a script already, and is not escaped."""

    __slots__ = ()


def fill(text: str, /, **slots: str) -> Html:
    """Fills the `{{slots}}` of a template. Slots inside values are left alone."""

    def value(found: re.Match[str]) -> str:
        slot = slots[found[1]]
        return slot if isinstance(slot, Html) else html.escape(slot, quote=True)

    return Html(_SLOT.sub(value, text))


def joined(items: Iterable[str], between: str = "\n") -> Html:
    return Html(between.join(items))


def spoken(copy: str, brief: Brief) -> str:
    """A line of copy, filled from the brief, not yet escaped."""
    values = {
        "name": brief.name,
        "subject": brief.subject,
        "Subject": brief.subject[:1].upper() + brief.subject[1:],
        "phrase": brief.phrase,
        "in_place": f" {brief.where}" if brief.where else "",
    }
    return _SLOT.sub(lambda found: values[found[1]], copy)


def head(title: str, look: Look) -> Html:
    """The start of every page, up to the middle of its style element."""
    soft_corners = look.font in ("round", "sans")
    return fill(
        template("head.html").strip(),
        title=title,
        scheme=look.scheme,
        hue=str(look.hue),
        chroma=str(look.chroma),
        head_font=Html(FONTS[look.font]),
        body_font=Html(FONTS["serif" if look.font == "serif" else "sans"]),
        weight="600" if look.font == "serif" else "700",
        radius="999px" if look.font == "round" else "10px" if soft_corners else "4px",
        radius_field="10px" if soft_corners else "4px",
        radius_large="20px" if soft_corners else "6px",
    )


def art(name: str) -> Html:
    return Html(template(f"art/{name}.svg").strip())


def note(text: str) -> Html:
    """A line about what a tool found; empty if it found nothing."""
    return fill('<p class="small">{{text}}</p>\n', text=text) if text else Html("")
