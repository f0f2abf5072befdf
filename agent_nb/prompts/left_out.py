"""What a model reads in place of the parts of a conversation that were left out."""

import re
from collections.abc import Mapping, Sequence

from agent_nb.prompts import is_built_in

_NOTE = re.compile(
    r"\(contents? of (?:(?!\(contents? of ).){1,2000}? left out(; read (it|them) with [\w-]+)?\)", re.DOTALL
)
_SUMMARY = re.compile(r"Earlier in this conversation there were (\d+) requests, shortened here:")


def content_note(versions: Mapping[str, int | None], reader: str) -> str:
    """Stands for the contents of these files: `(content of index.html, version 3, left out; read it with x)`.

    `reader` is the tool that reads files; empty if there is none. The number of a version may be unknown.
    """
    files = [path if version is None else f"{path}, version {version}," for path, version in versions.items()]
    several = len(files) > 1
    how = f"; read {'them' if several else 'it'} with {reader}" if reader else ""
    return f"(content{'s' if several else ''} of {' and '.join(files)} left out{how})"


def has_note(text: str) -> bool:
    """Whether a text, such as the arguments of a call, has a note in place of a file's content."""
    return "left out" in text and _NOTE.search(text) is not None


def summary_text(requests: int, entries: Sequence[str]) -> str:
    """So many earlier requests in a few words each; every entry is one paragraph."""
    return "\n\n".join(
        (f"Earlier in this conversation there were {requests} requests, shortened here:", *entries)
    )


def summary_entry(prompt: str, files: Sequence[str], answer: str) -> str:
    """One request: what was asked, which files it changed, and the model's last words."""
    lines = [
        f"- Request: {prompt}",
        f"  Files written: {', '.join(files)}" if files else "",
        f"  Your answer: {answer}" if answer else "",
    ]
    return "\n".join(line for line in lines if line)


def summary_entries(text: str) -> list[str] | None:
    """The entries of a summary; None for any other text."""
    return text.split("\n\n")[1:] if _SUMMARY.match(text) else None


def count_requests(text: str) -> int:
    """How many requests of the user a message stands for: none if a run has added it, several if it is a summary."""
    if found := _SUMMARY.match(text):
        return int(found[1])
    return 0 if is_built_in(text) else 1
