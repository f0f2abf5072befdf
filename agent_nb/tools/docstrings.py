"""What a docstring says of a function and of its parameters, in Google, NumPy or Sphinx style."""

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
_SPHINX_FIELD = re.compile(r"^:\w+[^:\n]*:", re.MULTILINE)
_SPHINX_PARAMETER = re.compile(r"^:param\s+(?:[^:\n]*\s)?(\w+):(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Docstring:
    description: str
    parameters: dict[str, str]


def parse_docstring(text: str) -> Docstring:
    """`text` as `inspect.getdoc` gives it, without its common indent."""
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    parameters = {name: " ".join(said.split()) for name, said in _SPHINX_PARAMETER.findall(text)}
    for heading, end in zip(headings, ends, strict=False):
        if heading["name"] in _PARAMETER_SECTIONS:
            parameters |= _entries(text[heading.end() : end], typed=bool(heading["underline"]))
    first = [found.start() for found in (*headings[:1], _SPHINX_FIELD.search(text)) if found]
    return Docstring(text[: min(first, default=None)].strip(), parameters)


def _entries(section: str, *, typed: bool) -> dict[str, str]:
    """Entries start at the margin: `name (type): words`, or `name, name : type` if `typed`; more is indented."""
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in textwrap.dedent(section).split("\n"):
        words = line
        if line[:1].strip():
            head, _, words = line.partition(":")
            names = re.sub(r"\(.*\)", "", head).replace(",", " ").replace("*", "").split()
            words = "" if typed else words
        for name in names:
            entries[name] = f"{entries.get(name, '')} {words.strip()}".strip()
    return entries
