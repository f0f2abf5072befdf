"""A run under way as light HTML without scripts, for front ends that show no widgets.

It shows a bounded part of the run, so an update costs the same however long the run is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from agent_nb._base.secrets import mask
from agent_nb._base.stream_masker import StreamMasker
from agent_nb._base.text import printable_line
from agent_nb.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallEvent,
    ConversationCompacted,
    Event,
    FileChanged,
    FileDelta,
    MessageAdded,
    RunFinished,
    RunStarted,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolFinished,
    ToolProgress,
    ToolReady,
    ToolRunning,
    ToolStarted,
    TurnFinished,
    TurnRetrying,
    TurnStarted,
    UsageUpdated,
)
from agent_nb.files import entry_of, human_size
from agent_nb.phase import phase_after
from agent_nb.render.frozen import head, running_html
from agent_nb.render.rows import LineRow, State
from agent_nb.render.rows_html import row_html
from agent_nb.render.safe_markdown import to_html, with_code
from agent_nb.render.summary import model_label
from agent_nb.render.transcript import state_of

MAX_CALLS = 6
"""Tool calls shown, the newest ones."""
MAX_TEXT = 300
"""Characters of what the model wrote last."""
MAX_LINE = 160
"""Characters of a title or a detail."""


@dataclass(slots=True)
class VariantSoFar:
    """What the light form shows of one variant. It grows event by event."""

    phase: str = "starting"
    turn: int = 0
    page: str = ""
    """The path of the page; empty until it is known."""
    size: int = 0
    """Of the page: in bytes, or in characters while it is being written."""
    calls: dict[str, LineRow] = field(default_factory=dict)
    """The newest tool calls, by id."""
    last_text: str = ""
    """The end of what the model wrote last, without secrets."""
    thinking: bool = False
    """Whether that is thinking."""
    end: RunFinished | None = None
    _masker: StreamMasker | None = None
    """Of the text or thinking that is still being streamed."""

    def add(self, event: Event) -> None:
        self.phase = phase_after(self.phase, event)
        match event:
            case TextDelta(text=text):
                self._stream(text, thinking=False)
            case ThinkingDelta(text=text):
                self._stream(text, thinking=True)
            case UsageUpdated() | ToolArgsDelta():
                pass
            case FileDelta(path=path, offset=offset, text=text):
                self._resize(path, offset + len(text))
            case TurnStarted(step=step):
                self._end_stream()
                self.turn = step
            case TurnRetrying():
                self._withdraw()
            case RunFinished():
                self._end_stream()
                self.end = event
            case RunStarted() | TurnFinished() | ConversationCompacted() | MessageAdded():
                self._end_stream()
            case _:
                self._end_stream()
                self._add_call_event(event)

    def _add_call_event(self, event: CallEvent) -> None:
        match event:
            case ToolStarted(call_id=call_id, title=title):
                self.calls[call_id] = LineRow(turn=self.turn, title=_line(title))
                if len(self.calls) > MAX_CALLS:
                    del self.calls[next(iter(self.calls))]
            case ToolReady(call_id=call_id, title=title) | ToolRunning(call_id=call_id, title=title):
                self._change(call_id, title=_line(title))
            case ToolProgress(call_id=call_id, text=text):
                self._change(call_id, detail=_line(text))
            case ToolFinished(call_id=call_id, summary=summary):
                self._change(call_id, detail=_line(summary), state=state_of(event))
            case FileChanged(path=path, action=action, size=size):
                self._resize(path, 0 if action == "deleted" else size)
            case ApprovalRequested() | ApprovalResolved():
                pass
            case _:
                assert_never(event)

    def _change(self, call_id: str, **changes: Any) -> None:
        if row := self.calls.get(call_id):
            self.calls[call_id] = replace(row, **changes)

    def _resize(self, path: str, size: int) -> None:
        if path and entry_of([self.page, path]) == path:
            self.page, self.size = path if size else "", size

    def _withdraw(self) -> None:
        """Removes what the model has written in this turn."""
        self._masker, self.last_text = None, ""
        self.calls = {call_id: row for call_id, row in self.calls.items() if row.turn != self.turn}

    def _stream(self, text: str, *, thinking: bool) -> None:
        if self._masker is None or thinking != self.thinking:
            self._masker, self.last_text, self.thinking = StreamMasker(), "", thinking
        self._append(self._masker.more(text))

    def _end_stream(self) -> None:
        if self._masker is not None:
            self._append(self._masker.rest())
            self._masker = None

    def _append(self, text: str) -> None:
        self.last_text = (self.last_text + text)[-2 * MAX_TEXT :]  # more than is shown: white space is joined


@dataclass(frozen=True, slots=True)
class RunSoFar:
    """A run under way, as far as the light form shows it."""

    key: str
    name: str
    model: str
    run_id: str
    variants: dict[int, VariantSoFar] = field(default_factory=dict)

    def add(self, event: Event) -> None:
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
    turn = [f"turn {variant.turn}"] if variant.turn else []
    page = [f"{_line(variant.page)} {human_size(variant.size)}"] if variant.size else []
    return [_line(variant.phase), model, *page, *turn]


def _rows(variant: VariantSoFar) -> list[str]:
    """The newest tool calls and, below them, what the model wrote last."""
    text = " ".join(variant.last_text.split())
    if len(text) > MAX_TEXT:
        text = f"… {text[-MAX_TEXT:].partition(' ')[2] or text[-MAX_TEXT:]}"
    shown = f'<div class="{"anb-dim" if variant.thinking else "anb-text"}">{to_html(text)}</div>'
    return [*map(row_html, variant.calls.values()), *([shown] if text else [])]


def _variant_rows(variants: Sequence[VariantSoFar]) -> list[str]:
    return [
        row_html(LineRow(turn=0, title=f"Variant {number}", detail=_outcome(variant), state=_state(variant)))
        for number, variant in enumerate(variants, 1)
    ]


def _outcome(variant: VariantSoFar) -> str:
    if variant.end is not None and variant.end.error:
        return _line(variant.end.error)
    return _line(variant.phase) + (f", {human_size(variant.size)}" if variant.size else "")


def _state(variant: VariantSoFar) -> State:
    if variant.end is None:
        return "info"
    endings: dict[str, State] = {"end_turn": "ok", "failed": "failed"}
    return endings.get(variant.end.reason, "stopped")


def _line(text: str) -> str:
    """The text on one line. It is masked before it is cut, because half a key would not be recognised."""
    text = printable_line(mask(text))
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}…"
