"""Outputs of tools in forms that load nothing: tables and text written anew, Markdown, and images as data."""

import base64
import html
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from typing import Required, TypedDict

from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.secrets import safe_text
from agent_nb._base.wire import from_wire
from agent_nb.core.events import MimeBundle
from agent_nb.files.notebook_cells import text_of
from agent_nb.pages.page_check import checks_in
from agent_nb.pages.policy import PLAIN_TAGS
from agent_nb.render.safe_markdown import rebuilt

SVG = "image/svg+xml"
IMAGES = ("image/png", "image/jpeg", "image/webp", "image/gif", SVG)
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
_VOID = frozenset({"br", "hr"})
_RAW = frozenset({"style", "script"})
MOST_NESTED = 200
"""Maximum open elements; each closing tag searches them."""
_KNOWN_SHEET = re.compile(r"(?:(?:(?!\.dataframe)[^{}])*\.dataframe[^{}]*\{[^{}]*\})*\s*")
"""The style sheets in tables of pandas and polars."""
MAX_SHEET = 2_000
"""Maximum characters; on longer sheets the pattern is too slow."""
_KNOWN_STYLE = re.compile(r"\s*+(?:text-align:\s*+\w++;?)?\s*+")


class _Names(TypedDict, total=False):
    """The data of `NAMES_TYPE`, which `run_python` writes: the names that its code set, and the code as a cell."""

    bound: Required[tuple[str, ...]]
    changed: Required[tuple[str, ...]]
    deleted: Required[tuple[str, ...]]
    code: Required[str]
    in_place: Mapping[str, str]
    notes: tuple[str, ...]
    renamed: tuple[str, ...]
    kinds: Mapping[str, str]
    line: int
    undo: str


def check_outputs(outputs: Sequence[MimeBundle]) -> None:
    """Raise `WireError` if the data of our own types is damaged: what shows a run relies on its form."""
    for bundle in outputs:
        if NAMES_TYPE in bundle:
            from_wire(_Names, bundle[NAMES_TYPE])
    checks_in(outputs)


def safe_output(bundle: MimeBundle) -> dict[str, str]:
    """Return the MIME data of a notebook output that loads nothing when it is shown, trusted or not; texts are masked.

    An SVG image becomes an HTML image: some viewers insert its markup into the page.
    """
    texts = {kind: text_of(content) for kind, content in bundle.items()}
    images = {kind: image_data(kind, texts[kind]) for kind in IMAGES if kind in texts}
    picture = images.pop(SVG, "")
    image = f'<img alt="image" src="data:{SVG};base64,{picture}">' if picture else ""
    data = {
        "text/plain": texts.get("text/plain", ""),
        "text/html": "" if image else _reduced_html(texts.get("text/html", "")),
        "text/markdown": rebuilt(texts.get("text/markdown", "")),
    }
    masked: dict[str, str] = {kind: safe_text(content) for kind, content in data.items()}
    masked |= {"text/html": image or masked["text/html"], **images}
    return {kind: content for kind, content in masked.items() if content}


def image_data(kind: str, content: str) -> str:
    """Return the base64 data of an image; empty if it cannot be read."""
    if kind == SVG and content.lstrip().startswith("<"):
        return base64.b64encode(safe_text(content).encode("utf-8", "replace")).decode()
    return "".join(content.split()) if _BASE64.fullmatch(content) else ""


def plain_html(markup: str) -> str | None:
    """Return the tables and text without attributes; None if the markup contains anything else."""
    copy = _copy(markup)
    return "".join(copy.written) if copy.is_plain else None


def _reduced_html(markup: str) -> str:
    """Return the tables and text without attributes or anything else; empty if there is no text."""
    written = _copy(markup).written
    has_text = any(piece.strip() and not piece.startswith("<") for piece in written)
    return "".join(written) if has_text else ""


def _copy(markup: str) -> "_PlainCopy":
    copy = _PlainCopy()
    copy.feed(markup)
    copy.close()
    copy.end_all()
    return copy


class _PlainCopy(HTMLParser):
    """Copies known tags and closes open ones, so that it cannot close elements around it."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []
        self.is_plain = True
        self._open: list[str] = []
        self._raw = ""
        """The style sheet or script whose text follows."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._raw = tag if tag in _RAW else ""
        if tag == "style":
            return
        is_known = tag in PLAIN_TAGS and len(self._open) < MOST_NESTED
        self.is_plain &= is_known and _KNOWN_STYLE.fullmatch(values.get("style") or "") is not None
        if not is_known:
            return
        spans = {name: values.get(name) or "" for name in ("colspan", "rowspan")}
        attributes = "".join(f' {name}="{number}"' for name, number in spans.items() if number.isdecimal())
        self.written.append(f"<{tag}{attributes}>")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""
        if tag in self._open:
            while (open_tag := self._open.pop()) != tag:
                self.written.append(f"</{open_tag}>")
            self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._raw == "style":
            self.is_plain &= len(data) <= MAX_SHEET and _KNOWN_SHEET.fullmatch(data) is not None
        elif not self._raw:
            self.written.append(html.escape(data, quote=False))

    def end_all(self) -> None:
        self.written += [f"</{tag}>" for tag in reversed(self._open)]
