"""The forms of a certificate: an HTML page for paper, phones and `agent-nb verify`, and Markdown for a paper's appendix.

Both depend on the certificate alone. All of its texts are untrusted: they are escaped, with invisible characters written
out, and none becomes an address or a style.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape

from agent_nb._base.text import fenced, plural, printable, printable_line
from agent_nb._base.wire import from_wire, parse_json
from agent_nb.features.certificate.certificate import FORM, WORDS, Certificate, Number, json_text
from agent_nb.features.certificate.inputs import NOT_RECORDED, Input
from agent_nb.plugins import ConfigError
from agent_nb.plugins.engine import as_text

_BEGIN, _END = '<pre id="certificate">', "</pre>"
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
td,th{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #8886}
pre{white-space:pre-wrap;font:.85rem/1.45 ui-monospace,monospace;background:#8881;padding:.6rem;margin:.4rem 0}
mark{background:none;color:inherit;border-bottom:2px solid #1a7f37}
mark.none{border-bottom:2px dashed #cf222e}mark.given{border-bottom:2px dotted #888}
.out{border-left:3px solid #8886;background:none}.small{font-size:.85rem;opacity:.8}
@media(max-width:40rem){th{display:none}td{display:block;border:0;padding:0}tr{display:block;padding:.5rem 0;
border-bottom:1px solid #8886}td:first-child{font-weight:600}td[data-of]:not(:empty)::before{content:attr(data-of)": ";opacity:.7}}
@media print{body{max-width:none;padding:0;font-size:10pt}details{display:none}h2{break-after:avoid}tr{break-inside:avoid}}
@page{size:A4;margin:18mm}
"""


def html_form(made: Certificate) -> str:
    sections = [
        _section("Question", _pre(made.question)),
        _section("Answer", f"<pre>{_marked(made)}</pre>", _legend()),
        _section("Numbers", _table(_NUMBERS, map(number_row, made.numbers)) or "<p>The answer has none.</p>"),
        _section("What the code read", _table(_INPUTS, map(input_row, _data_of(made))) or "<p>Nothing.</p>"),
        _section("Code", *_cells(made)) if made.cells else "",
        _section("Tries and variants", _table(_TRIES, try_rows(made)))
        if made.variants or made.agreement
        else "",
        _section(
            "Stated, not proven",
            "<p>No run can prove the words of the question and the answer, nor these.</p>",
            _table(("what", "as recorded"), stated_rows(made)),
        ),
        _section("Check it", f"<p>{_line(how_to_check(made))}</p>"),
    ]
    facts = json_text({**made.wire, "digest": made.digest})
    title = f"Certificate of {_line(made.name)}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body><h1>{title}</h1>"
        f'<p class="small">{_line(summary(made))}</p>\n{"".join(sections)}'
        f"<details><summary>The facts as JSON</summary>{_BEGIN}{escape(facts, quote=False)}{_END}</details>"
        "</body></html>\n"
    )


def read_html(text: str) -> Certificate:
    """The certificate in an HTML file; raises `ConfigError` if the file was changed."""
    _, begins, rest = text.partition(_BEGIN)
    wire = parse_json(unescape(rest.partition(_END)[0])) if begins else None
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


class ChangedError(ConfigError):
    """The file is not as it was written."""


def markdown_form(made: Certificate) -> str:
    parts = [
        f"# {as_text(f'Certificate of {made.name}')}",
        as_text(summary(made)),
        "[Write: who used the models, for what, and who answers for the content.]",
        "## Question", fenced(printable(made.question)),
        "## Answer", fenced(printable(made.answer or "The model wrote no text.")),
        "## Numbers", _markdown_table(_NUMBERS, map(number_row, made.numbers)) or "The answer has none.",
        "## What the code read", _markdown_table(_INPUTS, map(input_row, _data_of(made))) or "Nothing.",
        *(["## Tries and variants", _markdown_table(_TRIES, try_rows(made))] if made.variants else []),
        "## Stated, not proven", _markdown_table(("what", "as recorded"), stated_rows(made)),
        "[Write: how a person checked it.]",
        *(["## Code"] if made.cells else []),
        *(fenced(printable(cell.source), "python") for cell in made.cells),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def summary(made: Certificate) -> str:
    counts = [(sum(each.source == source for each in made.numbers), words) for source, words in WORDS.items()]
    numbers = ", ".join(f"{count} {words}" for count, words in counts if count)
    versions = ", ".join(f"{name} {number}" for name, number in made.packages.items())
    values = " No values of the data are in this file." if made.sent == "schema" else ""
    return f"{plural(len(made.numbers), 'number')}{f': {numbers}' if numbers else ''}. {versions}.{values}"


def how_to_check(made: Certificate) -> str:
    needs = [each.name for each in made.inputs if each.kind in ("data", "file") and each.use == "read"]
    stored = {each.name for each in made.data}
    missing = [name for name in needs if name not in stored]
    if missing:
        return f"agent-nb verify FILE --notebook NOTEBOOK runs the code again. It needs {', '.join(missing)}."
    return "agent-nb verify FILE runs the code again and compares the numbers."


_NUMBERS = ("number", "", "cell", "agrees", "line of the output")
_INPUTS = ("name", "type", "size", "digest", "")
_TRIES = ("try", "model", "answer")


def number_row(each: Number) -> Sequence[str]:
    where = each.path if each.path is not None else ""
    cell = str(each.cell) if each.cell else each.call
    return f"{each.text} {where}".strip(), WORDS[each.source], cell, each.policy, each.line


def input_row(each: Input) -> Sequence[str]:
    when = "" if each.when == "before it was read" else each.when
    notes = ", ".join(filter(None, [each.use if each.use != "read" else "", each.note, when]))
    return each.name, each.type, each.size, each.digest[:16] or NOT_RECORDED, notes


def try_rows(made: Certificate) -> Iterator[Sequence[str]]:
    for number, each in enumerate(made.variants or (made.agreement.tries if made.agreement else ()), 1):
        yield str(number), each.model, each.answer[:300]


def stated_rows(made: Certificate) -> Iterator[Sequence[str]]:
    for name, value in made.stated.items():
        if value not in (None, [], {}, "", 0):
            yield name.replace("_", " "), value if isinstance(value, str) else json_text(value)


def _data_of(made: Certificate) -> list[Input]:
    return [each for each in made.inputs if each.kind != "code"]


def _section(title: str, *parts: str) -> str:
    return f"<h2>{title}</h2>\n{''.join(parts)}\n"


def _line(text: str) -> str:
    return escape(printable_line(text))


def _pre(text: str, kind: str = "") -> str:
    return f"<pre{kind}>{escape(printable(text))}</pre>\n"


def _cells(made: Certificate) -> Iterator[str]:
    for number, cell in enumerate(made.cells, 1):
        by = "of the notebook" if cell.by == "notebook" else "of the run"
        yield f'<p class="small" id="cell-{number}">Cell {number}, {by}</p>{_pre(cell.source)}'
        if cell.output.strip():
            yield _pre(cell.output.rstrip(), ' class="out"')


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join(
        "<tr>" + "".join(
            f'<td data-of="{column}">{_line(entry)}</td>' if column and place else f"<td>{_line(entry)}</td>"
            for place, (column, entry) in enumerate(zip(columns, row, strict=True))
        ) + "</tr>\n"
        for row in rows
    )  # fmt: skip
    head = "".join(f"<th>{column}</th>" for column in columns)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""


def _markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [
        f"| {' | '.join(as_text(printable_line(entry), in_table=True) for entry in row)} |" for row in rows
    ]
    return "\n".join([f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}", *lines]) if lines else ""


def _marked(made: Certificate) -> str:
    """The answer with its numbers marked, in order; numbers in code are not."""
    text = made.answer or "The model wrote no text."
    searched = _CODE.sub(lambda match: " " * len(match[0]), text)
    parts, at = [], 0
    for each in made.numbers:
        if each.path is not None or (start := searched.find(each.text, at)) < 0:
            continue
        kind = {"nothing": ' class="none"', "prompt": ' class="given"'}.get(each.source, "")
        parts += [escape(printable(text[at:start])), f"<mark{kind}>{_line(each.text)}</mark>"]
        at = start + len(each.text)
    typed = f"\n{escape(printable(json_text(made.typed)))}" if made.typed is not None else ""
    return "".join([*parts, escape(printable(text[at:]))]) + typed


def _legend() -> str:
    kinds = [("", "computed"), (' class="given"', "given in the prompt"), (' class="none"', "not computed")]
    return f'<p class="small">{" · ".join(f"<mark{kind}>{words}</mark>" for kind, words in kinds)}</p>'
