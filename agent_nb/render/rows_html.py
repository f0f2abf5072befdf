"""The entries of a transcript as HTML: thoughts, words, and tool calls that unfold to what came of them."""

import base64
import html
import itertools
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from agent_nb._base.secrets import mask
from agent_nb.events import MimeBundle
from agent_nb.files import human_size
from agent_nb.render.preview import still_frame_attributes
from agent_nb.render.safe_markdown import link, to_html, with_code
from agent_nb.render.summary import duration, image_labels
from agent_nb.render.transcript import Cited, End, Entry, Given, Retry, Step, Thought, Words

MAX_OUTPUT = 20_000
"""Characters of one output."""
MAX_IMAGE = 400_000
"""Characters of one picture, in base64."""
MAX_ARGUMENT = 2_000

_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
_DIFF_CLASSES = {"+": "anb-add", "-": "anb-del", "@": "anb-dim", "\\": "anb-dim"}
_MARKS: dict[End, tuple[str, str]] = {
    "ok": ("ok", "✓"),
    "failed": ("err", "✗"),
    "denied": ("dim", "⊘"),
    "stopped": ("dim", "■"),
}
_FRAME_STYLE = (
    "<!doctype html><style>body{margin:8px;font:13px/1.5 system-ui,sans-serif}table{border-collapse:collapse}"
    "td,th{padding:2px 10px;border:solid #e0e0e0;border-width:0 0 1px;text-align:right}</style>"
)


def rows_html(entries: Iterable[Entry]) -> str:
    """Entries one after another; edits of one file that follow each other are one row, which unfolds."""
    rows = []
    for path, group in itertools.groupby(entries, key=_edited):
        drawn = [entry_html(entry) for entry in group]
        row = f'<span class="anb-ok">✓</span> {len(drawn)} edits of <code>{html.escape(path)}</code>'
        rows += [_fold(row, "".join(drawn))] if path and len(drawn) > 1 else drawn
    return "".join(rows)


def _edited(entry: Entry) -> str:
    return entry.path if isinstance(entry, Step) and entry.ok and entry.action == "edited" else ""


def entry_html(entry: Entry) -> str:
    match entry:
        case Given(pictures):
            drawn = map(_thumbnail, image_labels(pictures), (picture.data for picture in pictures))
            return f'<p class="anb-given">{" ".join(drawn)}</p>'
        case Thought(text, seconds):
            lasted = f"Thought for {duration(seconds)}" if seconds >= 0.05 else "Thought"
            return _fold(
                f'<span class="anb-dim">{lasted}</span>', f'<div class="anb-dim">{to_html(text)}</div>'
            )
        case Words(text):
            return f'<div class="anb-said">{to_html(text)}</div>'
        case Cited(sources):
            items = "".join(f"<li>{link(source.url, source.title or source.url)}</li>" for source in sources)
            return f'<ul class="anb-said">{items}</ul>'
        case Retry(why):
            return f'<p class="anb-row"><span class="anb-warn">↻</span> Tried again: {with_code(why)}</p>'
        case Step():
            return _step(entry)


def _thumbnail(words: str, data: bytes) -> str:
    """Small as it is: a sanitised reading has no styles to make it so."""
    alt = html.escape(words)
    if not data:
        return f'<span class="anb-dim">{alt}</span>'
    return f'<img alt="{alt}" title="{alt}" src="data:image/jpeg;base64,{base64.b64encode(data).decode()}">'


def _step(step: Step) -> str:
    kind, sign = _MARKS[step.end]
    mark = f'<span class="anb-{kind}">{sign}</span>'
    verdict = step.end if step.end in ("failed", "denied") else ""
    outcome = ": ".join(filter(None, (verdict, step.summary)))
    facts = list(filter(None, (outcome, duration(step.seconds) if step.seconds >= 0.05 else "")))
    told = (
        f'<span class="anb-c">: </span><span class="anb-dim">{with_code(", ".join(facts))}</span>'
        if facts
        else ""
    )
    inside = _inside(step)
    row = f"{mark} {_title(step)}{told}"
    return _fold(row, inside) if inside else f'<p class="anb-row">{row}</p>'


def _title(step: Step) -> str:
    """The file it is about stands out."""
    before, path, after = step.title.partition(step.path) if step.path else (step.title, "", "")
    if not path:
        return with_code(step.title)
    return f"{html.escape(before)}<code>{html.escape(path)}</code>{html.escape(after)}"


def _inside(step: Step) -> str:
    pieces = [f"<p>{with_code(step.hint)}</p>"] if step.hint and step.end == "failed" else []
    if step.note and step.end != "stopped":
        pieces.append(f"<p>Told the model: <q>{html.escape(step.note)}</q></p>")
    if step.args and not step.path:
        pieces.append(_block(_arguments(step.args)))
    pieces += [_output(output) for output in step.outputs]
    if not step.outputs and step.ok and not step.path and step.result.strip() != step.summary:
        pieces.append(_block(step.result))
    return "".join(pieces)


def _arguments(args: Mapping[str, Any]) -> str:
    """`name: value` lines; text as it is, so that code reads as code."""
    lines = []
    for name, value in args.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
        # Masked before it is cut: half of a key is not known as one.
        text = text if len(text) <= MAX_ARGUMENT else mask(text)[:MAX_ARGUMENT] + " …"
        lines.append(f"{name}:\n{text}" if "\n" in text else f"{name}: {text}")
    return "\n".join(lines)


def _output(bundle: MimeBundle) -> str:
    """The richest form that is safe here."""
    texts = {kind: _text(content) for kind, content in bundle.items()}
    plain = texts.get("text/plain", "")
    for kind in _IMAGES:
        if kind in texts:
            return _image(kind, texts[kind], plain)
    if "text/x-diff" in texts:
        return _diff(texts["text/x-diff"])
    if "text/html" in texts and len(texts["text/html"]) <= MAX_OUTPUT:
        return _framed(texts["text/html"], plain)
    if "text/markdown" in texts:
        return f'<div class="anb-said">{to_html(_cut(texts["text/markdown"]))}</div>'
    return _block(plain) if plain else ""


def _framed(markup: str, plain: str) -> str:
    """A frame cannot grow with what is in it: tables say how many rows they have."""
    rows = markup.lower().count("<tr")
    height = min(40 + 25 * rows, 320) if rows else 160
    frame = f'style="height:{height}px" {still_frame_attributes(_FRAME_STYLE + markup)}'
    unframed = f'<div class="anb-untrusted">{_block(plain)}</div>' if plain else ""
    return f'<iframe class="anb-html" title="Tool output" loading="lazy" {frame}></iframe>{unframed}'


def _image(kind: str, content: str, caption: str) -> str:
    words = html.escape(caption or "picture")
    if len(content) > MAX_IMAGE:
        size = human_size(len(content) * 3 // 4)
        return f'<p class="anb-dim">{words}: {kind}, {size}, too large to keep here</p>'
    if kind == "image/svg+xml" and content.lstrip().startswith("<"):
        content = base64.b64encode(content.encode("utf-8", "replace")).decode()
    if not _BASE64.fullmatch(content):
        return f'<p class="anb-dim">{words}: {kind}, unreadable</p>'
    return f'<p><img alt="{words}" title="{words}" src="data:{kind};base64,{"".join(content.split())}"></p>'


def _diff(diff: str) -> str:
    lines = [line for line in _cut(diff).split("\n") if not line.startswith(("--- ", "+++ "))]
    pieces = []
    for kind, group in itertools.groupby(lines, key=lambda line: _DIFF_CLASSES.get(line[:1], "")):
        text = html.escape("\n".join(group), quote=False)
        pieces.append(f'<span class="{kind}">{text}</span>' if kind else text)
    return f"<pre>{chr(10).join(pieces).rstrip()}</pre>"


def _block(text: str) -> str:
    return f"<pre>{html.escape(_cut(text), quote=False).rstrip()}</pre>" if text.strip() else ""


def _cut(text: str) -> str:
    if len(text) <= MAX_OUTPUT:
        return text
    return f"{mask(text)[:MAX_OUTPUT]}\n… {human_size(len(text) - MAX_OUTPUT)} more"


def _text(content: Any) -> str:
    """Notebooks may hold text as a list of lines."""
    return "".join(map(str, content)) if isinstance(content, list | tuple) else str(content)


def _fold(summary: str, inside: str) -> str:
    return f"<details><summary>{summary}</summary>{inside}</details>"
