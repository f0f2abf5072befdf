"""Renders a finished run as frozen HTML, Markdown and plain text. Pure functions: equal runs give equal bytes."""

import base64
import html
from collections.abc import Callable
from dataclasses import dataclass

from agent_nb._base.secrets import Exact, Masked, MaskedJson, for_page, safe_text, terminal_text
from agent_nb.render.finished_run import FinishedRun
from agent_nb.render.frozen import (
    MAX_SAVED_CODE,
    frozen_html,
    html_page,
    page_alone,
    progress_html,
    running_html,
    still_page,
    whole_page,
)
from agent_nb.render.plain import markdown, markdown_document, notes_html, plain_text, progress_texts
from agent_nb.render.safe_markdown import as_text
from agent_nb.render.summary import model_label
from agent_nb.render.transcript import Row, rows_of, shortened, shortened_text


def bundle(run: FinishedRun, image: bytes = b"", load: str = "") -> MaskedJson:
    """Return the MIME bundle of a cell's output. Long texts are truncated; the exports below are complete.

    `load` is the command that loads the saved run in a new kernel.
    """
    rows = list(shortened(rows_of(run), run.name))
    return _output(
        frozen_html(run, rows, image, load, MAX_SAVED_CODE),
        markdown(run, rows),
        plain_text(run, rows, shortened_text(run.text, f"{run.name}.text")),
        image,
    )


def _output(markup: str, in_markdown: str, in_text: str, image: bytes = b"") -> MaskedJson:
    """Return the MIME bundle of these forms, masked."""
    figure = {"image/png": Exact(base64.b64encode(image).decode())} if image else {}
    return for_page({"text/html": markup, "text/markdown": in_markdown, "text/plain": in_text, **figure})


@dataclass(frozen=True, slots=True)
class Progress:
    phase: str = ""
    rows: tuple[Row, ...] = ()
    hint: str = ""
    """Hint for the user while the run continues."""


def first_frame(
    key: str, name: str, model: str, run_id: str = "", progress: Progress = Progress()
) -> MaskedJson:
    """Return a cell's output before the widget mounts. A notebook saved during the run contains it."""
    note = f"`{name}` is running, or was when this was saved. Its result will be here when it has ended."
    note += f" If its kernel is gone, `%agent load {name}` loads what was saved of it."
    status = f"{note} {progress.hint}".strip()
    facts = [*filter(None, [progress.phase]), model_label(model)]
    rows = list(shortened(progress.rows, name))
    in_markdown, in_text = progress_texts(rows)
    about = f"{name}: running, or was when this was saved ({model_label(model)})"
    return _output(
        running_html(key, name, run_id, progress_html(name, facts, rows, status)),
        f"{note}\n\n{in_markdown}".strip(),
        f"{about}\n{in_text}".strip(),
    )


def abandoned_frame(name: str, why: str) -> MaskedJson:
    note = f"{name} has ended, but its output could not be made. {why}"
    return _output(f"<p>{html.escape(note)}</p>", as_text(note), note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A text format of a whole run. `FORMS` lists them for `%agent export` and for the tests of masking, foreign files
    and leaks."""

    suffix: str
    unmasked: "Callable[[FinishedRun], str]"
    """Renders the run without masking; called only by `render`, which also removes control characters."""

    def render(self, run: FinishedRun) -> Masked:
        return terminal_text(self.unmasked(run))


HTML = Form(suffix=".html", unmasked=lambda run: html_page(run, rows_of(run), notes_html(run)))
MARKDOWN = Form(
    suffix=".md",
    unmasked=lambda run: markdown_document(run, rows_of(run)),
)
TEXT = Form(suffix=".txt", unmasked=lambda run: plain_text(run, rows_of(run), run.text))
FORMS = (HTML, MARKDOWN, TEXT)


def to_page(run: FinishedRun) -> Masked | None:
    """Return the run's page and its files as one self-contained, sandboxed HTML document; None without a page."""
    page = page_alone(run)
    return page if page is None else safe_text(page)


def page_source(run: FinishedRun) -> Masked:
    """Return the run's page with its files inlined, for a frame of the front end; empty without a page."""
    return safe_text(whole_page(run) or "")


def page_html(run: FinishedRun) -> Masked:
    """Return the run's page as a separate output."""
    return safe_text(still_page(run))
