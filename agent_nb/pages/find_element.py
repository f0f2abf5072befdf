"""Finds an element of a run's page by CSS selector, parsing the source as a browser would."""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from agent_nb._base.secrets import shortened
from agent_nb.core.errors import ConfigError
from agent_nb.core.event_list import EventList
from agent_nb.core.events import FileChanged, ToolReady, ToolStarted, TurnStarted
from agent_nb.files import Files

HTML_LIMIT = 2_000
MOST_TAGS = 50_000
"""Maximum tags of a page; parsing them takes about a second, and so do ten times as many entities."""
MOST_STEPS = 1_000_000
"""Maximum comparisons of an element with a part of a selector."""
MOST_LEVELS = 40
"""Maximum elements in a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """An element of a page: its position, its HTML, and the turn that wrote it."""

    path: str
    """A selector that matches only this element: `main > h2:nth-of-type(2)`."""
    html: str
    """Its outer HTML, truncated to 2,000 characters."""
    line: int
    """Its first line in the source, from 1."""
    file: str
    place: str
    """Its position among the page's elements with the same tag: `2 of 3`."""
    turn: int | None = None
    """The turn that wrote its first line; None if it was written earlier or by hand."""
    edit: str = ""
    """The title of the tool call that wrote it."""
    files: Files = field(default_factory=Files, repr=False)

    def __str__(self) -> str:
        return f"`{self.path}` ({self.place}), line {self.line} of {self.file}: {self.html}"


def find_element(files: Files, events: EventList, selector: str, file: str | None = None) -> Element:
    path = files.entry if file is None else file
    source = files.get(path) if path else None
    if not path or not isinstance(source, str):
        page = f"page {file!r}" if file else "page"
        raise ConfigError(f"The run has no {page}: {', '.join(files) or 'no files'}.")
    if source.count("<") > MOST_TAGS or source.count("&") > 10 * MOST_TAGS:
        raise ConfigError(
            f"{path!r} has too many tags to find an element in it. Describe the element in words."
        )
    document = _parse_html(source)
    node = _first_match(document, selector, path)
    line = _line_of(node)
    turn, edit = _origin(files, events, path, line)
    alike = document.query(node.name)
    position = next(number for number, other in enumerate(alike, 1) if other is node)
    return Element(
        path=_path_to(node, alike),
        html=shortened(node.to_html(pretty=False), HTML_LIMIT),
        line=line,
        file=path,
        place=f"{position} of {len(alike)}",
        turn=turn,
        edit=edit,
        files=files,
    )


@lru_cache(maxsize=4)
def _parse_html(source: str) -> Any:
    from justhtml import JustHTML  # takes 0.2 s to import

    return JustHTML(source, sanitize=False, track_node_locations=True)


def _first_match(document: Any, selector: str, file: str) -> Any:
    from justhtml import SelectorError
    from justhtml.selector import SelectorLimits, SelectorMatcher, SelectorQueryContext, parse_selector

    shown = shortened(selector, 200)
    matcher = SelectorMatcher(context=SelectorQueryContext(SelectorLimits(max_match_steps=MOST_STEPS)))
    try:
        parsed = parse_selector(selector)
        element = next((node for node in document.query("*") if matcher.matches(node, parsed)), None)
    except SelectorError as error:
        raise ConfigError(f"{shown!r} is not a CSS selector that can be used here: {error}.") from None
    if element is None:
        raise ConfigError(f"There is no element {shown!r} in {file!r}.")
    return element


def _path_to(node: Any, alike: list[Any]) -> str:
    """The shortest selector path that matches only `node` among the elements with its tag. It contains only tag names,
    no page text."""
    path, element, others = "", node, alike
    positions: dict[int, int] = {}
    for _ in range(MOST_LEVELS):
        is_numbered = sum(child.name == element.name for child in element.parent.children) > 1
        position = _position(element, positions)
        step = f"{element.name}:nth-of-type({position})" if is_numbered else element.name
        path = f"{step} > {path}" if path else step
        same_tag = (other for other in others if other is not None and other.name == element.name)
        # Each is replaced by its parent, which the next step is compared with.
        others = [
            other.parent for other in same_tag if not is_numbered or _position(other, positions) == position
        ]
        element = element.parent
        if len(others) == 1 or element.parent is None:
            return path
    raise ConfigError("The element is nested too deeply. Describe it in words.")


def _position(element: Any, positions: dict[int, int]) -> int:
    """The position of an element among its siblings with the same tag. `positions` keeps those of all siblings."""
    if id(element) not in positions:
        counts = Counter[str]()
        for child in element.parent.children:
            counts[child.name] += 1
            positions[id(child)] = counts[child.name]
    return positions[id(element)]


def _line_of(node: Any) -> int:
    while node.origin_line is None and node.children:
        node = node.children[0]
    return node.origin_line or 1


def _origin(files: Files, events: EventList, path: str, line: int) -> tuple[int | None, str]:
    origin_version = _version_of(files, path, line)
    turn, titles = None, dict[str, str]()
    for event in events:
        match event:
            case TurnStarted(step=step):
                turn = step
            case ToolStarted(call_id=call_id, title=title) | ToolReady(call_id=call_id, title=title):
                titles[call_id] = title
            case FileChanged(path=changed, version=number, call_id=call_id):
                if (changed, number) == (path, origin_version):
                    return (turn, titles.get(call_id, "")) if call_id else (None, "")
    return None, ""


def _version_of(files: Files, path: str, line: int) -> int:
    """The version that introduced this line."""
    number = files.version(path)
    newest, *older = reversed(files.versions(path))
    assert isinstance(newest, str)
    line_text = newest.split("\n")[line - 1]
    for version in older:
        if not isinstance(version, str) or line_text not in version.split("\n"):
            break
        number -= 1
    return number
