"""Removes markup that makes a browser connect to a host even though the policy forbids loading from it.

This applies to hints such as `preconnect`, and to frames and refreshes, for which Chromium connects before it checks
the policy. A `srcdoc` document would need the same treatment, so it is removed too.
`policy.json` lists the known attribute values of these tags; an attribute with any other value is removed.
Tags that load a file of a stack get its hash, so that the browser rejects any other file from the CDN.

The front end does the same for a page that is still being written.

Where a tag begins depends on the elements around it, on whether scripts run, and on the parser. So every position where
one of these tags could begin is checked, also in comments, scripts and values. Tags are parsed as in HTML. A tag with
uncommon syntax gets a space after its `<`, which makes it text in HTML and is harmless in JavaScript. This takes linear
time, because a tag with a `<` outside quotes is not parsed further.
"""

import re
from typing import NamedTuple

from agent_nb.pages.policy import INTEGRITY, KNOWN_VALUES

_TAG = re.compile(rf"<({'|'.join(KNOWN_VALUES)})(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII)
_SPACE = re.compile(r"[\t\n\f\r ]*")
_BETWEEN = re.compile(r"[\t\n\f\r /]*")
_NAME = re.compile(r"[^\t\n\f\r \"'<>/=\0]*")
_BARE = re.compile(r"(?:[^\t\n\f\r \"'<>\0/]|/(?!>))*")
_WORD = re.compile(r"[^\t\n\f\r ]+")
_MAX_BLOCKED = 50
_MAX_SHOWN = 200


class _Attribute(NamedTuple):
    name: str
    value: str
    start: int
    end: int


def gated(markup: str, blocked: list[str] | None = None) -> str:
    """Remove tags that connect. Appends to `blocked` what users may miss, such as the URL of a frame."""
    blocked = [] if blocked is None else blocked
    pieces, copied, at = [], 0, 0
    while tag := _TAG.search(markup, at):
        at, name = tag.end(), tag[1].lower()
        attributes = _attributes(markup, at)
        if attributes is None:
            pieces += [markup[copied : tag.start() + 1], "" if name == "script" else " "]
            copied = tag.start() + 1
            continue
        for attribute in attributes:
            source = markup[attribute.start : attribute.end]
            allowed = _known(name, attribute, source)
            if not allowed and name != "link" and len(blocked) < _MAX_BLOCKED:
                blocked.append(f"<{name} {source[:_MAX_SHOWN]}>")
            pieces += [markup[copied : attribute.start], allowed]
            copied = at = attribute.end
    return "".join((*pieces, markup[copied:]))


def _attributes(markup: str, at: int) -> list[_Attribute] | None:
    """Return the attributes of the tag whose name ends at `at`; None if it is unclosed or has uncommon syntax."""
    attributes: list[_Attribute] = []
    while not markup.startswith(">", start := _end(_BETWEEN, markup, at)):
        attribute = _attribute(markup, start)
        if attribute is None:
            return None
        attributes.append(attribute)
        at = attribute.end
    return attributes


def _attribute(markup: str, start: int) -> _Attribute | None:
    name_end = _end(_NAME, markup, start)
    equals = _end(_SPACE, markup, name_end)
    name = markup[start:name_end].lower()
    if not name:
        return None
    if not markup.startswith("=", equals):
        return _Attribute(name, "", start, name_end)
    begin = _end(_SPACE, markup, equals + 1)
    quote = markup[begin] if markup.startswith(('"', "'"), begin) else ""
    end = markup.find(quote, begin + 1) + 1 if quote else _end(_BARE, markup, begin)
    if end <= begin:
        return None
    return _Attribute(name, markup[begin + len(quote) : end - len(quote)], start, end)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _known(tag: str, attribute: _Attribute, source: str) -> str:
    """Return the attribute if it is allowed, without the beginning of another tag in it; empty otherwise."""
    words = KNOWN_VALUES[tag].get(attribute.name)
    if words is not None and not {*_WORD.findall(attribute.value.lower())} <= {*words}:
        return ""
    digest = INTEGRITY.get(attribute.value) if attribute.name in ("src", "href") else None
    hashed = f' integrity="{digest}" crossorigin="anonymous"' if digest else ""
    return _TAG.sub(r"&lt;\1", source) + hashed
