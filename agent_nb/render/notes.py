"""The notes and questions at moments of a run, as HTML and as Markdown."""

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_nb._base.secrets import masked_line
from agent_nb.render.markdown_writer import as_text, rebuilt
from agent_nb.render.safe_markdown import to_html
from agent_nb.render.summary import duration

if TYPE_CHECKING:
    from agent_nb.run.annotations import Annotation
    from agent_nb.run.record import RunRecord


def notes_html(run: "RunRecord") -> str:
    """A section with all notes; empty if there are none. The expected answers are folded away."""
    notes = "".join(
        f"<article>{_note_html(note, _moment(run, note))}</article>\n" for note in run.annotations
    )
    return f'<section class="notes"><h2>Notes</h2>\n{notes}</section>\n' if notes else ""


def _note_html(note: "Annotation", moment: str) -> str:
    pieces = [f"<h3>{html.escape(moment)}</h3>", to_html(note.text)]
    if note.ask:
        pieces.append(f"<p><strong>{html.escape(note.ask)}</strong></p>")
    if note.choices:
        items = "".join(f"<li>{html.escape(choice)}</li>" for choice in note.choices)
        pieces.append(f"<ol>{items}</ol>")
    if note.answer:
        pieces.append(f"<details><summary>Expected answer</summary>{html.escape(note.answer)}</details>")
    return "".join(pieces)


def notes_markdown(run: "RunRecord") -> str:
    """The notes as quotations, so that whatever Markdown a note leaves open ends with it."""
    blocks = ["**Notes**"] if run.annotations else []
    for note in run.annotations:
        blocks.append(_quoted(f"**{_moment(run, note)}**", rebuilt(note.text, quoted=True)))
        if note.ask:
            blocks.append(_quoted(*_question(note)))
    return "".join(f"\n{block}\n" for block in blocks)


def _question(note: "Annotation") -> Iterator[str]:
    yield f"Question: {_line(note.ask)}"
    yield "\n".join(f"{number}. {_line(choice)}" for number, choice in enumerate(note.choices, 1))
    if note.answer:
        yield f"Expected answer: {_line(note.answer)}"


def _quoted(*paragraphs: str) -> str:
    lines = "\n\n".join(filter(None, paragraphs)).splitlines()
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _moment(run: "RunRecord", note: "Annotation") -> str:
    """`Turn 2`, `After 3.1 s`, `Variant 2, end`."""
    moment = f"after {duration(note.at)}" if isinstance(note.at, float) else note.at
    place = f"variant {note.variant + 1}, {moment}" if len(run.variants) > 1 else moment
    return place[:1].upper() + place[1:]


def _line(text: str) -> str:
    return as_text(masked_line(text))
