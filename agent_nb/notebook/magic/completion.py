"""Tab completion in `%%agent` cells and on `%agent` lines, which are not Python.

`candidates.py` provides the values; this module detects what the cursor is on.
"""

import re
from collections.abc import Sequence
from typing import Any

from agent_nb.core.options import OPTIONS
from agent_nb.notebook.ipython7 import SimpleCompletion
from agent_nb.notebook.magic.candidates import Candidate, brief, of_option, runs, variables, variants
from agent_nb.notebook.magic.commands import all_commands
from agent_nb.notebook.parsing import option_of
from agent_nb.notebook.session import Session

_WORD = re.compile(r"""(?:[^\s"']+|"[^"]*(?:"|$)|'[^']*(?:'|$))+|(?<=\s)$""")
"""A word of the line. A quoted string is one word; after a trailing space the last word is empty."""
_BRACES = re.compile(r"(?<!\\)\{\{\s*([^{}]*)$")
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
"""JupyterLab wraps the help text at ordinary spaces, and the lines overlap."""
CompletionContext = tuple[str, Sequence[Candidate]]
"""The text to replace, and the candidates."""


class _Nothing(list[Any]):
    """No completions. IPython suppresses its own completions only if this list has a non-zero length."""

    def __len__(self) -> int:
        return 1


def complete(session: Session, context: Any) -> dict[str, Any]:
    """The result of an IPython matcher (API version 2)."""
    place = _find(session, context)
    if place is None:
        return {"completions": [], "suppress": False}
    completions = [
        SimpleCompletion(text=text, type=help_.replace(" ", _NO_BREAK_SPACE))
        for text, help_ in _matching(*place)
    ]
    return {
        "completions": completions or _Nothing(),
        "matched_fragment": place[0],
        "ordered": True,
        "suppress": True,
    }


def _find(session: Session, context: Any) -> CompletionContext | None:
    """The completion context at the cursor; None to leave completion to IPython."""
    lines, number, magic = context.full_text.split("\n"), context.cursor_line, session.defaults.magic_name
    line = lines[number][: context.cursor_position]
    if match := re.match(rf"\s*%{magic}(?=\s)", line):
        return _on_command_line(session, line[match.end() :])
    for index, text in enumerate(lines[: number + 1]):
        if match := re.match(rf"%%{magic}(?=\s|$)", text):
            if index < number:
                return _in_prompt(session, line)
            return _on_cell_line(session, line[match.end() :]) if match.end() < len(line) else None
        # Above the magic there can be comments and other magics, such as %%time.
        if text.strip() and not text.lstrip().startswith(("#", "%%")):
            return None
    return None


def _on_command_line(session: Session, text: str) -> CompletionContext:
    parts = _WORD.findall(text)
    commands = all_commands()
    if len(parts) == 1:
        return parts[0], [(name, brief(entry.help)) for name, entry in commands.items()]
    command = commands.get(parts[0])
    words = command.candidates(session, parts[1:-1]) if command else ()
    return parts[-1], list(words)


def _on_cell_line(session: Session, text: str) -> CompletionContext | None:
    *before, word = _WORD.findall(text)
    if any(OPTIONS[name].is_expression for name in map(option_of, before) if name):
        return None  # an expression, which IPython completes
    fields, next_field = _read(before)
    flag, equals, value = word.partition("=")
    if not next_field and equals and (name := option_of(flag)):
        next_field, word = name, value
    if next_field:
        return word, of_option(session, next_field, word.strip("\"'"))
    names = [] if "name" in fields else runs(session)
    flags = [
        (flag, brief(option.help))
        for name, option in OPTIONS.items()
        if option.repeats or name not in fields
        for flag in option.flags
    ]
    return word, [*names, *flags]


def _read(words: Sequence[str]) -> tuple[set[str], str]:
    """The fields that the words set, and the field that expects a value next, or an empty string."""
    fields, next_field = set(), ""
    for word in words:
        if next_field and (not OPTIONS[next_field].is_optional or OPTIONS[next_field].takes(word)):
            next_field = ""
            continue
        next_field = ""
        flag, equals, _ = word.partition("=")
        name = option_of(flag) or "name"
        fields.add(name)
        if name != "name" and not OPTIONS[name].is_switch and not equals:
            next_field = name
    return fields, next_field


def _in_prompt(session: Session, line: str) -> CompletionContext | None:
    if match := _BRACES.search(line):
        return match[1], variables(session) + variants(session)
    word = line.rsplit(" ", maxsplit=1)[-1]
    return None if word.startswith("\\") else (word, ())  # IPython completes \alpha


def _matching(prefix: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    prefix = prefix.strip("\"'").casefold()
    matches = [candidate for candidate in candidates if candidate[0].casefold().startswith(prefix)]
    matches = matches or [candidate for candidate in candidates if prefix in candidate[0].casefold()]
    return [(_quoted(text), help_) for text, help_ in matches]


def _quoted(text: str) -> str:
    """Quote a path that contains spaces; the quote stays open after a folder."""
    if " " not in text:
        return text
    return f'"{text}' if text.endswith("/") else f'"{text}"'
