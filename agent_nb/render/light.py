"""A run under way as light HTML without scripts, for front ends that show no widgets.

It shows a bounded part of the run, so its size is the same however long the run is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import agent_nb.events as ev
from agent_nb._base.secrets import mask
from agent_nb._base.stream_masker import StreamMasker
from agent_nb._base.text import printable_line, shortened, showable_text
from agent_nb.files import entry_of, human_size
from agent_nb.phase import phase_after
from agent_nb.render.frozen import head, running_html
from agent_nb.render.rows import LineRow, RetryRow, State, TextRow, ThinkingRow, ToolRow
from agent_nb.render.rows_html import row_html
from agent_nb.render.safe_markdown import to_html, with_code
from agent_nb.render.summary import model_label
from agent_nb.render.transcript import Transcript

MAX_CALLS = 6
"""Tool calls shown, the newest ones."""
MAX_TEXT = 300
"""Characters of what the model wrote last."""
MAX_LINE = 160
"""Characters of a title or a detail."""


@dataclass(slots=True)
class VariantSoFar:
    """What the light form shows of one variant. It grows event by event."""

    transcript: Transcript = field(default_factory=Transcript)
    phase: str = "starting"
    page: str = ""
    """The path of the page; empty until it is known."""
    size: int = 0
    """Of the page: in bytes, or in characters while it is being written."""
    end: ev.RunFinished | None = None

    def add(self, event: ev.Event) -> None:
        self.phase = phase_after(self.phase, event)
        self.transcript.add(event)
        match event:
            case ev.FileDelta(path=path, offset=offset, text=text):
                self._resize(path, offset + len(text))
            case ev.FileChanged(path=path, action=action, size=size):
                self._resize(path, 0 if action == "deleted" else size)
            case ev.RunFinished():
                self.end = event
            case _:
                pass

    def _resize(self, path: str, size: int) -> None:
        if path and entry_of([self.page, path]) == path:
            self.page, self.size = path if size else "", size


@dataclass(frozen=True, slots=True)
class RunSoFar:
    """A run under way, as far as the light form shows it."""

    key: str
    name: str
    model: str
    run_id: str
    variants: dict[int, VariantSoFar] = field(default_factory=dict)

    def add(self, event: ev.Event) -> None:
        self.variants.setdefault(event.variant, VariantSoFar()).add(event)


def light_html(run: RunSoFar, note: str, question: str = "", *, tall: bool = False) -> str:
    """The run so far, with `note` below it. With `tall` it has the height of the widget, which may still come."""
    variants = [run.variants[number] for number in sorted(run.variants)]
    rows = _variant_rows(variants) if len(variants) > 1 else [row for one in variants for row in _rows(one)]
    asked = f'<p class="anb-error">{with_code(question)}</p>' if question else ""
    talk = f'<div class="anb-talk">{"".join(rows)}</div>' if rows else ""
    classes = f"anb-frozen anb-{'warn' if question else 'off'}{' anb-first' if tall else ''}"
    return running_html(
        run.key,
        run.name,
        run.run_id,
        f'<div class="{classes}" style=\'--anb-mark:"…"\'>{head(run.name, _facts(run, variants))}'
        f'{asked}{talk}<p class="anb-foot">{with_code(note)}</p></div>',
    )


def _facts(run: RunSoFar, variants: Sequence[VariantSoFar]) -> list[str]:
    model = model_label(run.model)
    if len(variants) > 1:
        ended = sum(variant.end is not None for variant in variants)
        return [f"{ended} of {len(variants)} variants ended", model]
    if not variants:
        return ["starting", model]
    (variant,) = variants
    page = [f"{_line(variant.page)} {human_size(variant.size)}"] if variant.size else []
    return [_line(variant.phase), model, *page]


def _rows(variant: VariantSoFar) -> list[str]:
    """The newest tool calls and, below them, what the model wrote last."""
    calls = [row for row in variant.transcript.rows if isinstance(row, ToolRow)]
    lines = [
        LineRow(
            turn=row.turn,
            title=_line(row.title),
            detail=_line(row.detail),
            state="info" if row.state == "stopped" and not variant.end else row.state,
        )
        for row in calls[-MAX_CALLS:]
    ]
    return [*map(row_html, lines), *_last_words(variant.transcript)]


def _last_words(transcript: Transcript) -> list[str]:
    """The end of what the model wrote last; nothing if that was withdrawn for another attempt."""
    streamed = transcript.streamed
    kinds = (TextRow, ThinkingRow, RetryRow)
    last = streamed or next((row for row in reversed(transcript.rows) if isinstance(row, kinds)), None)
    if last is None or isinstance(last, RetryRow):
        return []
    # Of a secret that is still arriving, nothing is shown.
    masked = StreamMasker().more(last.text) if streamed else showable_text(mask(last.text))
    text = " ".join(masked.split())
    if len(text) > MAX_TEXT:
        text = f"… {text[-MAX_TEXT:].partition(' ')[2] or text[-MAX_TEXT:]}"
    dim = isinstance(last, ThinkingRow)
    return [f'<div class="{"anb-dim" if dim else "anb-text"}">{to_html(text)}</div>'] if text else []


def _variant_rows(variants: Sequence[VariantSoFar]) -> list[str]:
    states: dict[ev.Tone, State] = {"ok": "ok", "err": "failed", "warn": "stopped", "off": "stopped"}
    rows = []
    for number, variant in enumerate(variants, 1):
        size = f", {human_size(variant.size)}" if variant.size else ""
        detail = f"{_line(variant.phase)}{size}"
        state: State = "info"
        if variant.end:
            detail = _line(variant.end.error) if variant.end.error else detail
            state = states[ev.ENDINGS[variant.end.reason].tone]
        rows.append(row_html(LineRow(turn=0, title=f"Variant {number}", detail=detail, state=state)))
    return rows


def _line(text: str) -> str:
    """The text on one line. It is masked before it is cut, because half a key would not be recognised."""
    return shortened(printable_line(mask(text)), MAX_LINE)
