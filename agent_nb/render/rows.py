"""The rows of a transcript, as HTML, Markdown, plain text and the terminal share them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from agent_nb._base.constants import NAMES_TYPE
from agent_nb._base.secrets import mask, masked_line
from agent_nb.events import FileAction, MimeBundle, Thumbnail
from agent_nb.files import human_size
from agent_nb.messages import Source

State = Literal["info", "ok", "failed", "denied", "stopped", "retry"]


class Look(NamedTuple):
    icon: str
    tone: str
    """The CSS class that colours the icon, after `anb-`."""
    word: str = ""
    """Written before the detail where the icon is not enough."""


LOOKS: dict[State, Look] = {
    "info": Look("•", "dim"),
    "ok": Look("✓", "ok"),
    "failed": Look("✗", "err", "failed"),
    "denied": Look("⊘", "dim", "denied"),
    "stopped": Look("■", "dim"),
    "retry": Look("↻", "warn"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseRow:
    turn: int
    """The turn it belongs to, from 1; 0 before the first. A retry withdraws the rows of its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow(BaseRow):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingRow(BaseRow):
    text: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesRow(BaseRow):
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRow(BaseRow):
    title: str
    detail: str = ""
    state: State = "info"

    @property
    def outcome(self) -> str:
        """The detail, after a word for the state where the state needs one: `failed: There is no file "a.css".`"""
        return ": ".join(filter(None, (LOOKS[self.state].word, self.detail)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagesRow(LineRow):
    images: tuple[Thumbnail, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow(LineRow):
    """A tool call; its detail is the summary of its result."""

    call_id: str
    state: State = "stopped"
    hint: str = ""
    seconds: float = 0.0
    args: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[MimeBundle, ...] = ()
    result: str = ""
    path: str = ""
    action: FileAction | None = None
    note: str = ""
    """What the user told the model when asked for approval."""
    decision: str = ""
    """Who approved the call, and what they changed; empty if nobody was asked, or if the detail says it."""

    @property
    def code(self) -> str:
        code = self.args.get("code")
        return code if isinstance(code, str) else ""

    @property
    def remarks(self) -> str:
        note = f"note to the model: “{self.note}”" if self.note and self.state != "stopped" else ""
        return "; ".join(filter(None, (self.decision, note)))


Row = TextRow | ThinkingRow | SourcesRow | LineRow


def names_left(rows: Iterable[Row]) -> dict[str, str]:
    """What the code of a run left in the notebook, by name: `pandas.DataFrame, 12 rows x 3 columns`."""
    left: dict[str, str] = {}
    for row in rows:
        for names in (output.get(NAMES_TYPE, {}) for output in getattr(row, "outputs", ())):
            for name in (*names.get("deleted", ()), *names.get("kinds", {})):
                left.pop(name, None)
            left |= names.get("kinds", {})
    return left


MAX_TEXT = 30_000
"""Characters of one text of the model in the output of a cell."""


def shortened(rows: Iterable[Row], name: str) -> Iterator[Row]:
    """The same rows, with long texts cut and the expression that gives the whole."""
    for row in rows:
        match row:
            case TextRow(text=text):
                yield replace(row, text=shortened_text(text, f"{name}.text"))
            case ThinkingRow(text=text):
                yield replace(row, text=shortened_text(text, f"{name}.thinking"))
            case _:
                yield row


def shortened_text(text: str, expression: str) -> str:
    """Markdown that ends with a whole line and says how much was cut off."""
    if len(text) <= MAX_TEXT:
        return text
    # Masked before it is cut, because half a key would not be recognised.
    start = mask(text)[:MAX_TEXT]
    start = start[: start.rfind("\n", MAX_TEXT // 2)].rstrip() if "\n" in start[MAX_TEXT // 2 :] else start
    fence = "\n```" if len(re.findall(r"^ *```", start, re.MULTILINE)) % 2 else ""
    return f"{start}{fence}\n\n… {human_size(len(text) - len(start))} more: `{expression}`"


def whole_outcome(row: LineRow) -> str:
    """The outcome, and who approved the call: `ran ls (approved by you)`."""
    remarks = row.remarks if isinstance(row, ToolRow) else ""
    return " ".join(filter(None, (row.outcome, f"({remarks})" if remarks else "")))


def line_text(row: LineRow) -> str:
    """`✓ create index.html: 2.1 kB, 80 lines`, on one line."""
    text = f"{LOOKS[row.state].icon} {row.title}" + (f": {text}" if (text := whole_outcome(row)) else "")
    return masked_line(text)
