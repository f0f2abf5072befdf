"""Whether a call that the model has written as text is quoted from something that it has read."""

import re
from collections.abc import Iterator, Sequence

from agent_nb.files import Files
from agent_nb.messages import Message, Text, ToolResult

_IGNORED = re.compile(r"""[\s\\"'`{}]+""")
"""White space, and what differs between JSON, JSON in a JSON string, Python and doubled braces."""


def occurs_in(text: str, system: str, messages: Sequence[Message], files: Files) -> bool:
    """Whether the text occurs in the instructions, a question, a tool's result or a file."""
    wanted = _IGNORED.sub("", text)
    return any(wanted in _IGNORED.sub("", read) for read in (system, *_texts(messages), *_contents(files)))


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult) or (isinstance(part, Text) and message.role != "assistant"):
                yield part.text


def _contents(files: Files) -> Iterator[str]:
    for content in files.values():
        yield content if isinstance(content, str) else content.decode("utf-8", "replace")
