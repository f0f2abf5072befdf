"""The frozen form of a finished run: HTML without scripts, which notebooks save.

It reads as a document: a line, the answer, the page in a sandboxed frame, and folds for code and transcript. An
untrusted notebook and GitHub remove styles, frames and `data-*`. Every rule of the style sheet requires
`[data-anb-run]`, so the styles of a trusted output never apply to a sanitised one.
"""

import base64
import html
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, assert_never

from agent_nb._base.atomic import FOLDER
from agent_nb._base.constants import CHECK_TYPE, INTERACTIVE_NOTE, INTERACTIVE_TYPE, NAMES_TYPE
from agent_nb._base.late import PAGE_LOADERS
from agent_nb._base.secrets import beginning, mask
from agent_nb._base.table import Table
from agent_nb._base.text import on_one_line, plural
from agent_nb.core.bound_pages import bound_pages
from agent_nb.core.events import ENDINGS, MimeBundle
from agent_nb.files import human_size
from agent_nb.files.notebook_cells import text_of
from agent_nb.pages.preview import (
    TooLargeError,
    assembled,
    bound_script,
    frame_attributes,
    framed_page,
    still_frame_attributes,
)
from agent_nb.render.finished_run import FinishedRun
from agent_nb.render.outputs import IMAGES, image_data, plain_html
from agent_nb.render.safe_markdown import link, to_html, with_code
from agent_nb.render.shown import addition
from agent_nb.render.summary import (
    duration,
    ending,
    facts,
    offered_changes,
    result_expression,
    run_digest,
    subscript,
    trouble,
    variant_lines,
    variant_note,
    written_prompt,
)
from agent_nb.render.transcript import (
    ROW_STYLES,
    AnswerNoteRow,
    ImagesRow,
    LineRow,
    Row,
    RowState,
    SourcesRow,
    TextRow,
    ThinkingRow,
    ToolRow,
    image_labels,
    names_left,
)

MAX_OUTPUT = 20_000
MAX_TABLE = 60_000
"""Maximum characters of HTML that contains only tables and text."""
MAX_IMAGE = 400_000
MAX_ARGUMENT = 2_000
FIRST_LINES, MOST_LINES = 30, 40
"""A text with more than MOST_LINES lines shows the first FIRST_LINES and folds the rest."""

_DIFF_CLASSES = {"+": "anb-add", "-": "anb-del", "@": "anb-dim", "\\": "anb-dim"}
_COLOURS = {
    "Keyword": "k",
    "Operator.Word": "k",
    "Literal.String": "s",
    "Literal.Number": "s",
    "Comment": "m",
}
_FRAME_STYLE = (
    "<!doctype html><style>body{margin:8px;font:13px/1.5 system-ui,sans-serif}table{border-collapse:collapse}"
    "td,th{padding:2px 10px;border:solid #e0e0e0;border-width:0 0 1px;text-align:right}</style>"
)
MAX_PAGE = 1_000_000
"""Maximum characters of all pages in one output. A page beyond it is replaced by a note."""
MAX_PAGE_ALONE = 200_000_000
"""Maximum characters of a page outside the notebook; more than a run's files can add up to."""
MAX_CODE = 64_000
"""Maximum characters of code in an export."""
MAX_SAVED_CODE = 3_000
"""The same in a cell's output, whose frame has the page already."""
_LINE = 240
"""Column after which a style sheet is wrapped: notebooks are saved and compared line by line."""
_OUTPUT = '<p class="anb-untrusted"><br>Output:</p>'
"""Separates code from what it printed, where styles are removed."""


def rows_html(rows: Iterable[Row]) -> str:
    """Render the rows in order; consecutive edits of one file become a single foldable row."""
    parts = []
    for path, group in itertools.groupby(rows, key=_edited_path):
        edits = [row_html(row) for row in group]
        head = f"{_icon('ok')} {len(edits)} edits of <code>{html.escape(path)}</code>"
        parts += [_fold(head, "".join(edits))] if path and len(edits) > 1 else edits
    return "\n".join(parts)


def _edited_path(row: Row) -> str:
    return row.path if isinstance(row, ToolRow) and row.state == "ok" and row.action == "edited" else ""


def row_html(row: Row) -> str:
    match row:
        case TextRow(text=text, marks=marks):
            return f'<div class="anb-text">{to_html(text, marks)}</div>'
        case ThinkingRow(text=text, seconds=seconds):
            label = f"Thought for {duration(seconds)}" if seconds >= 0.05 else "Thought"
            return _fold(
                f'<span class="anb-dim">{label}</span>', f'<div class="anb-dim">{to_html(text)}</div>'
            )
        case SourcesRow(sources=sources):
            items = "".join(f"<li>{link(source.url, source.title or source.url)}</li>" for source in sources)
            return f'<ul class="anb-text">{items}</ul>'
        case ImagesRow(images=images):
            thumbnails = map(_thumbnail, image_labels(images), (image.data for image in images))
            return f'<p class="anb-given">{" ".join(thumbnails)}</p>'
        case AnswerNoteRow(title=title):
            return f'<p class="anb-text"><span class="anb-warn">{html.escape(title)}</span></p>'
        case LineRow():
            return _line(row)
        case _:
            assert_never(row)


def _thumbnail(label: str, data: bytes) -> str:
    """Render an image at its display size: sanitised HTML has no styles to shrink it."""
    alt = html.escape(label)
    if not data:
        return f'<span class="anb-dim">{alt}</span>'
    return f'<img alt="{alt}" title="{alt}" src="data:image/jpeg;base64,{base64.b64encode(data).decode()}">'


def _line(row: LineRow) -> str:
    facts = [row.outcome] if row.outcome else []
    title, inside = with_code(row.title), ""
    if isinstance(row, ToolRow):
        title, inside = _tool_title(row), _inside(row)
        facts += [duration(row.seconds)] if row.seconds >= 0.05 else []
    detail = f'<span class="anb-dim">{with_code(", ".join(facts))}</span>'
    line = f"{_icon(row.state)} {title}" + (f": {detail}" if facts else "")
    if isinstance(row, ToolRow) and row.code:
        return f'<div class="anb-step"><p class="anb-row">{line}</p>{inside}</div>'
    below = "".join(f"<li>{with_code(text)}</li>" for text in row.lines)
    below = f'<ul class="anb-plan">{below}</ul>' if below else ""
    return _fold(line, inside) if inside else f'<p class="anb-row">{line}</p>{below}'


def _icon(state: RowState) -> str:
    look = ROW_STYLES[state]
    return f'<span class="anb-{look.tone}">{look.icon}</span>'


def _tool_title(row: ToolRow) -> str:
    if not row.path or row.path not in row.title:
        return with_code(row.title)
    before, path, after = map(html.escape, row.title.partition(row.path))
    return f"{before}<code>{path}</code>{after}"


def _inside(row: ToolRow) -> str:
    pieces = [_source(row.code)] if row.code else []
    if row.hint and row.state == "failed":
        pieces.append(f"<p>{with_code(row.hint)}</p>")
    if row.decision:
        pieces.append(f"<p>{with_code(row.decision[:1].upper() + row.decision[1:])}.</p>")
    if row.note and row.state != "stopped":
        pieces.append(f"<p>Note to the model: <q>{html.escape(row.note)}</q></p>")
    args = {name: value for name, value in row.args.items() if not (row.code and name == "code")}
    if args and (row.decision or not row.path):  # what was approved is shown, even if a file shows the effect
        pieces.append(_block(_arguments(args)))
    checks = [output for output in row.outputs if CHECK_TYPE in output]
    outputs = [*map(_check, checks)] if checks else [*map(_output, row.outputs)]
    pieces += [_OUTPUT] if row.code and outputs and outputs[0].startswith("<pre") else []
    pieces += outputs
    if not row.outputs and row.state == "ok" and not row.path and row.result.strip() != row.detail:
        pieces.append(_block(row.result))
    return "".join(pieces)


def _source(code: str) -> str:
    """Highlight code; a sanitiser removes the colours."""
    pieces = (
        re.sub("(.+)", rf'<span class="anb-{colour}">\1</span>', text) if colour else text
        for colour, text in coloured(_cut(code).rstrip())
    )
    return _folded("".join(pieces), '<pre class="anb-source"><code>', "</code></pre>")


def _arguments(args: Mapping[str, Any]) -> str:
    """Format as `name: value` lines, with strings unquoted so that code reads as code."""
    lines = []
    for name, value in args.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
        text = text if len(text) <= MAX_ARGUMENT else f"{beginning(text, MAX_ARGUMENT)} …"
        lines.append(f"{name}:\n{text}" if "\n" in text else f"{name}: {text}")
    return "\n".join(lines)


def _output(bundle: MimeBundle) -> str:
    """Render the richest representation that is safe here."""
    texts = {kind: text_of(content) for kind, content in bundle.items()}
    plain = texts.get("text/plain", "")
    for kind in IMAGES:
        if kind in texts:
            return _image(kind, texts[kind], plain)
    if "text/x-diff" in texts:
        return _diff(texts["text/x-diff"])
    if NAMES_TYPE in texts:
        return f'<p class="anb-dim">{with_code(plain)}</p>' if plain else ""
    if INTERACTIVE_TYPE in texts or "<script" in texts.get("text/html", "").lower():
        return f'<p class="anb-dim">{INTERACTIVE_NOTE}</p>{_block(plain)}'
    if "text/html" in texts:
        copy = plain_html(texts["text/html"])
        if copy is not None and len(copy) <= MAX_TABLE:
            shown, rows = f'<div class="anb-plain">{copy}</div>', copy.count("<tr")
            return _fold(f"Table with {rows} rows", shown) if rows > MOST_LINES else shown
        if len(texts["text/html"]) <= MAX_OUTPUT:
            return _framed(texts["text/html"], plain)
    if "text/markdown" in texts:
        return f'<div class="anb-text">{to_html(_cut(texts["text/markdown"]))}</div>'
    return _block(plain) if plain else ""


def _check(bundle: MimeBundle) -> str:
    """Render the thumbnails and problems of a page check; the screenshots are too large to save."""
    shots = [shot for shot in bundle[CHECK_TYPE].get("screenshots", ()) if shot.get("thumbnail")]
    images = (_thumbnail(f"{shot['width']} px wide", base64.b64decode(shot["thumbnail"])) for shot in shots)
    return f'<p class="anb-given">{" ".join(images)}</p>{_block(text_of(bundle.get("text/plain", "")))}'


def _framed(markup: str, plain: str) -> str:
    """Render in a sandboxed frame. It cannot size itself, so its height is estimated from the table rows."""
    rows = markup.lower().count("<tr")
    height = min(40 + 25 * rows, 640) if rows else 160
    frame = f'style="height:{height}px" {still_frame_attributes(_FRAME_STYLE + markup)}'
    unframed = f'<div class="anb-untrusted">{_block(plain)}</div>' if plain else ""
    return f'<iframe class="anb-html" title="Tool output" loading="lazy" {frame}></iframe>{unframed}'


def _image(kind: str, content: str, caption: str) -> str:
    label = html.escape(caption or "image")
    if len(content) > MAX_IMAGE:
        size = human_size(len(content) * 3 // 4)
        return f'<p class="anb-dim">{label}: {kind}, {size}, too large to save here</p>'
    if not (data := image_data(kind, content)):
        return f'<p class="anb-dim">{label}: {kind}, unreadable</p>'
    return f'<p><img alt="{label}" title="{label}" src="data:{kind};base64,{data}"></p>'


def _diff(diff: str) -> str:
    lines = [line for line in _cut(diff).split("\n") if not line.startswith(("--- ", "+++ "))]
    pieces = []
    for kind, group in itertools.groupby(lines, key=lambda line: _DIFF_CLASSES.get(line[:1], "")):
        text = code_html("\n".join(group))
        pieces.append(f'<span class="{kind}">{text}</span>' if kind else text)
    return f"<pre>{chr(10).join(pieces).rstrip()}</pre>"


def _block(text: str) -> str:
    return _folded(code_html(_cut(text)).rstrip()) if text.strip() else ""


def _folded(markup: str, opening: str = "<pre>", closing: str = "</pre>") -> str:
    """Render lines, each of them valid HTML, with the end of a long text as a fold."""
    lines = markup.split("\n")
    end = FIRST_LINES if len(lines) > MOST_LINES else len(lines)
    first, remainder = (f"{opening}{chr(10).join(part)}{closing}" for part in (lines[:end], lines[end:]))
    return first + (_fold(f"{len(lines) - end} more lines", remainder) if lines[end:] else "")


def _cut(text: str) -> str:
    """Return the beginning of a text, masked: its parts become elements of HTML."""
    more = f"\n… {human_size(len(text) - MAX_OUTPUT)} more" if len(text) > MAX_OUTPUT else ""
    return mask(beginning(text, MAX_OUTPUT)) + more


def _fold(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary>{inside}</details>"


def code_html(code: str) -> str:
    """Escape code with few entities, which are the slowest part of JupyterLab's sanitiser."""
    return re.sub(r"&(?=[A-Za-z0-9#])", "&amp;", code).replace("<", "&lt;")


def coloured(code: str) -> Iterator[tuple[str, str]]:
    """Yield the CSS class, which may be empty, and the HTML of each token."""
    from pygments.lexers.python import PythonLexer

    tokens = PythonLexer(stripnl=False, ensurenl=False).get_tokens(code)
    for colour, group in itertools.groupby(tokens, key=lambda token: _colour(str(token[0]))):
        yield colour, code_html("".join(text for _, text in group))


def _colour(kind: str) -> str:
    name = kind.removeprefix("Token.")
    return next((colour for prefix, colour in _COLOURS.items() if name.startswith(prefix)), "")


def frozen_html(
    run: FinishedRun, rows: Sequence[Row], image: bytes = b"", load: str = "", max_code: int = MAX_CODE
) -> str:
    tone = "err" if run.failed_check else ENDINGS[run.reason].tone
    parts = [
        head(run.name, facts(run), tone),
        *(f'<p class="anb-error">{with_code(line)}</p>' for line in trouble(run)),
        *_contents(run, rows, _pages(run, image), _code(run, max_code)),
        _offered(run),
        _foot(run, load),
        _style(),
    ]
    return (
        f"{_title_line(run.name, ending(run))}"
        f'<div data-anb-run="{html.escape(run.key)}" data-anb-outcome="{run_digest(run)}">\n'
        f"{chr(10).join(filter(None, parts))}</div>"
    )


def _contents(run: FinishedRun, rows: Sequence[Row], pages: str, code: str) -> list[str]:
    """Return the answer, the pages, and folds with code and transcript.

    A run that ran code but made no page reads like a notebook, with nothing folded and the answer at the end.
    """
    images = [row for row in rows if isinstance(row, ImagesRow)]
    rows = [row for row in rows if not isinstance(row, ImagesRow)]
    end = len(rows)
    while end and isinstance(rows[end - 1], TextRow | SourcesRow | AnswerNoteRow):
        end -= 1
    answer = _answer(rows, end, addition(run).below)
    if not pages and any(isinstance(row, ToolRow) and row.code for row in rows):
        return [rows_html(images), rows_html(rows[:end]), f'<div class="anb-answer">{answer}</div>', code]
    return [rows_html(images), answer, pages, code, _transcript(rows[:end])]


def _answer(rows: Sequence[Row], start: int, below: Sequence[Table | str]) -> str:
    parts = [*map(row_html, rows[start:])]
    for shown in below:
        line = f'<p class="anb-text"><span class="anb-warn">{html.escape(str(shown))}</span></p>'
        table = "" if isinstance(shown, str) else f'<div class="anb-plain">{shown._repr_html_()}</div>'
        parts.append(table or line)
    names = (
        f"<li><code>{html.escape(name)}</code>: {html.escape(kind)}</li>"
        for name, kind in names_left(rows).items()
    )
    items = "".join(names)
    return "".join([*parts, f'<ul class="anb-dim">{items}</ul>' if items else ""])


def _transcript(rows: Sequence[Row]) -> str:
    thought = sum(row.seconds for row in rows if isinstance(row, ThinkingRow))
    calls = sum(isinstance(row, ToolRow) for row in rows)
    facts = [plural(calls, "tool call")] if calls else []
    facts += [f"thought for {duration(thought)}"] if thought >= 0.05 else []
    summary = f"Transcript{': ' if facts else ''}{', '.join(facts)}"
    return _fold(summary, rows_html(rows)) if rows else ""


def _title_line(name: str, state: str) -> str:
    """Return the first line, whose source JupyterLab shows for a collapsed output."""
    return f"<!-- {html.escape(name).replace('--', '')}: {state} -->\n"


def running_html(key: str, name: str, run_id: str, inside: str) -> str:
    """Return the output of a running run. The page identifies it by the run's id."""
    return (
        f"{_title_line(name, 'running')}"
        f'<div data-anb-run="{html.escape(key)}" data-anb-id="{html.escape(run_id)}">'
        f"{inside}{_style()}</div>"
    )


def progress_html(name: str, facts: list[str], rows: Sequence[Row], note: str) -> str:
    """Render a running run. Without rows it keeps the widget's height for a few seconds, then shrinks to the note."""
    first = "" if rows else ' class="anb-first"'
    body = f'{head(name, facts)}{rows_html(rows)}<p class="anb-note">{with_code(note)}</p>'
    return f"<div{first}>{body}</div>"


def html_page(run: FinishedRun, rows: Sequence[Row], notes: str = "") -> str:
    prompt = written_prompt(run)
    title = html.escape(beginning(on_one_line(f"{run.name}: {prompt}"), 120))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_sheet('page')}</style></head>\n"
        f'<body><p class="prompt">{html.escape(prompt)}</p>\n{frozen_html(run, rows)}\n{notes}</body></html>\n'
    )


def whole_page(run: FinishedRun) -> str | None:
    """Return the run's page with its files inlined; None without a page."""
    path = run.files.entry
    return None if path is None or run.html is None else assembled(run.files, path, MAX_PAGE_ALONE)


def page_alone(run: FinishedRun) -> str | None:
    """Return the run's page as a standalone document, sandboxed as in the notebook; None without a page."""
    page = whole_page(run)
    if page is None:
        return None
    title = html.escape(f"{run.name}: {run.files.entry}")
    return framed_page(page, f'<meta charset="utf-8"><title>{title}</title>', _saved_script(run))


def still_page(run: FinishedRun) -> str:
    """Return the page with its current values for output without a widget; empty without a page."""
    page = whole_page(run)
    if page is None:
        return ""
    title = html.escape(run.files.entry or "")
    style = "display:block;width:100%;height:480px;border:0"
    note = "The page is not connected to a kernel."
    frame = frame_attributes(page, _saved_script(run))
    return f'<iframe title="{title}" style="{style}" {frame}></iframe><p><em>{note}</em></p>'


def saved_values(run: FinishedRun) -> Mapping[str, str]:
    """Return the JSON values of a run's bound names in this kernel, by name."""
    is_served = PAGE_LOADERS and run.settings.get("bind")
    return bound_pages().saved_values(run.id, run.variant) if is_served else {}


def _saved_script(run: FinishedRun) -> str:
    """Return the `bound_script` of a run's page for use without a kernel."""
    return bound_script(run.settings.get("bind") or {}, saved_values(run))


def head(name: str, facts: list[str], tone: str = "dim") -> str:
    first, *others = map(html.escape, facts)
    more = f', <span class="anb-dim">{", ".join(others)}</span>' if others else ""
    state = f'<span class="anb-{tone}">{first}</span>'
    return f'<p class="anb-head"><strong>{html.escape(name)}</strong>: {state}{more}</p>'


def _foot(run: FinishedRun, load: str) -> str:
    lines = [
        *variant_lines(run),
        f"In Python: {result_expression(run)}{variant_note(run)}",
        *([f"In a new kernel, `{load}` loads it from `{FOLDER}`."] if load else []),
    ]
    return f'<p class="anb-dim">{"<br>".join(map(with_code, lines))}</p>'


def _pages(run: FinishedRun, image: bytes) -> str:
    """Return the frame with the page; the pages of variants are in folds, with that of the picked one open."""
    if len(run.variants) < 2:
        return _page(run, run.name, MAX_PAGE, image)[0]
    folds, remaining = [], MAX_PAGE
    for index, variant in enumerate(run.variants):
        is_picked = index == run.variant
        shown, length = _page(variant, run.name, remaining, image if is_picked else b"")
        remaining -= length
        state = " open" if is_picked else ""
        folds += [f"<details{state}><summary>Variant {index + 1}</summary>{shown}</details>"] if shown else []
    return "\n".join(folds)


def _page(run: FinishedRun, name: str, limit: int, image: bytes) -> tuple[str, int]:
    """Return the page of a run or variant in its frame, and its length; empty without a page."""
    path = run.files.entry
    if path is None or run.html is None:
        return "", 0
    try:
        page = assembled(run.files, path, limit)
    except TooLargeError:
        remedy = f'Write it to disk with `{name}.files.save("site")`.'
        note = with_code(f"`{path}` is too large to save in the notebook. {remedy}")
        return f'<p class="anb-note">{note}</p>', 0
    data = base64.b64encode(image).decode()
    still = f'<img alt="The page" src="data:image/png;base64,{data}"><br>' if image else ""
    note = f"{still}<em>The page itself is shown where this notebook is trusted.</em>"
    attributes = (
        f'title="{html.escape(f"Page: {path}")}" loading="lazy" {frame_attributes(page, _saved_script(run))}'
    )
    frame = f'<div class="anb-stage"><iframe {attributes}></iframe></div>'
    return f'{frame}<p class="anb-untrusted">{note}</p>', len(page)


def _code(run: FinishedRun, limit: int) -> str:
    files = []
    for path, content in run.files.items():
        title = f"<code>{html.escape(path)}</code>, {run.files.size_text(path)}"
        expression = f"<code>{html.escape(subscript(run, path))}</code>"
        start = ""
        if isinstance(content, str):
            start = content if len(content) <= limit else beginning(content, limit).rpartition("\n")[0]
            limit -= len(start)
        if not start:
            files.append(f"<p>{title}: {expression}</p>")
            continue
        files.append(f"<p>{title}</p><pre><code>{code_html(start)}</code></pre>")
        if omitted := len(content) - len(start):
            files.append(f"<p>… {human_size(omitted)} more: {expression}</p>")
    return _fold(f"Code: {plural(len(run.files), 'file')}", "\n".join(files)) if files else ""


def _offered(run: FinishedRun) -> str:
    heading, offered = offered_changes(run)
    changes = "".join(
        f"<details><summary>{html.escape(title)}</summary>{_diff(change.diff)}</details>"
        for title, change in offered
    )
    return f'<p class="anb-row">{heading}:</p>{changes}' if changes else ""


@cache
def _sheet(name: str) -> str:
    css = Path(__file__).with_name(f"{name}.css").read_text(encoding="utf-8")
    css = re.sub(r"/\*(?:(?!/\*).)*?\*/", "", css, flags=re.DOTALL)
    css = re.sub(r" ?([{};,>]) ?", r"\1", re.sub(r"\s+", " ", css)).replace(";}", "}").replace(": ", ":")
    remainder, lines = css.strip(), list[str]()
    while match := re.compile("[;}]").search(remainder, _LINE):
        lines.append(remainder[: match.end()])
        remainder = remainder[match.end() :]
    return "\n".join([*lines, remainder])


def _style() -> str:
    """Return the style element. It follows the text, because cleaners such as bleach keep its rules as text."""
    return f"<style>{_sheet('frozen')}</style>"
