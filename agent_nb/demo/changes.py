"""Finds the changes that a follow-up prompt asks for, as exact replacements in the page."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from agent_nb.demo.brief import Brief, read_brief, sections_in, shortened
from agent_nb.demo.compose import TITLES, ColourRequest, read_colours, section

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
    """List item about the change; empty for further parts of the same change."""


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
"""For pages not written by the demo model: scheme, and the lightness of paper, ink and accent."""
_ENDS = ("</main>", "<footer", "</body>", "</html>")


def plan_changes(prompt: str, page: str, variant: int = 0) -> list[PageEdit]:
    """Replacements to apply in order; empty if none applies to the page."""
    changes: list[PageEdit] = []
    for element in pointed_at(prompt):
        page = _apply_edits(changes, changed_element(page, element), page)
    brief = read_brief(without_elements(prompt) if changes else prompt, variant)
    for find_edits in (_colours, _headline, _title, _removals, _additions, _size):
        page = _apply_edits(changes, find_edits(brief, page), page)
    if not changes:
        _apply_edits(changes, _fallback_colour(brief, page), page)
    return changes


def apply_changes(page: str, changes: list[PageEdit]) -> str:
    for change in changes:
        page = page.replace(change.old, change.new, 1)
    return page


def _apply_edits(changes: list[PageEdit], edits: list[PageEdit], page: str) -> str:
    for change in edits:
        if change.old != change.new and page.count(change.old) == 1:
            changes.append(change)
            page = page.replace(change.old, change.new, 1)
    return page


def _colours(brief: Brief, page: str) -> list[PageEdit]:
    request = read_colours(brief.prompt)
    if not request.terms:
        return []
    root = _ROOT.search(page)
    if root is None:
        return _foreign_colours(page, request)
    hue = int(root[2]) if request.hue is None else request.hue
    if request.hue == int(root[2]):
        hue = (hue + 345) % 360  # the page has this hue already, so shift it to make the change visible
    new = f":root{{color-scheme:{request.scheme or root[1]};--h:{hue};--c:{request.chroma or root[3]};"
    return [PageEdit(root[0], new, f"Colours: {request.terms}.")]


def _foreign_colours(page: str, request: ColourRequest) -> list[PageEdit]:
    """Append a style element to the head of a page not written by the demo model."""
    end = next((tag for tag in ("</head>", "</body>", "</html>") if page.count(tag) == 1), None)
    if end is None:
        return []
    hue = 255 if request.hue is None else request.hue
    scheme, paper, ink, accent = _DARK if request.scheme == "dark" else _LIGHT
    style = (
        f"<style>\n:root{{color-scheme:{scheme}}}\n"
        f"body{{background:oklch({paper} .02 {hue});color:oklch({ink} .03 {hue})}}\n"
        f"a,h1,h2{{color:oklch({accent} .13 {hue})}}\n</style>\n{end}"
    )
    return [PageEdit(end, style, f"Colours: {request.terms}, in an extra style element.")]


def _headline(brief: Brief, page: str) -> list[PageEdit]:
    request, heading = _NEW_HEADLINE.search(brief.prompt), _H1.search(page)
    if not request or not heading:
        return []
    new = heading[0].replace(f">{heading[1]}<", f">{html.escape(shortened(request[1], 90))}<")
    return [PageEdit(heading[0], new, f"Headline: “{shortened(request[1], 90)}”.")]


def _title(brief: Brief, page: str) -> list[PageEdit]:
    request = _NEW_TITLE.search(brief.prompt)
    if not request:
        return []
    name = shortened((request["quoted"] or request["bare"]).strip(), 60)
    title, h1 = _TITLE.search(page), _H1.search(page)
    runs = _runs(page, title[1]) if title and title[1].strip() else []
    pairs = [(run, run.replace(title[1], html.escape(name))) for run in runs if title]
    if len(pairs) < 2 and h1:
        pairs.append((h1[0], h1[0].replace(f">{h1[1]}<", f">{html.escape(name)}<")))
    summary = f"Name: “{name}”."
    return [PageEdit(old, new, "" if i else summary) for i, (old, new) in enumerate(pairs)]


def _runs(page: str, text: str) -> list[str]:
    """The text nodes that contain `text`, each with the tag before it."""
    body = _SCRIPT.sub("", page)
    return [
        match[0] for match in re.finditer(r"<[^<>]+>[^<>]*(?=<)", body) if text in match[0].partition(">")[2]
    ][:8]


def _removals(brief: Brief, page: str) -> list[PageEdit]:
    if not _REMOVE.search(brief.prompt):
        return []
    changes = []
    for name in sections_in(brief.prompt):
        match = re.search(rf'<section [^>]*id="{name}">.*?</section>\n?', page, re.DOTALL)
        if match:
            changes.append(PageEdit(match[0], "", f"Removed: {TITLES[name].lower()}."))
    return changes


def _additions(brief: Brief, page: str) -> list[PageEdit]:
    names = () if _REMOVE.search(brief.prompt) else sections_in(brief.prompt)
    new_names = [name for name in names if f'id="{name}"' not in page]
    end = next((tag for tag in _ENDS if page.count(tag) == 1), None)
    if not new_names or end is None:
        return []
    title = _TITLE.search(page)
    name = html.unescape(title[1]) if title else brief.name
    # The copy is written for the current page.
    page_brief = replace(read_brief(name), name=name, prompt=brief.prompt, variant=brief.variant)
    sections = "\n".join(section(name, page_brief) for name in new_names)
    titles = ", ".join(TITLES[name].lower() for name in new_names)
    return [PageEdit(end, f"{sections}\n{end}", f"Added: {titles}.")]


def _size(brief: Brief, page: str) -> list[PageEdit]:
    match = _BODY_SIZE.search(page)
    step = 2 if _BIGGER.search(brief.prompt) else -1 if _SMALLER.search(brief.prompt) else 0
    if not match or not step:
        return []
    size, word = int(match[1]) + step, "larger" if step > 0 else "smaller"
    return [PageEdit(match[0], f"font:{size}px/1.6 ", f"Text: {word}.")]


def _fallback_colour(brief: Brief, page: str) -> list[PageEdit]:
    """A visible change for a prompt that was not recognised."""
    root = _ROOT.search(page)
    if root is None:
        return _foreign_colours(page, read_colours("blue"))
    hue = (int(root[2]) + 140 + 40 * brief.variant) % 360
    new = f":root{{color-scheme:{root[1]};--h:{hue};--c:{root[3]};"
    return [PageEdit(root[0], new, "I did not recognise a change that I can make, so I changed the colour.")]


class PointedElement(NamedTuple):
    tag: str
    line: int
    note: str


def pointed_at(prompt: str) -> Iterator[PointedElement]:
    """The elements that a prompt describes. Consecutive elements followed by one note share that note."""
    pending: list[tuple[str, int]] = []
    for match in _POINTED.finditer(prompt):
        pending.append((match["tag"], int(match["line"])))
        if not match["more"]:
            yield from (PointedElement(tag, line, match["note"] or "") for tag, line in pending)
            pending = []


def without_elements(prompt: str) -> str:
    return _POINTED.sub("", prompt)


def changed_element(page: str, element: PointedElement) -> list[PageEdit]:
    """The edits to the element's source line; empty if the note was not recognised."""
    lines = page.split("\n")
    old = lines[element.line - 1] if 0 < element.line <= len(lines) else ""
    tag = re.search(rf"<{element.tag}\b[^<>]*>", old)
    style = _style(_TEXT.sub("", element.note))
    text = _TEXT.search(element.note)
    if not tag or not (style or text):
        return []
    opening = _with_style(tag[0], style) if style else tag[0]
    new = old.replace(tag[0], opening, 1)
    if text:
        content = re.compile(rf"({re.escape(opening)})(?:(?!<{element.tag}).)*?(</{element.tag}>)")
        new = content.sub(
            lambda match: f"{match[1]}{html.escape(shortened(text[1], 90))}{match[2]}", new, count=1
        )
    return [PageEdit(old, new, f"{element.tag} in line {element.line}: {element.note.strip()}")]


def _style(note: str) -> str:
    request = read_colours(note)
    styles = [style for word, style in _STYLES if re.search(word, note, re.I)]
    if request.hue is not None:
        styles.append(f"color:oklch(55% .16 {request.hue})")
    return ";".join(styles)


def _with_style(tag: str, style: str) -> str:
    if match := re.search(r'style="([^"]*)', tag):
        return tag.replace(match[0], f"{match[0]};{style}", 1)
    return re.sub(r"(?<!\s)\s*+/?>$", f' style="{style}">', tag)
