"""Tab completion in `%%agent` cells and on `%agent` lines, where nothing of Python's applies.

`candidates.py` has the values; this module finds out where the cursor is.
"""

import re
from collections.abc import Sequence
from typing import Any

from agent_nb.notebook.ipython7 import SimpleCompletion
from agent_nb.notebook.magic.candidates import Candidate, brief, of_option, runs, variables
from agent_nb.notebook.magic.commands import all_commands
from agent_nb.notebook.parsing import CHECK
from agent_nb.notebook.session import Session
from agent_nb.options import OPTIONS

_WORD = re.compile(r"""(?:[^\s"']+|"[^"]*(?:"|$)|'[^']*(?:'|$))+|(?<=\s)$""")
"""A word of the line. Quotation marks join several; the last word is empty after a space."""
_BRACES = re.compile(r"(?<!\\)\{\{\s*([^{}]*)$")
_FLAGS = {flag: name for name, option in OPTIONS.items() for flag in option.flags}
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
"""JupyterLab wraps the help at other spaces, and writes the lines over each other."""
CompletionContext = tuple[str, Sequence[Candidate]]
"""The text that a completion replaces, and the candidates."""


class _Nothing(list[Any]):
    """No completions. IPython leaves out its own completions only if the length of this list is not zero."""

    def __len__(self) -> int:
        return 1


def complete(session: Session, context: Any) -> dict[str, Any]:
    """The result of a matcher of IPython's API version 2."""
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
    """The place of the cursor; None if IPython is to complete it."""
    lines, number, magic = context.full_text.split("\n"), context.cursor_line, session.defaults.magic_name
    line = lines[number][: context.cursor_position]
    if found := re.match(rf"\s*%{magic}(?=\s)", line):
        return _on_command_line(session, line[found.end() :])
    for index, each in enumerate(lines[: number + 1]):
        if found := re.match(rf"%%{magic}(?=\s|$)", each):
            if index < number:
                return _in_prompt(session, line)
            return _on_cell_line(session, line[found.end() :]) if found.end() < len(line) else None
        # Above the magic there can be comments and other magics, such as %%time.
        if each.strip() and not each.lstrip().startswith(("#", "%%")):
            return None
    return None


def _on_command_line(session: Session, text: str) -> CompletionContext:
    parts = _WORD.findall(text)
    known = all_commands(session)
    if len(parts) == 1:
        return parts[0], [(name, brief(each.help)) for name, each in known.items()]
    command = known.get(parts[0])
    words = command.completes(session, parts[1:-1]) if command and command.completes else ()
    return parts[-1], list(words)


def _on_cell_line(session: Session, text: str) -> CompletionContext | None:
    *before, typed = _WORD.findall(text)
    if CHECK in before:
        return None  # an expression, which IPython completes
    given, expected = _read(before)
    flag, equals, value = typed.partition("=")
    if not expected and equals and flag in _FLAGS:
        expected, typed = _FLAGS[flag], value
    if expected:
        return typed, of_option(session, expected, typed.strip("\"'"))
    names = [] if "name" in given else runs(session)
    flags = [
        (flag, brief(option.help))
        for name, option in OPTIONS.items()
        if option.repeats or name not in given
        for flag in option.flags
    ]
    return typed, [*names, *flags]


def _read(parts: Sequence[str]) -> tuple[set[str], str]:
    """The fields that the parts set, and the one whose value comes next, if there is one."""
    given, expected = set(), ""
    for word in parts:
        if expected and (not OPTIONS[expected].is_optional or OPTIONS[expected].takes(word)):
            expected = ""
            continue
        expected = ""
        flag, equals, _ = word.partition("=")
        name = _FLAGS.get(flag, "name")
        given.add(name)
        if name != "name" and not OPTIONS[name].is_switch and not equals:
            expected = name
    return given, expected


def _in_prompt(session: Session, line: str) -> CompletionContext | None:
    if found := _BRACES.search(line):
        return found[1], variables(session)
    typed = line.rsplit(" ", maxsplit=1)[-1]
    return None if typed.startswith("\\") else (typed, ())  # IPython completes \alpha


def _matching(typed: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    typed = typed.strip("\"'").casefold()
    found = [each for each in candidates if each[0].casefold().startswith(typed)]
    found = found or [each for each in candidates if typed in each[0].casefold()]
    return [(_quoted(text), help_) for text, help_ in found]


def _quoted(text: str) -> str:
    """A path with spaces in quotation marks, which stay open at a folder."""
    if " " not in text:
        return text
    return f'"{text}' if text.endswith("/") else f'"{text}"'
