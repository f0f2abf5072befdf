"""Removes from a page what makes a browser connect to a host although the policy forbids to load from it.

Tags that load a file of a stack get its hash, so that the browser takes no other file from the CDN.

These are hints such as `preconnect`, and frames and refreshes, for which Chromium connects before it asks the policy.
The document in a `srcdoc` would have to be read in the same way, so that is removed too.
`policy.json` lists the known values of their attributes; an attribute with any other value is removed.
`js/src/preview/gate.ts` does the same for a page that is still being written.

Where a tag begins depends on the elements around it, on whether scripts run, and on which parser reads it. So every
place where one of these tags could begin counts, also in comments, scripts and values. A tag is read as HTML reads it.
One that needs more than the common syntax gets a space after its `<`: that makes it text in HTML, and changes nothing
in JavaScript. This takes linear time, as a tag with a `<` outside quotes is not read further.
"""

import re
from typing import NamedTuple

from agent_nb.render.policy import INTEGRITY, KNOWN_VALUES

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
    """The markup without what connects. Adds to `blocked` what somebody may miss, such as the address of a frame."""
    blocked = [] if blocked is None else blocked
    pieces, done, at = [], 0, 0
    while tag := _TAG.search(markup, at):
        at, name = tag.end(), tag[1].lower()
        attributes = _attributes(markup, at)
        if attributes is None:
            pieces += [markup[done : tag.start() + 1], "" if name == "script" else " "]
            done = tag.start() + 1
            continue
        for attribute in attributes:
            source = markup[attribute.start : attribute.end]
            known = _known(name, attribute, source)
            if not known and name != "link" and len(blocked) < _MAX_BLOCKED:
                blocked.append(f"<{name} {source[:_MAX_SHOWN]}>")
            pieces += [markup[done : attribute.start], known]
            done = at = attribute.end
    return "".join((*pieces, markup[done:]))


def _attributes(markup: str, at: int) -> list[_Attribute] | None:
    """The attributes of the tag whose name ends here; None if it has no end, or needs more than the common syntax."""
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
    found = pattern.match(text, at)
    return found.end() if found else at


def _known(tag: str, attribute: _Attribute, source: str) -> str:
    """The attribute as it may stay, without the beginning of another tag in it; empty if it may not."""
    words = KNOWN_VALUES[tag].get(attribute.name)
    if words is not None and not {*_WORD.findall(attribute.value.lower())} <= {*words}:
        return ""
    digest = INTEGRITY.get(attribute.value) if attribute.name in ("src", "href") else None
    hashed = f' integrity="{digest}" crossorigin="anonymous"' if digest else ""
    return _TAG.sub(r"&lt;\1", source) + hashed
