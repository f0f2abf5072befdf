"""The forms of a certificate: HTML for paper, phones and `agent-nb verify`, and Markdown for a paper's appendix.

They depend on the certificate alone, whose texts are untrusted: they are escaped, with invisible characters written
out, and none becomes an address or a style.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

from agent_nb._base.text import fenced, plural, printable, printable_line
from agent_nb._base.wire import from_wire, parse_json
from agent_nb.features.certificate.certificate import FORM, FORMS, Certificate, json_text
from agent_nb.plugins import ConfigError
from agent_nb.plugins.engine import as_text

_BEGIN, _END = '<pre id="certificate">', "</pre>"
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_WRITE = "[Write: {}]".format


class ChangedError(ConfigError):
    """The file is not as it was written."""


class Rows(NamedTuple):
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class Code(NamedTuple):
    text: str
    is_output: bool = False


class Marked(NamedTuple):
    """The answer, with its numbers marked."""

    text: str


Section = tuple[str, Sequence[str | Rows | Code | Marked]]


def _sections(made: Certificate) -> Iterator[Section]:
    yield "Question", [Code(made.question)]
    typed = [Code(json_text(made.typed))] if made.typed is not None else []
    yield "Answer", [Marked(made.answer or "The model wrote no text."), *typed]
    numbers = [
        (f"{each.text} {each.path}".strip(), each.source, str(each.cell or ""), each.policy, each.line)
        for each in made.numbers
    ]
    yield "Numbers", [Rows(("number", "source", "cell", "agrees", "line of the output"), numbers)]
    inputs = [
        (each.name, each.type, each.size, each.digest[:16] or "not recorded", each.note)
        for each in made.inputs
        if each.kind != "code"
    ]
    yield "What the code read", [Rows(("name", "type", "size", "digest", "note"), inputs)]
    if made.tries:
        tries = [(str(number), each.model, each.answer[:300]) for number, each in enumerate(made.tries, 1)]
        yield "Tries", [f"{made.agree} of {len(tries)} agree.", Rows(("try", "model", "answer"), tries)]
    code: list[str | Code] = []
    for number, cell in enumerate(made.cells, 1):
        code += [f"Cell {number}, {'of the notebook' if cell.is_users else 'of the run'}", Code(cell.source)]
        code += [Code(cell.output.rstrip(), is_output=True)] if cell.output.strip() else []
    yield "Code", code
    stated = [
        (name.replace("_", " "), value if isinstance(value, str) else json_text(value))
        for name, value in made.stated.items()
    ]
    about = "No run can prove the words of the question and the answer, nor what follows."
    yield "Stated, not proven", [about, Rows(("what", "as recorded"), stated)]


def html_form(made: Certificate) -> str:
    title = f"Certificate of {_line(made.name)}"
    body = "".join(
        f"<h2>{heading}</h2>\n{''.join(_html(part, made) for part in parts) or '<p>None.</p>'}\n"
        for heading, parts in _sections(made)
    )
    facts = escape(json_text({**made.wire, "digest": made.digest}), quote=False)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{title}</title><style>{_style()}</style></head>\n<body><h1>{title}</h1>"
        f"<p>{_line(_summary(made))}</p>\n{body}<h2>Check it</h2><p>{_line(_how_to_check(made))}</p>\n"
        f"<details><summary>The facts as JSON</summary>{_BEGIN}{facts}{_END}</details></body></html>\n"
    )


def read_html(text: str) -> Certificate:
    """The certificate in an HTML file; raises `ChangedError` if the file is not as it was written."""
    wire = parse_json(unescape(text.partition(_BEGIN)[2].partition(_END)[0]))
    if not isinstance(wire, dict):
        raise ConfigError("It is not a certificate.")
    if (form := wire.get("form")) != FORM:
        raise ConfigError(f"It has form {str(form)[:10]!r}, and this version of agent_nb reads form {FORM}.")
    digest = wire.pop("digest", "")
    try:
        made: Certificate = from_wire(Certificate, wire)
        is_same = digest == made.digest and html_form(made) == text
    except (ValueError, TypeError, RecursionError) as error:
        raise ChangedError(f"The file was changed: {printable_line(str(error))[:200]}.") from None
    if not is_same:
        raise ChangedError("The file was changed: its text, its facts and their digest do not fit together.")
    return made


def markdown_form(made: Certificate) -> str:
    who = _WRITE("who used the models, for what, and who answers for the content.")
    parts = [f"# {as_text(printable_line(f'Certificate of {made.name}'))}", who, as_text(_summary(made))]
    for heading, entries in _sections(made):
        parts += [f"## {heading}", *map(_markdown, entries)]
    return "\n\n".join([*parts, _WRITE("how a person checked it.")]) + "\n"


def _html(part: str | Rows | Code | Marked, made: Certificate) -> str:
    match part:
        case Rows(columns, rows):
            head = "".join(f"<th>{column}</th>" for column in columns)
            lines = (
                "".join(
                    f'<td title="{column}">{_line(entry)}</td>'
                    for column, entry in zip(columns, row, strict=True)
                )
                for row in rows
            )
            body = "".join(f"<tr>{line}</tr>\n" for line in lines)
            return (
                f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
                if rows
                else "<p>None.</p>"
            )
        case Code(text, is_output):
            opening = '<pre class="out">' if is_output else "<pre>"
            return f"{opening}{escape(printable(text))}</pre>\n"
        case Marked(text):
            kinds = dict.fromkeys(each.source for each in made.numbers)
            legend = " · ".join(_mark(kind, kind) for kind in kinds)
            return f"<pre>{_marked(text, made)}</pre><p>{legend}</p>"
    return f"<p>{_line(part)}</p>"


def _markdown(part: str | Rows | Code | Marked) -> str:
    match part:
        case Rows(columns, rows):
            lines = (
                " | ".join(as_text(printable_line(entry), in_table=True) for entry in row) for row in rows
            )
            table = [
                f"| {' | '.join(columns)} |",
                f"|{' --- |' * len(columns)}",
                *(f"| {line} |" for line in lines),
            ]
            return "\n".join(table) if rows else "None."
        case Code(text, is_output):
            return fenced(printable(text), "" if is_output else "python")
        case Marked(text):
            return fenced(printable(text))
    return as_text(part)


def _marked(text: str, made: Certificate) -> str:
    """The numbers are marked in their order; those in code are not."""
    searched = _CODE.sub(lambda match: " " * len(match[0]), text)
    parts, at = [], 0
    for each in made.numbers:
        if not each.path and (start := searched.find(each.text, at)) >= 0:
            parts += [escape(printable(text[at:start])), _mark(each.source, each.text)]
            at = start + len(each.text)
    return "".join([*parts, escape(printable(text[at:]))])


def _mark(source: str, text: str) -> str:
    return f'<mark class="{source.replace(" ", "-")}">{_line(text)}</mark>'


def _line(text: str) -> str:
    return escape(printable_line(text))


@cache
def _style() -> str:
    return (Path(__file__).parent / "certificate.css").read_text(encoding="utf-8")


def _summary(made: Certificate) -> str:
    counts: dict[str, int] = {}
    for each in made.numbers:
        counts[each.source] = counts.get(each.source, 0) + 1
    numbers = ", ".join(f"{count} {words}" for words, count in counts.items())
    versions = ", ".join(f"{name} {number}" for name, number in made.packages.items())
    values = " It has no values of the data." if made.is_schema else ""
    return f"{plural(len(made.numbers), 'number')}{f': {numbers}' if numbers else ''}. {versions}.{values}"


def _how_to_check(made: Certificate) -> str:
    stored = {each.name for each in made.data}
    missing = [each.name for each in made.needs if each.name not in stored]
    needs = f" It needs {', '.join(missing)}: add --notebook NOTEBOOK or --data FOLDER." if missing else ""
    return f"agent-nb verify FILE shows the code, asks, runs it again and compares the numbers.{needs}"


FORMS.update(html=html_form, markdown=markdown_form)
