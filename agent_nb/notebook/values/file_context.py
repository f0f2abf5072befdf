"""Describes the files of a run to the model: in full if they are short, else the page and a list."""

from collections.abc import Mapping

from agent_nb.engine.conversation import fenced
from agent_nb.files import human_size
from agent_nb.files.file_paths import entry_of


def summarize_files(files: Mapping[str, str | bytes], limit: int) -> tuple[str, str]:
    """The text for the model, and what of the files it shows; the latter is empty if it shows all text.

    All text files are shown if they have at most `limit` characters together, else the page if it has. Every file
    is listed with its size.
    """
    texts = {path: content for path, content in files.items() if isinstance(content, str)}
    page = entry_of(texts)
    shown, note = texts, ""
    if _length(shown) > limit:
        shown, note = {path: texts[path] for path in (page,) if path}, "its page and a list of its files"
    if _length(shown) > limit or (note and not shown):
        shown, note = {}, "a list of its files"
    listed = "\n".join(f"- `{path}`, {_size(content)}" for path, content in files.items())
    blocks = [f"`{path}`:\n{fenced(text, _language(path))}" for path, text in shown.items()]
    return "\n\n".join([f"Files:\n{listed}", *blocks]), note


def _length(texts: Mapping[str, str]) -> int:
    return sum(map(len, texts.values()))


def _size(content: str | bytes) -> str:
    return human_size(len(content.encode("utf-8", "replace") if isinstance(content, str) else content))


def _language(path: str) -> str:
    return path.rpartition(".")[2] if "." in path else ""
