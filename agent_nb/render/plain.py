"""Renders a finished run as Markdown and plain text, without times, tokens or costs: equal runs give equal text."""

import html
from collections.abc import Iterator, Sequence
from typing import assert_never

from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.table import Table
from agent_nb._base.text import fenced, on_one_line, plural
from agent_nb.core.annotations import Annotation
from agent_nb.core.messages import Source
from agent_nb.files import human_size, lost_files
from agent_nb.render.finished_run import FinishedRun
from agent_nb.render.outputs import IMAGES, safe_output
from agent_nb.render.safe_markdown import as_text, code_span, is_safe_link, rebuilt, to_html, web_link
from agent_nb.render.shown import addition
from agent_nb.render.summary import (
    duration,
    ending,
    facts,
    model_label,
    offered_changes,
    replay_source,
    result_expression,
    trouble,
    variant_lines,
    variant_note,
    written_prompt,
)
from agent_nb.render.transcript import (
    ROW_STYLES,
    LineRow,
    Row,
    SourcesRow,
    TextRow,
    ThinkingRow,
    ToolRow,
    line_text,
    names_left,
    whole_outcome,
)

MAX_OUTPUT = 5_000


def markdown(run: FinishedRun, rows: Sequence[Row], *, images: bool = False) -> str:
    """Render as Markdown; `images` embeds the images that code produced."""
    blocks = [f"**{as_text(run.name)}**: {_line(', '.join(facts(run)))}"]
    blocks += ["> " + _line(line) for line in trouble(run)]
    for row in rows:
        blocks += [block] if (block := _markdown_of(row)) else []
        blocks += _step(row, images) if isinstance(row, ToolRow) and row.code else []
    blocks += [_addition(part, images=images) for part in addition(run).below]
    if names := names_left(rows):
        blocks.append("In the branch:" if run.settings.get("branch") else "In the notebook:")
        blocks += [f"- {code_span(name)}: {as_text(kind)}" for name, kind in names.items()]
    if run.changes:
        heading, changes = offered_changes(run)
        blocks.append(f"{heading}:")
        for title, change in changes:
            blocks += [as_text(title), fenced(change.diff.rstrip(), "diff")]
    if run.files:
        blocks += [f"- {code_span(path)}, {run.files.size_text(path)}" for path in run.files]
    if variants := variant_lines(run):
        blocks.append("Variants:")
        blocks += [f"- {_line(line)}" for line in variants]
    result = as_text(f"In Python: {result_expression(run)}{variant_note(run)}")
    return "\n\n".join([*_joined_lists(blocks), result]) + "\n"


def progress_texts(rows: Sequence[Row]) -> tuple[str, str]:
    """Render the rows of a run in progress as Markdown and as plain text."""
    blocks = filter(None, map(_markdown_of, rows))
    lines = [
        row.text.strip() if isinstance(row, TextRow) else f"  {line_text(row)}"
        for row in rows
        if isinstance(row, TextRow | LineRow)
    ]
    return "\n\n".join(_joined_lists([*blocks])), "\n".join(lines)


def markdown_document(run: FinishedRun, rows: Sequence[Row]) -> str:
    """Render as a Markdown file of its own: also the prompt, the models, the date, and what other variants said."""
    prompt = written_prompt(run).strip()
    models = dict.fromkeys(variant.model for variant in run.variants or (run,))
    about = [*models, *([f"{run.started:%Y-%m-%d}"] if run.started else [])]
    blocks = [
        fenced(prompt),
        _line(", ".join(about)),
        markdown(run, rows, images=True).rstrip(),
    ]
    for number, variant in enumerate(run.variants, 1):
        if number != run.variant + 1 and variant.text:
            blocks += [f"**Variant {number}**", rebuilt(variant.text)]
    return "\n\n".join(blocks) + "\n" + notes_markdown(run)


def _markdown_of(row: Row) -> str:
    match row:
        case TextRow(text=text):
            return rebuilt(text)
        case ThinkingRow():
            return ""
        case SourcesRow(sources=sources):
            return "\n".join(map(_source, sources))
        case LineRow(title=title):
            outcome = whole_outcome(row)
            # The title of a tool call contains text that the model wrote.
            title = code_span(title) if isinstance(row, ToolRow) else as_text(title)
            # The list item has a bullet already.
            icon = "" if row.state == "info" else f"{ROW_STYLES[row.state].icon} "
            line = f"- {icon}{title}" + (f": {_line(outcome)}" if outcome else "")
            return "\n".join([line, *(f"  - {as_text(below)}" for below in row.lines)])
        case _:
            assert_never(row)


def _addition(table: Table | str, *, images: bool) -> str:
    if isinstance(table, str):
        return as_text(table)
    rows = [[as_text(str(text), in_table=True) for text in row] for row in (table.columns, *table.rows)]
    rows.insert(1, ["---"] * len(table.columns))
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows) if table.rows else table.empty
    plots = [f"{as_text(name)}: ![strip plot]({address})" for name, address in table.plots.items()]
    return "\n\n".join(filter(None, (lines, as_text(table.note), *(plots if images else ()))))


def _step(row: ToolRow, images: bool) -> Iterator[str]:
    yield fenced(row.code.rstrip(), "python")
    for output in row.outputs:
        data = {} if NAMES_TYPE in output else safe_output(output)
        image = next((kind for kind in IMAGES if kind in data), "")
        text = data.get("text/plain", "").rstrip()
        if image and images:
            yield f"![image](data:{image};base64,{data[image]})"
        elif "text/markdown" in data:
            yield data["text/markdown"]
        elif text:
            omitted = f"\n… {human_size(len(text) - MAX_OUTPUT)} more" if len(text) > MAX_OUTPUT else ""
            yield fenced(text[:MAX_OUTPUT] + omitted)


def _source(source: Source) -> str:
    is_link = is_safe_link(source.url)
    return f"- {web_link(source.url, as_text(source.url)) if is_link else code_span(source.title)}"


def _joined_lists(blocks: list[str]) -> list[str]:
    merged: list[str] = []
    for block in blocks:
        if merged and block.startswith("- ") and merged[-1].startswith("- "):
            merged[-1] += "\n" + block
        else:
            merged.append(block)
    return merged


def plain_text(run: FinishedRun, rows: Sequence[Row], text: str) -> str:
    """Render as plain text; `text` is the model's answer, possibly truncated."""
    replayed = ", replayed" if replay_source(run) else ""
    lines = [f"{run.name}: {ending(run)} ({model_label(run.model)}{replayed})"]
    lines += [f"  {on_one_line(line)}" for line in trouble(run)]
    # The text is printed separately, and retries differ between runs.
    listed = [row for row in rows if isinstance(row, LineRow) and row.state != "retry"]
    lines += [
        f"  {line}" for row in listed for line in (line_text(row), *(f"  {below}" for below in row.lines))
    ]
    if text:
        lines += ["", text.strip()]
    for part in addition(run).below:
        lines += ["", part if isinstance(part, str) else part.to_text()]
    if run.changes:
        heading, changes = offered_changes(run)
        lines += ["", f"{heading}:", *(f"  {title}" for title, _ in changes)]
    if run.files:
        lines += ["", plural(len(run.files), "file") + ":"]
        lines += [f"  {path}, {run.files.size_text(path)}" for path in run.files]
        lines += [f"  {path}, unfinished, not kept" for path in lost_files(run.events, run.files)]
    return "\n".join([*lines, *_variant_lines(run)])


def _variant_lines(run: FinishedRun) -> list[str]:
    """Return how each variant ended, without the times and costs of `variant_lines`."""
    if len(run.variants) < 2:
        return []
    lines = ["", f"This is variant {run.variant + 1} of {len(run.variants)}:"]
    for number, variant in enumerate(run.variants, 1):
        size = f", {variant.files.size_text(variant.files.entry)}" if variant.files.entry else ""
        line = f"  {number}: {ending(variant)} ({model_label(variant.model)}){size}"
        lines.append(". ".join([line, *addition(variant).lines]))
    return lines


def notes_html(run: FinishedRun) -> str:
    """Return a section with all notes, the expected answers folded; empty without notes."""
    notes = "".join(
        f"<article>{_note_html(note, _moment(run, note))}</article>\n" for note in run.annotations
    )
    return f'<section class="notes"><h2>Notes</h2>\n{notes}</section>\n' if notes else ""


def _note_html(note: Annotation, moment: str) -> str:
    pieces = [f"<h3>{html.escape(moment)}</h3>", to_html(note.text)]
    if note.ask:
        pieces.append(f"<p><strong>{html.escape(note.ask)}</strong></p>")
    if note.choices:
        items = "".join(f"<li>{html.escape(choice)}</li>" for choice in note.choices)
        pieces.append(f"<ol>{items}</ol>")
    if note.answer:
        pieces.append(f"<details><summary>Expected answer</summary>{html.escape(note.answer)}</details>")
    return "".join(pieces)


def notes_markdown(run: FinishedRun) -> str:
    """Return the notes as block quotes, so that Markdown left open in a note ends with it."""
    blocks = ["**Notes**"] if run.annotations else []
    for note in run.annotations:
        blocks.append(_quoted(f"**{_moment(run, note)}**", rebuilt(note.text, quoted=True)))
        if note.ask:
            blocks.append(_quoted(*_question(note)))
    return "".join(f"\n{block}\n" for block in blocks)


def _question(note: Annotation) -> Iterator[str]:
    yield f"Question: {_line(note.ask)}"
    yield "\n".join(f"{number}. {_line(choice)}" for number, choice in enumerate(note.choices, 1))
    if note.answer:
        yield f"Expected answer: {_line(note.answer)}"


def _quoted(*paragraphs: str) -> str:
    lines = "\n\n".join(filter(None, paragraphs)).splitlines()
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _moment(run: FinishedRun, note: Annotation) -> str:
    """Format as `Turn 2`, `After 3.1 s` or `Variant 2, end`."""
    moment = f"after {duration(note.at)}" if isinstance(note.at, float) else note.at
    place = f"variant {note.variant + 1}, {moment}" if len(run.variants) > 1 else moment
    return place[:1].upper() + place[1:]


def _line(text: str) -> str:
    return as_text(on_one_line(text))
