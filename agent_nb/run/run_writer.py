"""Writes a run as lines of JSON, with secrets masked. docs/internals/run-file.md describes the file."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

import agent_nb.core.events as ev
from agent_nb._base.secrets import MaskedJson, mask, mask_pieces
from agent_nb._base.text import change_texts, whole_text
from agent_nb._base.wire import Json, brief_wire, default_of, to_wire
from agent_nb.core.messages import Message, ToolSpec
from agent_nb.files import Files
from agent_nb.files import to_wire as versions_to_wire
from agent_nb.files.diffs import apply_patch, compare
from agent_nb.run.record import RunRecord
from agent_nb.run.run_lines import CONVERSATION, END, FORMAT, HEADER, VERSION, VariantLines
from agent_nb.run.turn_requests import count_added

_TURNS = {kind.type for kind in (ev.RunStarted, ev.TurnStarted, ev.TurnRetrying)}
_DEFAULTS: Json = {
    field.name: None if (default := default_of(field)) is MISSING else brief_wire(default)
    for field in fields(RunRecord)
    if field.name not in ("events", "variants", "files", "given_files")
}
"""Defaults of the stored fields in wire form; None for required fields."""


def run_file(run: RunRecord) -> bytes:
    header = file_header(**{name: getattr(run, name) for name in (*HEADER, "fingerprint")})
    first: Json = {}
    lines, records, ends = [header], list[Json](), list[Json]()
    variants: Sequence[RunRecord] = run.variants or (run,)
    for variant in variants:
        rows, conversations = VariantRows(header, first, variant.variant), _conversations(variant)
        lines.append(rows.conversation(conversations.pop(0)))
        lines += rows.encode(variant.events, variant.original_files, conversations)
        records.append(_fields(variant, rows.known))
        known = {**_DEFAULTS, **rows.known.fields()}
        ends.append({"digests": rows.known.digests, **_without(records[-1], known)})
    end: Json = {"type": END, "usage": brief_wire(run.usage), "cost": run.cost}
    if run.variants:
        chosen = next((i for i, variant in enumerate(variants) if variant.variant == run.variant), 0)
        different = _without(_fields(run, None), records[chosen])
        end |= {"chosen": chosen, "variants": ends, **different}
    else:
        end |= ends[0]
    return dump_lines([*lines, _masked(end)])


def _without(record: Json, known: Json) -> Json:
    return {name: value for name, value in record.items() if value != known.get(name)}


def dump_lines(lines: Iterable[MaskedJson]) -> bytes:
    texts = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
    text = "".join(f"{text}\n" for text in texts)
    # Some readers treat these as line breaks, though JSON does not.
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085").encode()


def file_header(prompt: str, settings: Json, fingerprint: Json, **fields: Any) -> MaskedJson:
    """The first line. Lists of runs read only its beginning."""
    header = {"format": FORMAT, "version": VERSION, **fields, "settings": to_wire(settings), "prompt": prompt}
    request = {key: value for key, value in fingerprint.get("yours", {}).items() if key != "prompt"}
    fingerprint = {**fingerprint, "yours": request} if fingerprint else {}
    return _masked({**header, "fingerprint": to_wire(fingerprint)})


def _fields(run: RunRecord, known: VariantLines | None) -> Json:
    """All fields except events and variants, in wire form, with `files` only if they are not `known`."""
    wires = {name: brief_wire(getattr(run, name)) for name in _DEFAULTS}
    if known is not None and not known.give(run.original_files, masked_text):
        wires["files"] = run.original_files.to_wire(masked_text)
    wires["edited"] = None if run.given_files is None else run.files.to_wire(masked_text)
    return _masked(wires)


class SentConversation(NamedTuple):
    """What a model gets with its first turn, or with the next one after a compaction."""

    system: str
    tools: Sequence[ToolSpec]
    history: int
    messages: Sequence[Message]


def _conversations(run: RunRecord) -> dict[int, SentConversation]:
    """What was sent first and after each compaction, by the number of the event before it."""
    places, was_sent = [0], False
    for event in run.events.of(ev.TurnFinished, ev.ConversationCompacted):
        was_sent = was_sent or isinstance(event, ev.TurnFinished)
        if was_sent and isinstance(event, ev.ConversationCompacted):
            places.append(event.seq)
    sent = dict[int, SentConversation]()
    conversations = (*run.replaced, run.messages)
    for place, messages, count in zip(places, conversations, count_added(run.events), strict=False):
        initial = messages[: len(messages) - count]
        history = run.history if messages is run.messages else max(0, len(initial) - 1)
        sent[place] = SentConversation(run.system, run.tools, history, initial)
    return sent


def masked_text(text: str) -> str:
    return mask(whole_text(text))


def _masked(line: Json) -> MaskedJson:
    return MaskedJson(change_texts(line, masked_text))


class VariantRows:
    """Encodes a variant. `first` is the first conversation of the file, and filled with it."""

    def __init__(self, header: Json, first: Json, variant: int) -> None:
        self.known = VariantLines(header, first)
        self._settings = header["settings"]
        self._variant: Json = {"variant": variant} if variant else {}
        self._texts: dict[str, tuple[str, str]] = {}
        self._turn = 0

    def conversation(self, conversation: SentConversation) -> MaskedJson:
        """The line of a conversation, without what the reader assumes."""
        wire = _masked(brief_wire(conversation._asdict()))
        line = MaskedJson({"type": CONVERSATION, **self._variant, **_without(wire, self.known.assumed)})
        self.known.add(line)
        return line

    def encode(
        self, events: Sequence[ev.Event], files: Files, conversations: Mapping[int, SentConversation]
    ) -> Iterator[MaskedJson]:
        """The next events, and the conversations that follow those with these numbers.

        Each text is masked as a whole, because a secret may be split over several deltas.
        """
        rows, streams = list[Json](), dict[tuple[Any, ...], list[Json]]()
        for event in events:
            row: Json = brief_wire(event)
            del row["run_id"]
            if isinstance(event, ev.Delta):
                self._turn += row.get("offset") == 0  # the file starts over
                stream = self._turn, row["type"], row.get("call_id"), row.get("path")
                streams.setdefault(stream, []).append(row)
            else:
                row = self._complete(event, row, files)
            rows.append(row)
        for pieces in streams.values():
            _mask_stream(pieces)
        for row in rows:
            self.known.add(row)
            yield MaskedJson(row)
            if row["seq"] in conversations:
                yield self.conversation(conversations[row["seq"]])

    def _complete(self, event: ev.Event, row: Json, files: Files) -> Json:
        if isinstance(event, ev.FileChanged):
            row |= {**_masked_patch(event, self._texts), **_contents(event, files)}
        elif row["type"] in _TURNS:
            self._turn += 1
        masked = _masked(row)
        if row["type"] == ev.RunStarted.type and masked.get("settings", {}) == self._settings:
            masked.pop("settings", None)
        return masked


def _mask_stream(rows: Sequence[Json]) -> None:
    offset = rows[0].get("offset", 0)
    pieces = [whole_text(row["text"]) for row in rows]
    texts = mask_pieces(pieces)
    for row, text in zip(rows, texts, strict=True):
        row |= {name: masked_text(row[name]) for name in ("call_id", "path") if name in row}
        row["text"] = text
        if "offset" in row and texts != pieces:  # masking shifts it
            row["offset"] = offset
        offset += len(text)


def _contents(event: ev.FileChanged, files: Files) -> Json:
    """What the patch of an event does not give: binary content, and the versions from before the run."""
    versions = files.versions(event.path)[: event.version] if event.path in files.paths else ()
    before, content = versions[:-1], versions[-1] if versions else None
    return {
        **(
            {"earlier": versions_to_wire(before, masked_text)} if before and event.action == "created" else {}
        ),
        **({"base64": base64.b64encode(content).decode()} if isinstance(content, bytes) else {}),
    }


def _masked_patch(event: ev.FileChanged, texts: dict[str, tuple[str, str]]) -> Json:
    """The patch between masked versions of a file. `texts` maps paths to original and masked text."""
    old_text, old_masked = texts.pop(event.path, ("", ""))
    if event.patch is None:
        return {}
    text = apply_patch(old_text, event.patch)
    masked = masked_text(text)
    texts[event.path] = text, masked
    if (text, old_text) == (masked, old_masked):
        return {}
    return {"patch": [list(change) for change in compare(old_masked, masked).patch]}
