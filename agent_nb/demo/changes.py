"""Finds the changes that a follow-up prompt asks for, as exact replacements in the page."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from agent_nb.demo.brief import Brief, read_brief, sections_in, shortened
from agent_nb.demo.page import TITLES, section
from agent_nb.demo.style import read_colours

STYLES = {
    r"\b(?:larger|bigger|huge)\b": "zoom:1.25",
    r"\b(?:smaller|tiny)\b": "zoom:.8",
    r"\bbold(?:er)?\b": "font-weight:800",
    r"\bitalics?\b": "font-style:italic",
    r"\bcent(?:er|re)d?\b": "text-align:center",
    r"\b(?:hide|hidden|remove|delete)\b": "display:none",
}
"""Words of a note about an element, and their styles."""
_POINTED = re.compile(
    r"the element <(?P<tag>[a-z][\w-]*+)(?:(?!the element <).)*?, line (?P<line>\d+) of `[^`]+`\)"
    r"(?P<more> and (?=the element ))?"
    r"(?:: (?P<note>[^\n]*))?",
    re.DOTALL,
)
_TEXT = re.compile(r"[\"“«]([^\"“”«»]+)[\"”»]")
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
_LIGHT, _DARK = ("97.5%", "25%", "48%"), ("18%", "94%", "80%")
"""For pages not written by the demo model: lightness of paper, ink and accent."""


class PageEdit(NamedTuple):
    old: str
    new: str
    summary: str = ""
    """List item about the change; empty for further parts of the same change."""


class PointedElement(NamedTuple):
    tag: str
    line: int
    note: str


def plan_changes(prompt: str, page: str, variant: int = 0) -> tuple[str, list[PageEdit]]:
    """The changed page, and the replacements in order; none if nothing applies to the page."""
    changes: list[PageEdit] = []

    def add(edits: Iterator[PageEdit]) -> None:
        nonlocal page
        for edit in edits:
            if edit.old != edit.new and page.count(edit.old) == 1:
                changes.append(edit)
                page = page.replace(edit.old, edit.new)

    for element in pointed_at(prompt):
        add(changed_element(page, element))
    brief = read_brief(without_elements(prompt) if changes else prompt, variant)
    for find_edits in (_colours, _texts, _sections, _size):
        add(find_edits(brief, page))
    if not changes:
        add(_colours(brief, page, fallback=True))
    return page, changes


def _colours(brief: Brief, page: str, *, fallback: bool = False) -> Iterator[PageEdit]:
    """The colours that the prompt names; as a fallback, another hue."""
    request, root = read_colours(brief.prompt), _ROOT.search(page)
    if not request.terms and not fallback:
        return
    scheme, old_hue, chroma = root.groups() if root else ("light", "255", "0.13")
    scheme, hue = request.scheme or scheme, int(old_hue) if request.hue is None else request.hue
    if fallback:
        hue = (hue + 140 + 40 * brief.variant) % 360
    elif root and request.hue == int(old_hue):
        hue = (hue + 345) % 360  # the page has this hue already, so shift it to make the change visible
    unknown = "I did not recognise a change that I can make, so I changed the colour."
    summary = unknown if fallback else f"Colours: {request.terms}."
    if root:
        new = f":root{{color-scheme:{scheme};--h:{hue};--c:{request.chroma or chroma};"
        yield PageEdit(root[0], new, summary)
    elif end := _only_tag(page, "</head>", "</body>", "</html>"):  # not a page of the demo model
        paper, ink, accent = _DARK if scheme == "dark" else _LIGHT
        style = (
            f"<style>\n:root{{color-scheme:{scheme}}}\n"
            f"body{{background:oklch({paper} .02 {hue});color:oklch({ink} .03 {hue})}}\n"
            f"a,h1,h2{{color:oklch({accent} .13 {hue})}}\n</style>\n{end}"
        )
        yield PageEdit(end, style, summary)


def _only_tag(page: str, *tags: str) -> str:
    """The first of these tags that the page has exactly once; empty if there is none."""
    return next((tag for tag in tags if page.count(tag) == 1), "")


def _texts(brief: Brief, page: str) -> Iterator[PageEdit]:
    """A new headline, and a new name in the title and wherever else it occurs."""
    heading, title = _H1.search(page), _TITLE.search(page)
    if heading and (request := _NEW_HEADLINE.search(brief.prompt)):
        text = shortened(request[1], 90)
        yield PageEdit(heading[0], _with_text(heading, text), f"Headline: “{text}”.")
    if request := _NEW_TITLE.search(brief.prompt):
        name = shortened((request["quoted"] or request["bare"]).strip(), 60)
        old = title[1] if title and title[1].strip() else "\0"
        nodes = re.findall(r"<[^<>]+>[^<>]*(?=<)", _SCRIPT.sub("", page))
        nodes = [node for node in nodes if old in node.partition(">")[2]][:8]
        pairs = [(node, node.replace(old, html.escape(name))) for node in nodes]
        if len(pairs) < 2 and heading:
            pairs.append((heading[0], _with_text(heading, name)))
        for i, pair in enumerate(pairs):
            yield PageEdit(*pair, "" if i else f"Name: “{name}”.")


def _with_text(element: re.Match[str], text: str) -> str:
    return element[0].replace(f">{element[1]}<", f">{html.escape(text)}<")


def _sections(brief: Brief, page: str) -> Iterator[PageEdit]:
    """Sections to remove or to add. The copy of new ones is written for the current page."""
    names = sections_in(brief.prompt)
    if _REMOVE.search(brief.prompt):
        for name in names:
            if match := re.search(
                rf'<section [^<>]*id="{name}">(?:(?!<section\b).)*?</section>\n?', page, re.DOTALL
            ):
                yield PageEdit(match[0], "", f"Removed: {TITLES[name].lower()}.")
        return
    names = [name for name in names if f'id="{name}"' not in page]
    end = _only_tag(page, "</main>", "<footer", "</body>", "</html>")
    if names and end:
        title = _TITLE.search(page)
        page_name = html.unescape(title[1]) if title else brief.name
        page_brief = replace(
            read_brief(page_name), name=page_name, prompt=brief.prompt, variant=brief.variant
        )
        sections = "\n".join(section(name, page_brief) for name in names)
        titles = ", ".join(TITLES[name].lower() for name in names)
        yield PageEdit(end, f"{sections}\n{end}", f"Added: {titles}.")


def _size(brief: Brief, page: str) -> Iterator[PageEdit]:
    step = 2 if _BIGGER.search(brief.prompt) else -1 if _SMALLER.search(brief.prompt) else 0
    if step and (match := _BODY_SIZE.search(page)):
        word = "larger" if step > 0 else "smaller"
        yield PageEdit(match[0], f"font:{int(match[1]) + step}px/1.6 ", f"Text: {word}.")


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


def changed_element(page: str, element: PointedElement) -> Iterator[PageEdit]:
    """The edit to the element's source line; none if the note was not recognised."""
    lines = ["", *page.split("\n")]
    old = lines[element.line] if element.line < len(lines) else ""
    tag = re.search(rf"<{element.tag}\b[^<>]*>", old)
    text, words = _TEXT.search(element.note), _TEXT.sub("", element.note)
    styles = [style for pattern, style in STYLES.items() if re.search(pattern, words, re.I)]
    if (hue := read_colours(words).hue) is not None:
        styles.append(f"color:oklch(55% .16 {hue})")
    if not tag or not (styles or text):
        return
    opening, style = tag[0], ";".join(styles)
    if attribute := re.search(r'style="([^"]*)', opening) if style else None:
        opening = opening.replace(attribute[0], f"{attribute[0]};{style}", 1)
    elif style:
        opening = re.sub(r"(?<!\s)\s*+/?>$", f' style="{style}">', opening)
    new = old.replace(tag[0], opening, 1)
    if text:
        content = re.compile(rf"({re.escape(opening)})(?:(?!<{element.tag}).)*?(</{element.tag}>)")
        escaped = html.escape(shortened(text[1], 90))
        new = content.sub(lambda match: f"{match[1]}{escaped}{match[2]}", new, count=1)
    yield PageEdit(old, new, f"{element.tag} in line {element.line}: {element.note.strip()}")
