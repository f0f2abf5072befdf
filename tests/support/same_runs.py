"""Whether two runs are the same, but for their ids and times, and where they part."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agent_nb import Run
from agent_nb.files import unified_diff
from agent_nb.messages import ToolUse

_MOST_LINES = 40
"""Lines of a diff that a message shows."""


def assert_same(one: Run, other: Run) -> None:
    """Raises AssertionError unless both runs have the same prompt, messages, calls, files and end.

    Ids and times may differ.
    """
    found = list(_differences(one, other))
    if found:
        raise AssertionError(f"{one.name} and {other.name} are not the same run.\n" + "\n".join(found))


def _differences(one: Run, other: Run) -> Iterator[str]:
    for name in ("prompt", "model", "reason", "error"):
        before, after = getattr(one, name), getattr(other, name)
        if before != after:
            yield f"{name}: {before!r}, then {after!r}"
    yield from _files(one.files, other.files)
    yield from _text_difference("tool calls", _calls(one.tool_uses), _calls(other.tool_uses))
    yield from _text_difference("messages", _messages(one), _messages(other))


def _files(one: Mapping[str, str | bytes], other: Mapping[str, str | bytes]) -> Iterator[str]:
    for path in sorted({*one, *other}):
        before, after = one.get(path), other.get(path)
        if before == after:
            continue
        if before is None or after is None:
            yield f"file {path}: only in the {'first' if after is None else 'second'}"
        elif isinstance(before, str) and isinstance(after, str):
            yield f"file {path}:\n{_cut(unified_diff(before, after, path))}"
        else:
            yield f"file {path}: {len(before):,} bytes, then {len(after):,}"


def _text_difference(what: str, one: str, other: str) -> Iterator[str]:
    if one != other:
        yield f"{what}:\n{_cut(unified_diff(one, other, what))}"


def _calls(uses: tuple[ToolUse, ...]) -> str:
    lines = []
    for use in uses:
        state = "ok" if use.ok else (use.result.code if use.result and use.result.code else "failed")
        lines.append(f"{use.call.name}({_arguments(use.call.arguments)}): {state}\n")
    return "".join(lines)


def _arguments(written: str) -> str:
    """The arguments as canonical JSON, so that key order and spacing do not matter."""
    try:
        value: Any = json.loads(written)
    except (ValueError, RecursionError):
        return written
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _messages(run: Run) -> str:
    return "".join(f"{message.role}: {message.text}\n" for message in run.messages if message.text)


def _cut(diff: str) -> str:
    lines = diff.rstrip("\n").split("\n")
    if len(lines) <= _MOST_LINES:
        return "\n".join(lines)
    return "\n".join([*lines[:_MOST_LINES], f"({len(lines) - _MOST_LINES} more lines)"])
