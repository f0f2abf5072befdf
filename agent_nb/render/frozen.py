"""A finished run as HTML without scripts: the frozen form, which notebooks save.

In a trusted notebook the style sheet arranges it in tabs, with the page in a sandboxed frame. An untrusted notebook
and GitHub sanitise it: styles, frames and `data-*` are removed, and the same markup reads as a document. Every rule of
the style sheet requires `[data-anb-run]`, so the styles of a trusted output never apply to a sanitised one.
"""

import base64
import html
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent_nb._base.secrets import mask, masked_line
from agent_nb.events import ENDINGS
from agent_nb.files import human_size
from agent_nb.render.preview import (
    TooLargeError,
    assembled,
    bound_script,
    frame_attributes,
    framed_page,
    saved_script,
)
from agent_nb.render.rows import ImagesRow, Row, SourcesRow, TextRow, ThinkingRow, ToolRow, names_left
from agent_nb.render.rows_html import code_html, row_html, rows_html
from agent_nb.render.safe_markdown import with_code
from agent_nb.render.summary import (
    duration,
    ending,
    facts,
    plural,
    result_expression,
    run_digest,
    subscript,
    trouble,
    unsupported_note,
    variant_lines,
    variant_note,
)

if TYPE_CHECKING:
    from agent_nb.run.record import RunRecord

MAX_PAGE = 1_000_000
"""Characters of all pages in one output. A page that exceeds it is replaced by a note."""
MAX_PAGE_ALONE = 200_000_000
"""Characters of a page outside the notebook: more than all files of a run can have."""
MAX_CODE = 64_000

_LINE = 240
"""Characters after which a style sheet is broken: notebooks are saved and compared line by line."""
_GAP = '<br class="anb-c">'
"""Separates folds from paragraphs where there are no styles to do it."""


def frozen_html(run: "RunRecord", rows: Sequence[Row], image: bytes = b"") -> str:
    pages, code = _pages(run, image), _code(run)
    log = _log(rows, folds=bool(pages))
    labels = [*(label for label, _ in pages), *(["Code"] if code else []), *(["Transcript"] if log else [])]
    several = len(labels) > 1
    panels = [(len(labels), log), *((number, page) for number, (_, page) in enumerate(pages, 1))]
    panels.append((len(pages) + 1, code))
    body = "".join(
        f'<div class="anb-panel{f" anb-n{number}" if several else ""}">\n{inside}</div>\n'
        for number, inside in panels
        if inside
    )
    chosen = _chosen_page(run) if pages else len(labels) - 1
    tone = "err" if run.failed_check else ENDINGS[run.reason].tone
    error = "".join(f'<p class="anb-error">{with_code(line)}</p>' for line in trouble(run))
    return (
        f"{_title_line(run.name, ending(run))}"
        f'<div data-anb-run="{html.escape(run.key)}" data-anb-outcome="{run_digest(run)}">\n'
        f"<style>{_style(len(labels) if several else 0)}{_sheet('frozen_code') if 'anb-step' in log else ''}</style>\n"
        f'<form class="anb-frozen anb-{tone}" method="dialog" autocomplete="off">\n'
        f"{head(run.name, facts(run))}\n{error}{_tabs(labels, chosen) if several else ''}{body}"
        f"{_foot(run)}</form></div>"
    )


def _title_line(name: str, state: str) -> str:
    """JupyterLab shows the source of the first line when an output is collapsed."""
    return f"<!-- {html.escape(name).replace('--', '')}: {state} -->\n"


def running_html(key: str, name: str, run_id: str, inside: str) -> str:
    """The output of a run under way. The page knows it by the run's id."""
    return (
        f"{_title_line(name, 'running')}"
        f'<div data-anb-run="{html.escape(key)}" data-anb-id="{html.escape(run_id)}"><style>{_style(0)}</style>'
        f"{inside}</div>"
    )


def progress_html(name: str, facts: list[str], rows: Sequence[Row], note: str) -> str:
    """A run under way. Without rows it has the height of the widget for a few seconds, then shrinks to the note."""
    talk = f'<div class="anb-talk">{rows_html(rows)}</div>' if rows else ""
    classes = "anb-frozen anb-off" if rows else "anb-frozen anb-first anb-off"
    return f'<div class="{classes}">{head(name, facts)}{talk}<p class="anb-note">{with_code(note)}</p></div>'


def html_page(run: "RunRecord", rows: Sequence[Row], notes: str = "") -> str:
    title = html.escape(f"{run.name}: {masked_line(run.prompt)}"[:120])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_sheet('page')}</style></head>\n"
        f'<body><p class="prompt">{html.escape(run.prompt)}</p>\n{frozen_html(run, rows)}\n{notes}</body></html>\n'
    )


def page_alone(run: "RunRecord", *, is_live: bool = False) -> str | None:
    """The page of the run as a document of its own, as closed as in the notebook; None if there is no page.

    A live one is connected to the window that shows it.
    """
    path = run.files.entry
    if path is None or not isinstance(run.files[path], str):
        return None
    title = html.escape(mask(f"{run.name}: {path}"))
    page = assembled(run.files, path, MAX_PAGE_ALONE)
    bound = bound_script(run.settings.get("bind") or {}, None) if is_live else saved_script(run)
    return framed_page(page, f'<meta charset="utf-8"><title>{title}</title>', bound)


def still_page(run: "RunRecord") -> str:
    """The page alone where no widget is shown, with its values as they are now; empty if there is no page."""
    path = run.files.entry
    if path is None or not isinstance(run.files[path], str):
        return ""
    page = assembled(run.files, path, MAX_PAGE_ALONE)
    style = "display:block;width:100%;height:480px;border:0"
    note = "The page is not connected to a kernel."
    frame = frame_attributes(page, saved_script(run))
    return f'<iframe title="{html.escape(path)}" style="{style}" {frame}></iframe><p><em>{note}</em></p>'


def head(name: str, facts: list[str]) -> str:
    first, *rest = (f"<span>{html.escape(fact)}</span>" for fact in facts)
    comma = '<span class="anb-c">, </span>'
    return (
        f'<p class="anb-head"><strong>{html.escape(name)}</strong><span class="anb-c">: </span>{first}'
        f'<span class="anb-facts">{"".join(comma + fact for fact in rest)}</span></p>'
    )


def _foot(run: "RunRecord") -> str:
    lines = [
        *unsupported_note(run),
        *variant_lines(run),
        f"In Python: {result_expression(run)}{variant_note(run)}",
    ]
    return f'<p class="anb-foot">{"<br>".join(map(with_code, lines))}</p>'


def _tabs(labels: list[str], chosen: int) -> str:
    """The style sheet shows the tabs. Without it they stay hidden, and their labels are only in attributes."""
    # Keeps JupyterLab from handling the arrow keys.
    keys = 'data-lm-suppress-shortcuts="true"'
    radios = "".join(
        f'<label data-label="{label}"><input type="radio" name="tab" aria-label="{label}" {keys}'
        f"{' checked' if index == chosen else ''}></label>"
        for index, label in enumerate(labels)
    )
    return f'<div class="anb-tabs" role="radiogroup" aria-label="View" hidden="hidden">{radios}</div>\n'


def _pages(run: "RunRecord", image: bytes) -> list[tuple[str, str]]:
    data = base64.b64encode(image).decode()
    still = f'<img alt="The page" src="data:image/png;base64,{data}"><br>' if image else ""
    shown_untrusted = f"{still}<em>Trust this notebook to see the page.</em>"
    shown = [run] if len(run.variants) < 2 else list(run.variants)
    pages: list[tuple[str, str]] = []
    left = MAX_PAGE
    for number, one in enumerate(shown, 1):
        label = "Preview" if len(shown) == 1 else f"Variant {number}"
        path = one.files.entry
        if path is None or not isinstance(one.files[path], str):
            continue
        try:
            page = assembled(one.files, path, left)
        except TooLargeError:
            pages.append((label, _too_large(run, path)))
            continue
        left -= len(page)
        trust = "" if pages else f'<p class="anb-untrusted">{shown_untrusted}</p>'
        title = html.escape(f"{label}: {path}")
        frame = (
            f'<iframe title="{title}" loading="lazy" {frame_attributes(page, saved_script(one))}></iframe>'
        )
        pages.append((label, f'<div class="anb-stage">{frame}</div>{trust}'))
    return pages


def _too_large(run: "RunRecord", path: str) -> str:
    note = f'`{path}` is too large to save in the notebook. Write it to disk with `{run.name}.files.save("site")`.'
    return f'<p class="anb-note">{with_code(note)}</p>'


def _chosen_page(run: "RunRecord") -> int:
    with_page = [variant for variant in run.variants if variant.files.entry]
    return next((index for index, variant in enumerate(with_page) if variant.files == run.files), 0)


def _code(run: "RunRecord") -> str:
    left = MAX_CODE
    rows = []
    for path, content in run.files.items():
        name = f'<code>{html.escape(path)}</code><span class="anb-c">, </span>'
        size = f'<span class="anb-dim">{human_size(run.files.size(path))}</span>'
        if isinstance(content, str) and len(content) <= left:
            left -= len(content)
            shown = ' class="anb-open"' if path == run.files.entry or len(run.files) == 1 else ""
            code = f"<pre><code>{code_html(content)}</code></pre>"
            rows.append(f"<details{shown}><summary>{name}{size}</summary>{code}</details>")
        else:
            expression = html.escape(subscript(run, path))
            rows.append(
                f'<p class="anb-row">{name}{size}<span class="anb-c">: </span><code>{expression}</code></p>'
            )
    return f'<div class="anb-files">{"".join(rows)}</div>{_GAP}' if rows else ""


def _log(rows: Sequence[Row], *, folds: bool) -> str:
    """The transcript in one fold, between the given images and the final text, which are always visible."""
    given = "".join(row_html(row) for row in rows if isinstance(row, ImagesRow))
    rows = [row for row in rows if not isinstance(row, ImagesRow)]
    end = len(rows)
    while end and isinstance(rows[end - 1], TextRow | SourcesRow):
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
    if ran_code and answer:
        answer = f'<div class="anb-answer">{answer}</div>'
    if left := names_left(rows):
        kinds = (
            f"<li><code>{html.escape(name)}</code>: {html.escape(kind)}</li>" for name, kind in left.items()
        )
        answer += f'<ul class="anb-left">{"".join(kinds)}</ul>'
    return f'<div class="anb-talk">{given}{log}{answer}</div>' if given or log or answer else ""


@cache
def _sheet(name: str) -> str:
    css = Path(__file__).with_name(f"{name}.css").read_text(encoding="utf-8")
    css = re.sub(r"/\*(?:(?!/\*).)*?\*/", "", css, flags=re.DOTALL)
    css = re.sub(r" ?([{};,>]) ?", r"\1", re.sub(r"\s+", " ", css)).replace(";}", "}").replace(": ", ":")
    rest, lines = css.strip(), list[str]()
    while found := re.compile("[;}]").search(rest, _LINE):
        lines.append(rest[: found.end()])
        rest = rest[found.end() :]
    return "\n".join([*lines, rest])


@cache
def _style(tabs: int) -> str:
    """The style sheet, with a rule for each tab that shows its panel while its radio button is checked."""
    rules = (
        f"[data-anb-run] .anb-frozen:not(:has(>.anb-tabs>:nth-child({n})>:checked))>.anb-n{n}{{display:none}}"
        for n in range(1, tabs + 1)
    )
    return _sheet("frozen") + "".join(rules)
