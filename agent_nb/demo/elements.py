"""Changes to single elements that a prompt points at, as `{{hero.element("h1")}}: larger` describes them."""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from agent_nb.demo.brief import shortened
from agent_nb.demo.colours import read_wish

_POINTED = re.compile(
    r"the element <(?P<tag>[a-z][\w-]*).*?, line (?P<line>\d+) of `[^`]+`\)(?P<more> and (?=the element ))?"
    r"(?:: (?P<note>[^\n]*))?",
    re.DOTALL,
)
_STYLES = (
    (r"\b(?:larger|bigger|huge)\b", "zoom:1.25"),
    (r"\b(?:smaller|tiny)\b", "zoom:.8"),
    (r"\bbold(?:er)?\b", "font-weight:800"),
    (r"\bitalics?\b", "font-style:italic"),
    (r"\bcent(?:er|re)d?\b", "text-align:center"),
    (r"\b(?:hide|hidden|remove|delete)\b", "display:none"),
)
_TEXT = re.compile(r"[\"“«](.+?)[\"”»]")


class Pointed(NamedTuple):
    """An element in the source, and what should become of it."""

    tag: str
    line: int
    note: str


def pointed_at(prompt: str) -> Iterator[Pointed]:
    """The elements that a prompt describes. Of several before one note, each gets it."""
    waiting: list[tuple[str, int]] = []
    for found in _POINTED.finditer(prompt):
        waiting.append((found["tag"], int(found["line"])))
        if not found["more"]:
            yield from (Pointed(tag, line, found["note"] or "") for tag, line in waiting)
            waiting = []


def without_elements(prompt: str) -> str:
    """The prompt without the elements and the notes on them."""
    return _POINTED.sub("", prompt)


def changed_element(page: str, pointed: Pointed) -> tuple[str, str, str] | None:
    """The line of the element before and after, and what changed; None if the note is not understood."""
    lines = page.split("\n")
    old = lines[pointed.line - 1] if 0 < pointed.line <= len(lines) else ""
    tag = re.search(rf"<{pointed.tag}\b[^>]*>", old)
    style = _style(_TEXT.sub("", pointed.note))
    text = _TEXT.search(pointed.note)
    if not tag or not (style or text):
        return None
    opening = _with_style(tag[0], style) if style else tag[0]
    new = old.replace(tag[0], opening, 1)
    if text:
        content = re.compile(rf"({re.escape(opening)}).*?(</{pointed.tag}>)")
        new = content.sub(
            lambda found: f"{found[1]}{html.escape(shortened(text[1], 90))}{found[2]}", new, count=1
        )
    return (old, new, f"{pointed.tag} in line {pointed.line}: {pointed.note.strip()}") if new != old else None


def _style(note: str) -> str:
    wish = read_wish(note)
    styles = [style for word, style in _STYLES if re.search(word, note, re.I)]
    if wish.hue is not None:
        styles.append(f"color:oklch(55% .16 {wish.hue})")
    return ";".join(styles)


def _with_style(tag: str, style: str) -> str:
    if found := re.search(r'style="([^"]*)', tag):
        return tag.replace(found[0], f"{found[0]};{style}", 1)
    return re.sub(r"\s*/?>$", f' style="{style}">', tag)
