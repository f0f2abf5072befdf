"""The frozen form of a finished run: HTML without scripts, which notebooks save.

In a trusted notebook the style sheet arranges it in tabs, with the page in a sandboxed frame. An untrusted notebook
and GitHub sanitise it: styles, frames and `data-*` are removed, and the same markup reads as a document. Every rule of
the style sheet requires `[data-anb-run]`, so the styles of a trusted output never apply to a sanitised one.
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
from agent_nb._base.secrets import mask, masked_line
from agent_nb._base.table import Table
from agent_nb._base.text import plural
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
_LINE = 240
"""Column after which a style sheet is wrapped: notebooks are saved and compared line by line."""
_GAP = '<br class="anb-c">'
"""Separates folds from paragraphs where styles are removed."""
_OUTPUT = '<p class="anb-c"><br>Output:</p>'
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
    line = f"{_icon(row.state)} {title}" + (f'<span class="anb-c">: </span>{detail}' if facts else "")
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
    """Highlight code; a sanitiser removes the colours. Masked first, because half a key would not be recognised."""
    pieces = (
        re.sub("(.+)", rf'<span class="anb-{colour}">\1</span>', text) if colour else text
        for colour, text in coloured(_cut(mask(code)).rstrip())
    )
    return _folded("".join(pieces), '<pre class="anb-source"><code>', "</code></pre>")


def _arguments(args: Mapping[str, Any]) -> str:
    """Format as `name: value` lines, with strings unquoted so that code reads as code."""
    lines = []
    for name, value in args.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
        # Masked before it is cut, because half a key would not be recognised.
        text = text if len(text) <= MAX_ARGUMENT else mask(text)[:MAX_ARGUMENT] + " …"
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
    if len(text) <= MAX_OUTPUT:
        return text
    return f"{mask(text)[:MAX_OUTPUT]}\n… {human_size(len(text) - MAX_OUTPUT)} more"


def _fold(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary>{inside}</details>"


def code_html(code: str) -> str:
    """Mask and escape code. Uses few entities: they are the slowest part of JupyterLab's sanitiser."""
    return re.sub(r"&(?=[A-Za-z0-9#])", "&amp;", mask(code)).replace("<", "&lt;")


def coloured(code: str) -> Iterator[tuple[str, str]]:
    """Yield the CSS class, which may be empty, and the HTML of each token."""
    from pygments.lexers.python import PythonLexer

    tokens = PythonLexer(stripnl=False, ensurenl=False).get_tokens(code)
    for colour, group in itertools.groupby(tokens, key=lambda token: _colour(str(token[0]))):
        yield colour, code_html("".join(text for _, text in group))


def _colour(kind: str) -> str:
    name = kind.removeprefix("Token.")
    return next((colour for prefix, colour in _COLOURS.items() if name.startswith(prefix)), "")


def frozen_html(run: FinishedRun, rows: Sequence[Row], image: bytes = b"", load: str = "") -> str:
    pages, code = _pages(run, image), _code(run)
    log = _log(rows, addition(run).below, folds=bool(pages))
    log += _offered(run)
    labels = [*(label for label, _ in pages), *(["Code"] if code else []), *(["Transcript"] if log else [])]
    several = len(labels) > 1
    panels = [(len(labels), log), *((number, page) for number, (_, page) in enumerate(pages, 1))]
    panels.append((len(pages) + 1, code))
    body = "".join(
        f'<div class="anb-panel{f" anb-n{number}" if several else ""}">\n{inside}</div>\n'
        for number, inside in panels
        if inside
    )
    selected = _chosen_page(run) if pages else len(labels) - 1
    tone = "err" if run.failed_check else ENDINGS[run.reason].tone
    code_style = _sheet("frozen_code") if "anb-step" in log or "anb-plain" in log else ""
    error = "".join(f'<p class="anb-error">{with_code(line)}</p>' for line in trouble(run))
    return (
        f"{_title_line(run.name, ending(run))}"
        f'<div data-anb-run="{html.escape(run.key)}" data-anb-outcome="{run_digest(run)}">\n'
        f'<form class="anb-frozen anb-{tone}" method="dialog" autocomplete="off">\n'
        f"{head(run.name, facts(run))}\n{error}{_tabs(labels, selected) if several else ''}{body}"
        f"{_foot(run, load)}</form>\n{_styles(len(labels) if several else 0, code_style)}</div>"
    )


def _styles(tabs: int, more: str = "") -> str:
    """Return the style element. It follows the text, because cleaners such as bleach keep its rules as text."""
    return f"<style>{_style(tabs)}{more}</style>"


def _title_line(name: str, state: str) -> str:
    """Return the first line, whose source JupyterLab shows for a collapsed output."""
    return f"<!-- {html.escape(name).replace('--', '')}: {state} -->\n"


def running_html(key: str, name: str, run_id: str, inside: str) -> str:
    """Return the output of a running run. The page identifies it by the run's id."""
    return (
        f"{_title_line(name, 'running')}"
        f'<div data-anb-run="{html.escape(key)}" data-anb-id="{html.escape(run_id)}">'
        f"{inside}{_styles(0)}</div>"
    )


def progress_html(name: str, facts: list[str], rows: Sequence[Row], note: str) -> str:
    """Render a running run. Without rows it keeps the widget's height for a few seconds, then shrinks to the note."""
    talk = f'<div class="anb-talk">{rows_html(rows)}</div>' if rows else ""
    classes = "anb-frozen anb-off" if rows else "anb-frozen anb-first anb-off"
    return f'<div class="{classes}">{head(name, facts)}{talk}<p class="anb-note">{with_code(note)}</p></div>'


def html_page(run: FinishedRun, rows: Sequence[Row], notes: str = "") -> str:
    prompt = written_prompt(run)
    title = html.escape(f"{run.name}: {masked_line(prompt)}"[:120])
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
    title = html.escape(mask(f"{run.name}: {run.files.entry}"))
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


def head(name: str, facts: list[str]) -> str:
    first, *others = (f"<span>{html.escape(fact)}</span>" for fact in facts)
    comma = '<span class="anb-c">, </span>'
    return (
        f'<p class="anb-head"><strong>{html.escape(name)}</strong><span class="anb-c">: </span>{first}'
        f'<span class="anb-facts">{"".join(comma + fact for fact in others)}</span></p>'
    )


def _foot(run: FinishedRun, load: str) -> str:
    lines = [
        *variant_lines(run),
        f"In Python: {result_expression(run)}{variant_note(run)}",
        *([f"In a new kernel, `{load}` loads it from `{FOLDER}`."] if load else []),
    ]
    return f'<p class="anb-foot">{"<br>".join(map(with_code, lines))}</p>'


def _tabs(labels: list[str], selected: int) -> str:
    """Render the tabs. Without the style sheet they stay hidden, and their labels are only in attributes."""
    # Prevents JupyterLab from handling the arrow keys.
    keys = 'data-lm-suppress-shortcuts="true"'
    radios = "".join(
        f'<label data-label="{label}"><input type="radio" name="tab" aria-label="{label}" {keys}'
        f"{' checked' if index == selected else ''}></label>"
        for index, label in enumerate(labels)
    )
    return f'<div class="anb-tabs" role="radiogroup" aria-label="View" hidden="hidden">{radios}</div>\n'


def _pages(run: FinishedRun, image: bytes) -> list[tuple[str, str]]:
    data = base64.b64encode(image).decode()
    still = f'<img alt="The page" src="data:image/png;base64,{data}"><br>' if image else ""
    shown_untrusted = f"{still}<em>The page itself is shown where this notebook is trusted.</em>"
    variants = [run] if len(run.variants) < 2 else list(run.variants)
    pages: list[tuple[str, str]] = []
    remaining = MAX_PAGE
    for number, variant in enumerate(variants, 1):
        label = "Preview" if len(variants) == 1 else f"Variant {number}"
        path = variant.files.entry
        if path is None or variant.html is None:
            continue
        try:
            page = assembled(variant.files, path, remaining)
        except TooLargeError:
            remedy = f'Write it to disk with `{run.name}.files.save("site")`.'
            note = with_code(f"`{path}` is too large to save in the notebook. {remedy}")
            pages.append((label, f'<p class="anb-note">{note}</p>'))
            continue
        remaining -= len(page)
        trust = "" if pages else f'<p class="anb-untrusted">{shown_untrusted}</p>'
        title = html.escape(f"{label}: {path}")
        frame = f'<iframe title="{title}" loading="lazy" {frame_attributes(page, _saved_script(variant))}></iframe>'
        pages.append((label, f'<div class="anb-stage">{frame}</div>{trust}'))
    return pages


def _chosen_page(run: FinishedRun) -> int:
    with_page = [variant for variant in run.variants if variant.files.entry]
    return next((index for index, variant in enumerate(with_page) if variant.files == run.files), 0)


def _code(run: FinishedRun) -> str:
    remaining = MAX_CODE
    rows = []
    for path, content in run.files.items():
        name = f'<code>{html.escape(path)}</code><span class="anb-c">, </span>'
        size = f'<span class="anb-dim">{run.files.size_text(path)}</span>'
        if isinstance(content, str) and len(content) <= remaining:
            remaining -= len(content)
            open_class = ' class="anb-open"' if path == run.files.entry or len(run.files) == 1 else ""
            code = f"<pre><code>{code_html(content)}</code></pre>"
            rows.append(f"<details{open_class}><summary>{name}{size}</summary>{code}</details>")
        else:
            expression = html.escape(subscript(run, path))
            rows.append(
                f'<p class="anb-row">{name}{size}<span class="anb-c">: </span><code>{expression}</code></p>'
            )
    return f'<div class="anb-files">{"".join(rows)}</div>{_GAP}' if rows else ""


def _log(rows: Sequence[Row], below: Sequence[Table | str], *, folds: bool) -> str:
    """Render the transcript as one fold between the attached images and the final text, which stay visible."""
    images = "".join(row_html(row) for row in rows if isinstance(row, ImagesRow))
    rows = [row for row in rows if not isinstance(row, ImagesRow)]
    end = len(rows)
    while end and isinstance(rows[end - 1], TextRow | SourcesRow | AnswerNoteRow):
        end -= 1
    thought = sum(row.seconds for row in rows if isinstance(row, ThinkingRow))
    calls = sum(isinstance(row, ToolRow) for row in rows)
    facts = [plural(calls, "tool call")] if calls else []
    facts += [f"thought for {duration(thought)}"] if thought >= 0.05 else []
    summary = f"<summary>Transcript{': ' if facts else ''}{', '.join(facts)}</summary>"
    folded = rows_html(rows[:end])
    log = f'<details class="anb-open anb-log">{summary}{folded}</details>{_GAP}' if folded else ""
    ran_code = any(isinstance(row, ToolRow) and row.code for row in rows)
    if ran_code and not folds:
        log = folded
    answer = "".join(map(row_html, rows[end:]))
    for shown in below:
        line = f'<p class="anb-text"><span class="anb-warn">{html.escape(str(shown))}</span></p>'
        table = "" if isinstance(shown, str) else f'<div class="anb-plain">{shown._repr_html_()}</div>'
        answer += table or line
    if ran_code and answer:
        answer = f'<div class="anb-answer">{answer}</div>'
    if names := names_left(rows):
        kinds = (
            f"<li><code>{html.escape(name)}</code>: {html.escape(kind)}</li>" for name, kind in names.items()
        )
        answer += f'<ul class="anb-left">{"".join(kinds)}</ul>'
    return f'<div class="anb-talk">{images}{log}{answer}</div>' if images or log or answer else ""


def _offered(run: FinishedRun) -> str:
    heading, offered = offered_changes(run)
    changes = "".join(
        f"<details><summary>{html.escape(title)}</summary>{_diff(change.diff)}</details>"
        for title, change in offered
    )
    return f'<div class="anb-talk"><p class="anb-row">{heading}:</p>{changes}</div>' if changes else ""


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


@cache
def _style(tabs: int) -> str:
    """Return the style sheet, with a rule per tab that shows its panel while its radio button is checked."""
    rules = (
        f"[data-anb-run] .anb-frozen:not(:has(>.anb-tabs>:nth-child({n})>:checked))>.anb-n{n}{{display:none}}"
        for n in range(1, tabs + 1)
    )
    return _sheet("frozen") + "".join(rules)
