"""Finds the change that a second prompt asks for, and makes it with exact replacements in the page."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from agent_nb.demo.brief import Brief, read_brief, sections_in, shortened
from agent_nb.demo.compose import TITLES, Wish, read_wish, section

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
_TEXT = re.compile(r"[\"“«]([^\"“”«»]+)[\"”»]")


@dataclass(frozen=True, slots=True)
class PageEdit:
    old: str
    new: str
    summary: str
    """What it does, for a list; empty for the other parts of the same change."""


_ROOT = re.compile(r":root\{color-scheme:([\w ]+);--h:(\d+);--c:([\d.]+);")
_TITLE = re.compile(r"<title>([^<]*)</title>", re.I)
_H1 = re.compile(r"<h1[^<>]*>((?:(?!<h1).)*?)</h1>", re.I | re.DOTALL)
_SCRIPT = re.compile(r"<(script|style)\b(?:(?!<\1\b).)*?</\1>", re.I | re.DOTALL)
_NEW_TITLE = re.compile(
    r"(?:\b(?:call|name|rename|retitle)\b(?: (?:it|this|that|the (?:page|site|shop|app|game)|them))?(?: to| as)?"
    r"|\b(?:change|set|make) the (?:title|name)(?: to| be)?|\b(?:new )?(?:title|name)(?: is|:| should be))\s+"
    r"(?:[\"“'‘«](?P<quoted>.+?)[\"”'’»]|(?P<bare>[^,.;\n\"]{2,60}?))(?=\s+(?:and|with|please|instead)\b|[,.;\n]|$)",
    re.I,
)
_NEW_HEADLINE = re.compile(
    r"\b(?:headline|heading|h1)\b(?: text)?(?: to| is|:| should (?:be|say|read)| say)*\s*[\"“'‘«](.+?)[\"”'’»]",
    re.I,
)
_REMOVE = re.compile(r"\b(?:remove|delete|drop|take out|get rid of|without)\b", re.I)
_BIGGER = re.compile(r"\b(?:bigger|larger) (?:text|letters|type|font)|\bincrease the font", re.I)
_SMALLER = re.compile(r"\bsmaller (?:text|letters|type|font)", re.I)
_BODY_SIZE = re.compile(r"font:(\d+)px/1\.6 ")
_LIGHT, _DARK = ("light", "97.5%", "25%", "48%"), ("dark", "18%", "94%", "80%")
"""For pages that the demo model did not write: scheme, and the lightness of paper, ink and accent."""
_ENDS = ("</main>", "<footer", "</body>", "</html>")


def plan_changes(prompt: str, page: str, variant: int = 0) -> list[PageEdit]:
    """Replacements to make one after the other; empty if the page has no place for any."""
    changes: list[PageEdit] = []
    for pointed in pointed_at(prompt):
        changed = changed_element(page, pointed)
        page = _take(changes, [PageEdit(*changed)] if changed else [], page)
    brief = read_brief(without_elements(prompt) if changes else prompt, variant)
    for maker in (_colours, _headline, _title, _removed, _added, _size):
        page = _take(changes, maker(brief, page), page)
    if not changes:
        _take(changes, _other_colour(brief, page), page)
    return changes


def apply_changes(page: str, changes: list[PageEdit]) -> str:
    for change in changes:
        page = page.replace(change.old, change.new, 1)
    return page


def _take(changes: list[PageEdit], made: list[PageEdit], page: str) -> str:
    for change in made:
        if change.old != change.new and page.count(change.old) == 1:
            changes.append(change)
            page = page.replace(change.old, change.new, 1)
    return page


def _colours(brief: Brief, page: str) -> list[PageEdit]:
    wish = read_wish(brief.prompt)
    if not wish.terms:
        return []
    root = _ROOT.search(page)
    if root is None:
        return _foreign_colours(page, wish)
    hue = int(root[2]) if wish.hue is None else wish.hue
    if wish.hue == int(root[2]):
        hue = (hue + 345) % 360  # it has this hue already, so the change must show in another way
    new = f":root{{color-scheme:{wish.scheme or root[1]};--h:{hue};--c:{wish.chroma or root[3]};"
    return [PageEdit(root[0], new, f"Colours: {wish.terms}.")]


def _foreign_colours(page: str, wish: Wish) -> list[PageEdit]:
    """For a page that the demo model did not write: one more style element, at the end of the head."""
    end = next((tag for tag in ("</head>", "</body>", "</html>") if page.count(tag) == 1), None)
    if end is None:
        return []
    hue = 255 if wish.hue is None else wish.hue
    scheme, paper, ink, accent = _DARK if wish.scheme == "dark" else _LIGHT
    style = (
        f"<style>\n:root{{color-scheme:{scheme}}}\n"
        f"body{{background:oklch({paper} .02 {hue});color:oklch({ink} .03 {hue})}}\n"
        f"a,h1,h2{{color:oklch({accent} .13 {hue})}}\n</style>\n{end}"
    )
    return [PageEdit(end, style, f"Colours: {wish.terms}, in an extra style element.")]


def _headline(brief: Brief, page: str) -> list[PageEdit]:
    asked, had = _NEW_HEADLINE.search(brief.prompt), _H1.search(page)
    if not asked or not had:
        return []
    new = had[0].replace(f">{had[1]}<", f">{html.escape(shortened(asked[1], 90))}<")
    return [PageEdit(had[0], new, f"Headline: “{shortened(asked[1], 90)}”.")]


def _title(brief: Brief, page: str) -> list[PageEdit]:
    asked = _NEW_TITLE.search(brief.prompt)
    if not asked:
        return []
    name = shortened((asked["quoted"] or asked["bare"]).strip(), 60)
    title, h1 = _TITLE.search(page), _H1.search(page)
    runs = _runs(page, title[1]) if title and title[1].strip() else []
    pairs = [(run, run.replace(title[1], html.escape(name))) for run in runs if title]
    if len(pairs) < 2 and h1:
        pairs.append((h1[0], h1[0].replace(f">{h1[1]}<", f">{html.escape(name)}<")))
    summary = f"Name: “{name}”."
    return [PageEdit(old, new, "" if i else summary) for i, (old, new) in enumerate(pairs)]


def _runs(page: str, text: str) -> list[str]:
    """The runs of text between tags that contain `text`, each with the tag before it."""
    body = _SCRIPT.sub("", page)
    return [
        found[0] for found in re.finditer(r"<[^<>]+>[^<>]*(?=<)", body) if text in found[0].partition(">")[2]
    ][:8]


def _removed(brief: Brief, page: str) -> list[PageEdit]:
    if not _REMOVE.search(brief.prompt):
        return []
    changes = []
    for name in sections_in(brief.prompt):
        found = re.search(rf'<section [^>]*id="{name}">.*?</section>\n?', page, re.DOTALL)
        if found:
            changes.append(PageEdit(found[0], "", f"Removed: {TITLES[name].lower()}."))
    return changes


def _added(brief: Brief, page: str) -> list[PageEdit]:
    wanted = () if _REMOVE.search(brief.prompt) else sections_in(brief.prompt)
    new = [name for name in wanted if f'id="{name}"' not in page]
    end = next((tag for tag in _ENDS if page.count(tag) == 1), None)
    if not new or end is None:
        return []
    title = _TITLE.search(page)
    name = html.unescape(title[1]) if title else brief.name
    # For the copy, a brief for the page as it is.
    named = replace(read_brief(name), name=name, prompt=brief.prompt, variant=brief.variant)
    made = "\n".join(section(name, named) for name in new)
    listed = ", ".join(TITLES[name].lower() for name in new)
    return [PageEdit(end, f"{made}\n{end}", f"Added: {listed}.")]


def _size(brief: Brief, page: str) -> list[PageEdit]:
    found = _BODY_SIZE.search(page)
    step = 2 if _BIGGER.search(brief.prompt) else -1 if _SMALLER.search(brief.prompt) else 0
    if not found or not step:
        return []
    return [
        PageEdit(
            found[0],
            f"font:{int(found[1]) + step}px/1.6 ",
            "Text: " + ("larger." if step > 0 else "smaller."),
        )
    ]


def _other_colour(brief: Brief, page: str) -> list[PageEdit]:
    """A visible change for a prompt that was not understood."""
    root = _ROOT.search(page)
    if root is None:
        return _foreign_colours(page, read_wish("blue"))
    hue = (int(root[2]) + 140 + 40 * brief.variant) % 360
    new = f":root{{color-scheme:{root[1]};--h:{hue};--c:{root[3]};"
    return [PageEdit(root[0], new, "I did not recognise a change that I can make, so I changed the colour.")]


class Pointed(NamedTuple):
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
    return _POINTED.sub("", prompt)


def changed_element(page: str, pointed: Pointed) -> tuple[str, str, str] | None:
    """The line of the element before and after, and what changed; None if the note is not understood."""
    lines = page.split("\n")
    old = lines[pointed.line - 1] if 0 < pointed.line <= len(lines) else ""
    tag = re.search(rf"<{pointed.tag}\b[^<>]*>", old)
    style = _style(_TEXT.sub("", pointed.note))
    text = _TEXT.search(pointed.note)
    if not tag or not (style or text):
        return None
    opening = _with_style(tag[0], style) if style else tag[0]
    new = old.replace(tag[0], opening, 1)
    if text:
        content = re.compile(rf"({re.escape(opening)})(?:(?!<{pointed.tag}).)*?(</{pointed.tag}>)")
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
    return re.sub(r"(?<!\s)\s*+/?>$", f' style="{style}">', tag)
