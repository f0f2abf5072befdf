"""Reads what a docstring in Google, NumPy or Sphinx style says about a function and its parameters.

Cassettes are matched by this text. A library that reads docstrings may read them differently in its next release.
"""

import re
import textwrap
from dataclasses import dataclass

_SECTIONS = (
    "Args|Arguments|Parameters|Params|Other Parameters|Returns?|Yields?|Raises|Examples?|Notes?|See Also"
    "|References|Warnings?|Warns|Attributes"
)
_HEADING = re.compile(
    rf"^(?P<name>{_SECTIONS})[ \t]*(?::[ \t]*$|\n(?P<underline>-{{3,}})[ \t]*$)", re.MULTILINE
)
_PARAMETER_SECTIONS = ("Args", "Arguments", "Parameters", "Params", "Other Parameters")
_SPHINX_FIELD = re.compile(r"^:\w+[^:\n]*:(?!`)", re.MULTILINE)  # a role such as :class:`Tool` is no field
_SPHINX_PARAMETER = re.compile(r"^:param\s+(?:[^:\n]*\s)?(\w+):(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Docstring:
    description: str
    parameters: dict[str, str]


def parse_docstring(text: str) -> Docstring:
    """Parses a docstring as `inspect.getdoc` returns it, without its common indent."""
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    parameters = {name: " ".join(described.split()) for name, described in _SPHINX_PARAMETER.findall(text)}
    for heading, end in zip(headings, ends, strict=False):
        if heading["name"] in _PARAMETER_SECTIONS:
            parameters |= _entries(text[heading.end() : end], typed=bool(heading["underline"]))
    first = [found.start() for found in (*headings[:1], _SPHINX_FIELD.search(text)) if found]
    return Docstring(text[: min(first, default=None)].strip(), parameters)


def _entries(section: str, *, typed: bool) -> dict[str, str]:
    """The parameters of a section, with their descriptions.

    An entry starts at the margin: `name (type): description`, or if `typed`, `name, name : type` with the
    description in the indented lines that follow.
    """
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in textwrap.dedent(section).split("\n"):
        described = line
        if line[:1].strip():
            head, _, described = line.partition(":")
            names = re.sub(r"\(.*\)", "", head).replace(",", " ").replace("*", "").split()
            described = "" if typed else described
        for name in names:
            entries[name] = f"{entries.get(name, '')} {described.strip()}".strip()
    return entries
