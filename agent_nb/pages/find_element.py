"""Finds an element of a run's page by CSS selector, parsing the source as a browser would."""

from functools import lru_cache
from typing import Any

from agent_nb._base.text import shortened
from agent_nb.core.errors import ConfigError
from agent_nb.core.event_list import EventList
from agent_nb.core.events import FileChanged, ToolReady, ToolStarted, TurnStarted
from agent_nb.files import Files
from agent_nb.pages.element_look import Element

HTML_LIMIT = 2_000


def find_element(files: Files, events: EventList, selector: str, file: str | None = None) -> Element:
    path = files.entry if file is None else file
    source = files.get(path) if path else None
    if not path or not isinstance(source, str):
        page = f"page {file!r}" if file else "page"
        raise ConfigError(f"The run has no {page}: {', '.join(files) or 'no files'}.")
    document = _parse_html(source)
    node = _query(document, selector, path)
    line = _line_of(node)
    turn, edit = _origin(files, events, path, line)
    alike = document.query(node.name)
    return Element(
        path=_path_to(document, node),
        html=shortened(node.to_html(pretty=False), HTML_LIMIT),
        line=line,
        file=path,
        place=f"{_index(alike, node)} of {len(alike)}",
        turn=turn,
        edit=edit,
        files=files,
    )


@lru_cache(maxsize=4)
def _parse_html(source: str) -> Any:
    from justhtml import JustHTML  # takes 0.2 s to import

    return JustHTML(source, sanitize=False, track_node_locations=True)


def _query(document: Any, selector: str, file: str) -> Any:
    from justhtml import SelectorError

    try:
        element = document.query_one(selector)
    except SelectorError as error:
        raise ConfigError(f"{selector!r} is not a CSS selector: {error}.") from None
    if element is None:
        raise ConfigError(f"There is no element {selector!r} in {file!r}.")
    return element


def _path_to(document: Any, node: Any) -> str:
    """The shortest unique selector path to the element. It contains only tag names, no page text."""
    path, element = "", node
    while element.parent is not None:
        step = element.name
        siblings = [child for child in element.parent.children if child.name == element.name]
        if len(siblings) > 1:
            step += f":nth-of-type({_index(siblings, element)})"
        path = f"{step} > {path}" if path else step
        if len(document.query(path)) == 1:
            break
        element = element.parent
    return path


def _index(nodes: list[Any], target: Any) -> int:
    return next(number for number, node in enumerate(nodes, 1) if node is target)


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
