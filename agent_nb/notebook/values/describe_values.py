"""Describes variables to the model: `{{name}}` and `-w`."""

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, TypeVar

from agent_nb._base.secrets import MASK, beginning, mask, mask_values
from agent_nb._base.text import fenced
from agent_nb._base.threads import off_loop
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.core.events import ENDINGS
from agent_nb.core.limited import UnreadableError, call_within
from agent_nb.engine.description import Description, joined
from agent_nb.engine.handle import Handle
from agent_nb.files import Files, entry_of, human_size
from agent_nb.images.pdf import is_pdf, to_attachment
from agent_nb.notebook.user_variables import is_of
from agent_nb.notebook.values.classes import PICTURES, class_of
from agent_nb.notebook.values.kinds import kind_of
from agent_nb.notebook.values.tables import TableText
from agent_nb.notebook.values.value_masking import MaskedValue, Masks, is_secret
from agent_nb.notebook.values.value_paths import PATH, first_name, lookup, lookup_masked
from agent_nb.pages.find_element import Element
from agent_nb.pages.page_check import ConsoleLine
from agent_nb.run import Run

T = TypeVar("T")
TEXT_LIMIT = 20_000
CELL_LIMIT = 4_000
SECONDS = 30.0
_REFERENCE = re.compile(
    r"(\\?)\{\{\s*(?:cell:\s*(?P<cell>[A-Za-z0-9_-]{1,64})|(?P<path>" + PATH + r"))\s*\}\}"
)
"""A variable, or a cell by its id: the colon is in no path."""


def describe_path(
    path: str,
    namespace: Mapping[str, Any],
    braces: str = "",
    *,
    secrets: Collection[str] | None = None,
    attach: bool = False,
) -> Description:
    """The masked description of the value at a path; raises `ConfigError` if it cannot be read.

    With `attach`, a PDF is attached.
    """

    def read() -> Description:
        value, masked = lookup_masked(path, namespace, braces)
        if attach and is_pdf(value) and not is_secret(path, value):
            document = to_attachment(value, path)
            return Description(f"(PDF `{document.name}`)", images=(document,))
        return describe(path, value, masked)

    description = read_path(path, read)
    text = mask_values(description.text, secrets)
    note = [f"a secret value in `{path}`"] if text != description.text else []
    return replace(description, text=text, masked=(*description.masked, *note))


def read_path(path: str, read: Callable[[], T], seconds: float | None = None) -> T:
    """Call `read` with a timeout; raises `ConfigError` if it fails or takes too long."""
    try:
        return call_within(seconds or SECONDS, read)
    except UnreadableError as problem:
        if isinstance(problem.__cause__, AgentError):
            raise problem.__cause__ from None
        raise ConfigError(f"`{path}` cannot be described: it {problem}.") from None


def describe(name: str, value: Any, masked_before: Sequence[str] = ()) -> Description:
    """The value as text and images, limited in size, with secrets masked."""
    description = _describe(name, value, masked_before)
    text, head = map(mask, (description.text, description.head))
    keys = () if text == description.text else (f"a key in `{name}`",)
    return replace(description, text=text, head=head, masked=(*description.masked, *keys))


def _describe(name: str, value: Any, masked_before: Sequence[str] = ()) -> Description:
    if isinstance(value, MaskedValue) or is_secret(name, value):
        text = value if isinstance(value, MaskedValue) else MASK
        return Description(str(text), masked=(f"`{name}`",))
    if isinstance(value, Run | Handle):
        return _describe_run(name, value)
    if isinstance(value, Files):
        return _describe_files(name, value)
    masks = Masks()
    try:
        content = _content(name, masks.over(value))
    except AgentError:  # an unreadable image
        raise
    except Exception as error:  # a `repr` can raise anything
        raise ConfigError(f"`{name}` cannot be described: {type(error).__name__}: {error}") from None
    text = content.text
    truncated = [f"`{name}` ({TEXT_LIMIT:,} of {len(text):,} characters)"] if len(text) > TEXT_LIMIT else []
    names = masks.names or (masked_before if MASK in text else ())
    return Description(
        limited(text),
        content.images,
        elements=(value,) if isinstance(value, Element) else (),
        masked=tuple(f"`{key}` in `{name}`" for key in names),
        shortened=tuple(truncated),
        tables=(f"`{name}` ({content.shown})",) if content.shown else (),
        head=content.head,
    )


def _content(name: str, value: Any) -> TableText:
    if kind := kind_of(value):
        return kind.describe(value, name)
    if is_of(value, "agent_nb", "Element"):
        return TableText(_element(value))
    if is_of(value, "agent_nb", "ConsoleLine"):
        return TableText(f"the console {value}")
    return TableText(value if is_of(value, "builtins", "str") else repr(value))


def _describe_run(name: str, value: Run | Handle) -> Description:
    """Describe the files of a run, and its text if the files are truncated or there are none."""
    run: Run = finished_run(name, value)
    if not run.files:
        return _describe(name, run.text or f"(a run without files and text: {ENDINGS[run.reason].words})")
    description = _describe_files(name, run.files)
    if not description.shortened or not run.text:
        return description
    return replace(description, text=f"{description.text}\n\n{limited(run.text, CELL_LIMIT)}")


def finished_run(name: str, value: Any) -> Any:
    """The run of a handle; raises `ConfigError` if it is still running. Other values are returned unchanged."""
    if not isinstance(value, Handle):
        return value
    if value.result is None:
        raise ConfigError(f"`{name}` is still running. `await {name}` waits for it.")
    return value.result


def _describe_files(name: str, files: Files) -> Description:
    masks = Masks()
    text, note = _summarize_files(masks.over(files))
    return Description(
        text,
        masked=tuple(f"`{path}` in `{name}`" for path in masks.names),
        shortened=(f"`{name}` ({note})",) if note else (),
    )


def _summarize_files(files: Mapping[str, str | bytes]) -> tuple[str, str]:
    """The text for the model, and a note on what it includes; empty if it includes all text files."""
    texts = {path: content for path, content in files.items() if isinstance(content, str)}
    page = entry_of(texts)
    included, note = texts, ""
    if _length(included) > TEXT_LIMIT:
        included, note = {path: texts[path] for path in (page,) if path}, "its page and a list of its files"
    if _length(included) > TEXT_LIMIT or (note and not included):
        included, note = {}, "a list of its files"
    listing = "\n".join(f"- `{path}`, {_size(content)}" for path, content in files.items())
    blocks = [f"`{path}`:\n{fenced(text, PurePosixPath(path).suffix[1:])}" for path, text in included.items()]
    return "\n\n".join([f"Files:\n{listing}", *blocks]), note


def _length(texts: Mapping[str, str]) -> int:
    return sum(map(len, texts.values()))


def _size(content: str | bytes) -> str:
    return human_size(len(content.encode("utf-8", "replace") if isinstance(content, str) else content))


def expand(
    prompt: str,
    namespace: Mapping[str, Any],
    describe: Callable[..., Description] = describe_path,
    cells: Mapping[str, str] | None = None,
) -> Description:
    """The prompt with each `{{name}}` replaced, and each `{{cell:ID}}` by what `cells` has for the id.

    `\\{{name}}` is an escaped, literal reference.
    """
    parts: list[Description] = []

    def replace(match: re.Match[str]) -> str:
        if match[1]:
            return match[0][1:]
        if match["cell"]:
            return (cells or {}).get(match["cell"], match[0])
        if not first_name(match["path"]):
            return match[0]
        description = describe(match["path"], namespace, braces=match[0])
        parts.append(description)
        return description.text

    return joined(_REFERENCE.sub(replace, prompt), parts)


async def parse_pages(paths: Iterable[str], namespace: Mapping[str, Any]) -> None:
    """Parse the pages whose elements are named, off the event loop, so that describing the elements is fast."""
    for path in paths:
        if ".element(" in path and isinstance(namespace.get(first_name(path)), Run):
            with contextlib.suppress(ConfigError):  # `expand` raises it again
                await off_loop(lookup, path, namespace)


def is_data(value: Any) -> bool:
    """Whether a value is the user's data: not a run, its files or page, nor an image or a PDF."""
    is_of_run = isinstance(value, Run | Handle | Files | Element | ConsoleLine)
    return not (value is None or is_of_run or is_pdf(value) or class_of(value) in PICTURES)


def paths_in(prompt: str, variables: Sequence[str]) -> Iterator[str]:
    """The paths whose values a prompt describes."""
    yield from (match["path"] for match in _REFERENCE.finditer(prompt) if match["path"] and not match[1])
    yield from variables


def cells_in(prompt: str) -> list[str]:
    """The ids of the cells that a prompt refers to, as `{{cell:ID}}`."""
    references = (match["cell"] for match in _REFERENCE.finditer(prompt) if match["cell"] and not match[1])
    return [*dict.fromkeys(references)]


def escaped(text: str) -> str:
    """Escape references, so that `expand` leaves the text unchanged."""
    return _REFERENCE.sub(r"\\\g<0>", text)


def limited(text: str, limit: int = TEXT_LIMIT) -> str:
    if len(text) <= limit:
        return text
    return f"{beginning(text, limit)}\n… ({len(text) - limit:,} more characters)"


def _element(value: Element) -> str:
    tag = value.path.rpartition(" ")[2].partition(":")[0]
    return (
        f"the element {value.html} (`{value.path}`, {tag} {value.place} on the page,"
        f" line {value.line} of `{value.file}`)"
    )
