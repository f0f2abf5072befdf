"""HTML that is no more than tables and text, written anew: it needs no frame, and no sanitiser removes it.

`js/src/view/transcript/plain-html.ts` does the same for the page; `tests/support/plain_html.json` holds what both do.
"""

import html
import re
from html.parser import HTMLParser

from agent_nb.render.policy import PLAIN_TAGS

_VOID = frozenset({"br", "hr"})
_KNOWN_SHEET = re.compile(r"(?:[^{}]*\.dataframe[^{}]*\{[^{}]*\})*\s*")
"""What the tables of pandas and polars bring along."""
MAX_SHEET = 2_000
"""Characters; in a longer one the pattern would look for too long."""
_KNOWN_STYLE = re.compile(r"\s*(?:text-align:\s*\w+;?)?\s*")


def plain_html(markup: str) -> str | None:
    """The same tables and text, without attributes; None if there is more to it."""
    copy = _Copy()
    copy.feed(markup)
    copy.close()
    copy.end_all()
    return "".join(copy.written) if copy.is_plain else None


class _Copy(HTMLParser):
    """Writes known tags, and ends those that are open, so that nothing around it is ended."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []
        self.is_plain = True
        self._open: list[str] = []
        self._in_sheet = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._in_sheet = tag == "style"
        if self._in_sheet:
            return
        self.is_plain &= tag in PLAIN_TAGS and _KNOWN_STYLE.fullmatch(given.get("style") or "") is not None
        spans = {name: given.get(name) or "" for name in ("colspan", "rowspan")}
        written = "".join(f' {name}="{number}"' for name, number in spans.items() if number.isdecimal())
        self.written.append(f"<{tag}{written}>")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._in_sheet = False
        if tag in self._open:
            while (last := self._open.pop()) != tag:
                self.written.append(f"</{last}>")
            self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._in_sheet:
            self.is_plain &= len(data) <= MAX_SHEET and _KNOWN_SHEET.fullmatch(data) is not None
        else:
            self.written.append(html.escape(data, quote=False))

    def end_all(self) -> None:
        self.written += [f"</{tag}>" for tag in reversed(self._open)]
