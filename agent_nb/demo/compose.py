"""Fills the templates of pages and their sections. Values that are not `Html` are escaped."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from agent_nb.demo.brief import Brief
from agent_nb.demo.look import FONTS, Look
from agent_nb.demo.texts import table, template

_SLOT = re.compile(r"\{\{(\w+)\}\}")


class Html(str):
    """Text that is HTML, CSS or a script already, and is not escaped."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """One of the ways to lay out a kind of page, from `layouts.toml`."""

    name: str
    early: Html
    """Styles for the first screen of the page."""
    later: Html
    """Styles for what is below it."""


@cache
def layouts(kind: str) -> tuple[Layout, ...]:
    entries = table("layouts")[kind].items()
    return tuple(
        Layout(name, Html(entry.get("early", "").strip()), Html(entry.get("later", "").strip()))
        for name, entry in entries
    )


def fill(text: str, /, **slots: str) -> Html:
    """Fills the `{{slots}}` of a template. Slots inside values are left alone."""

    def value(found: re.Match[str]) -> str:
        slot = slots[found[1]]
        return slot if isinstance(slot, Html) else html.escape(slot, quote=True)

    return Html(_SLOT.sub(value, text))


def joined(items: Iterable[str], between: str = "\n") -> Html:
    return Html(between.join(items))


def spoken(copy: str, brief: Brief) -> str:
    values = {
        "name": brief.name,
        "subject": brief.subject,
        "Subject": brief.subject[:1].upper() + brief.subject[1:],
        "phrase": brief.phrase,
        "in_place": f" {brief.where}" if brief.where else "",
    }
    return _SLOT.sub(lambda found: values[found[1]], copy)


def head(title: str, look: Look) -> Html:
    """The start of every page, up to the middle of its first style element: what the top of the page needs."""
    return fill(
        template("head.html").strip(),
        title=title,
        scheme=look.scheme,
        hue=str(look.hue),
        chroma=str(look.chroma),
        head_font=head_font(look),
        body_font=Html(FONTS["serif" if look.font == "serif" else "sans"]),
        weight=look.weight,
    )


def rest(look: Look) -> Html:
    """The styles that every page shares, for a style element after the top of the page."""
    soft_corners = look.font in ("round", "sans")
    return fill(
        template("rest.html").strip(),
        radius="999px" if look.font == "round" else "10px" if soft_corners else "3px",
        radius_field="10px" if soft_corners else "3px",
        radius_large="20px" if soft_corners else "4px",
    )


def head_font(look: Look) -> Html:
    """A declaration for headings, where their font is not that of the text."""
    return Html("" if look.font in ("serif", "sans") else f"font-family:{FONTS[look.font]};")


def emphasised(copy: str) -> Html:
    return Html(re.sub(r"\*(.+?)\*", r"<em>\1</em>", html.escape(copy, quote=True)))


def art(name: str, framing: str = "xMidYMid slice") -> Html:
    """A drawing; `framing` is its `preserveAspectRatio`."""
    return Html(
        template(f"art/{name}.svg").strip().replace("<svg ", f'<svg preserveAspectRatio="{framing}" ', 1)
    )


def note(text: str) -> Html:
    """A line about what a tool found; empty if it found nothing."""
    return fill('<p class="small">{{text}}</p>\n', text=text) if text else Html("")


TITLES: dict[str, str] = {name: entry["title"] for name, entry in table("sections").items()}
_PANELS = ("0 0 320 240", "320 0 320 240", "0 240 320 240", "320 240 320 240")


def section(name: str, brief: Brief) -> Html:
    drawing = art(brief.trade.art)
    address = "<p>{{name}} is {{where}}.</p>\n" if brief.where else ""
    body = fill(
        table("sections")[name]["body"].strip(),
        name=brief.name,
        hours=_rows(brief.trade.hours),
        menu=_rows(brief.trade.menu),
        panels=joined(f"<figure>{drawing.replace('0 0 640 480', panel, 1)}</figure>" for panel in _PANELS),
        address=fill(address, name=brief.name, where=brief.where),
    )
    return fill(
        '<section class="row" id="{{id}}">\n<h2>{{title}}</h2>\n<div>\n{{body}}\n</div>\n</section>',
        id=name,
        title=TITLES[name],
        body=body,
    )


def _rows(rows: Sequence[Sequence[str]]) -> Html:
    row = "<tr><td>{{a}}</td><td>{{b}}</td></tr>"
    return fill("<table>\n{{rows}}\n</table>", rows=joined(fill(row, a=a, b=b) for a, b in rows))
