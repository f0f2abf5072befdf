"""Reads a cassette. What is wrong with a file is said in one sentence that names the file and the line."""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_nb._base.wire import Json, WireError, from_wire
from agent_nb.cassette.compact import natural_parts, unpacked_vendor
from agent_nb.cassette.format import (
    FORMAT,
    LONGEST_GAP,
    VERSION,
    Attempt,
    Cassette,
    Compaction,
    Cut,
    Gap,
    RecordedTurn,
    RecordedVariant,
    Retry,
    ToolMoment,
)
from agent_nb.cassette.lines import LINES
from agent_nb.cassette.timing import read_pace
from agent_nb.errors import CassetteError, FileError
from agent_nb.events import ENDINGS, Reason
from agent_nb.files import safe_path
from agent_nb.messages import Message, Part, ToolCall, Usage
from agent_nb.providers.base import CallPiece, CallStarted, Piece, TextPiece, ThinkingPiece, Turn, UsagePiece
from agent_nb.run.record import unique_call_id

_BROKEN = (FileError, LookupError, ValueError)
AGAIN = "Record it again, or restore it from version control."


def read_cassette(path: str | os.PathLike[str], folder: Path | None = None) -> Cassette:
    """The cassette in this file; a `CassetteError` says why it cannot be played. A relative path is in `folder`."""
    shown = Path(path).as_posix()
    return parse_cassette(_text(locate(path, folder), shown), shown)


def locate(path: str | os.PathLike[str], folder: Path | None = None) -> Path:
    """The path of a cassette: relative paths start in `folder`, `~` is the home folder."""
    return Path(folder or "") / os.path.expanduser(path)


def parse_cassette(text: str, shown: str) -> Cassette:
    """Parses the lines of a cassette; `shown` is the file's name in error messages."""
    rows = _Rows(shown, text)
    # Before any other line is looked at: those of a newer version may have other fields.
    version = rows.ahead.get("version", 0) if rows.ahead.get("format") == FORMAT else 0
    if version < 1:
        raise CassetteError(f"{shown!r} is not a cassette: it does not say it is one.")
    if version > VERSION:
        raise CassetteError(
            f"{shown!r} was recorded by a newer agent_nb (format {version}; this one reads {VERSION}). "
            "Upgrade: `pip install -U agent-nb`."
        )
    rows.next()
    request, release = rows.expect("yours")["yours"], rows.expect("ours")["ours"]
    variants = [_variant(rows)]
    while rows.ahead:
        variants.append(_variant(rows))
    return Cassette(request=request, release=release, variants=tuple(variants))


def _text(path: Path, shown: str) -> str:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise CassetteError(f"{shown!r} is not a cassette: it is not a file.")
        return path.read_bytes().decode("utf-8-sig")  # some editors write a byte order mark
    except FileNotFoundError:
        raise CassetteError(f"There is no cassette {shown!r}.") from None
    except UnicodeDecodeError:
        raise CassetteError(f"{shown!r} is not a cassette: it is not text.") from None
    except (OSError, ValueError) as error:
        raise CassetteError(f"{shown!r} cannot be read: {getattr(error, 'strerror', error)}.") from None


class _Rows:
    """The lines, one after the other. Each is a JSON object whose first key says what it is."""

    def __init__(self, shown: str, text: str) -> None:
        self._shown, self._lines = shown, text.rstrip().split("\n")
        self.line = 0
        """The number of the last line read."""
        self.ahead = self._parsed()
        """The next line; empty at the end."""

    @property
    def kind(self) -> str:
        """The kind of the next line; empty at the end."""
        return next(iter(self.ahead), "")

    def next(self) -> Json:
        row = self.ahead
        if not row:
            raise self._cut_short()
        self.line += 1
        self.ahead = self._parsed()
        return row

    def expect(self, kind: str) -> Json:
        """The next line, which must be of this kind."""
        found, row = self.kind, self.next()
        if found != kind:
            raise self.damage(f"{kind!r} is expected here, not {found!r}")
        return row

    def damage(self, why: object) -> CassetteError:
        """An error about the last line read."""
        return CassetteError(f"{self._shown!r} is damaged at line {self.line}: {why}. {AGAIN}")

    def _cut_short(self) -> CassetteError:
        return CassetteError(f"{self._shown!r} is cut short: the end of the run is missing. {AGAIN}")

    def _not_an_object(self) -> CassetteError:
        if not self.line:
            return CassetteError(f"{self._shown!r} is not a cassette: its first line is not JSON.")
        if self.line == len(self._lines) - 1:
            return self._cut_short()
        self.line += 1
        return self.damage("it is not a JSON object")

    def _parsed(self) -> Json:
        """The line after the last one read. Its types are checked: a file may come from anywhere."""
        if self.line == len(self._lines):
            return {}
        row: Any = None
        with contextlib.suppress(ValueError, RecursionError):
            row = json.loads(self._lines[self.line])
        if not isinstance(row, dict) or not row:
            raise self._not_an_object()
        try:
            from_wire(LINES.get(next(iter(row)), Json), row)
            from_wire(Json, row)  # what the kind does not know, too
        except WireError as error:
            self.line += 1
            raise self.damage(error) from None
        return row


def _variant(rows: _Rows) -> RecordedVariant:
    head = rows.expect("variant")
    turns: list[tuple[tuple[Attempt, ...], list[ToolMoment]]] = []
    pieces: list[tuple[Gap, Piece]] = []
    attempts: list[Attempt] = []
    while (kind := rows.kind) != "end":
        row = rows.next()
        try:
            match kind:
                case "turn":
                    attempts.append(_finished(row, pieces, len(turns) + 1))
                    turns.append((tuple(attempts), []))
                    pieces, attempts = [], []
                case "retry":
                    retry = Retry(why=row["retry"], wait=row["wait"], after=_gap(row))
                    attempts.append(Attempt(pieces=tuple(pieces), retry=retry, cost=row.get("cost")))
                    pieces = []
                case "compacted" if not pieces:
                    why = Compaction(why=row["compacted"], limit=row.get("limit"), after=_gap(row))
                    attempts.append(Attempt(compaction=why))
                case "tool":
                    if pieces or attempts or not turns:
                        raise ValueError("a tool line stands inside a turn")
                    turns[-1][1].append(_moment(row, rows.line))
                case _:
                    pieces += _pieces(kind, row, rows, pieces)
        except _BROKEN as error:
            raise rows.damage(_words(error)) from None
    end = rows.next()
    try:
        recorded_turns = [RecordedTurn(attempts=tried, moments=tuple(moments)) for tried, moments in turns]
        if end["turns"] != len(recorded_turns):
            raise ValueError(f"the run has {end['turns']} turns and the file {len(recorded_turns)}")
        cut = _cut(end)
        return _closed(head, [*recorded_turns, *_open_turn(cut, attempts, pieces, end.get("cost"))], end, cut)
    except _BROKEN as error:
        raise rows.damage(_words(error)) from None


def _cut(end: Json) -> Cut | None:
    """Where the run was ended from outside; None if it ended by itself."""
    reason: Reason = end["end"]
    if ENDINGS[reason].is_own:
        return None
    return Cut(during=end["during"], after=_gap(end), error=end.get("error"))


def _open_turn(
    cut: Cut | None, attempts: list[Attempt], pieces: list[tuple[Gap, Piece]], cost: float | None
) -> list[RecordedTurn]:
    """The unfinished turn in which the run was cut. Any other unfinished turn is damage."""
    match cut and cut.during:
        case "turn":
            return [RecordedTurn(attempts=(*attempts, Attempt(pieces=tuple(pieces), cost=cost)))]
        case "wait" if attempts and attempts[-1].retry and not pieces:
            return [RecordedTurn(attempts=tuple(attempts))]
        case "tools" | None if not attempts and not pieces:
            return []
        case None:
            raise ValueError("the last turn has no end")
        case during:
            raise ValueError(f"it cannot have ended during {during!r}")


def _closed(head: Json, turns: list[RecordedTurn], end: Json, cut: Cut | None) -> RecordedVariant:
    if not turns:
        raise ValueError("it has no turns")
    if head["settings"].get("steps", 1) < 1:
        raise ValueError("the run could take no steps")
    seen: dict[str, int] = {}
    for number, turn in enumerate(turns, start=1):
        is_last = number == len(turns)
        turns[number - 1] = _with_tools(turn, number, _calls_by_id(turn, number, seen))
        _check_results(turn, number, cut if is_last else None, last=is_last)
    return RecordedVariant(
        variant=head["variant"],
        model=head["model"],
        settings=head["settings"],
        turns=tuple(turns),
        reason=end["end"],
        seconds=end["seconds"],
        ended=end.get("ended", ""),
        cut=cut,
    )


def _calls_by_id(turn: RecordedTurn, number: int, seen: dict[str, int]) -> dict[str, ToolCall]:
    """The calls of a turn by the ids that the engine gives them in events."""
    made = {call.id for call in turn.calls}
    started = [piece for _, piece in turn.attempts[-1].pieces if isinstance(piece, CallStarted)]
    if turn.end:  # what was shown as a call may have been text
        started = [piece for piece in started if piece.id in made or not piece.written]
    if turn.end and len(started) != len(turn.calls):
        raise ValueError(f"turn {number} begins {len(started)} calls and has {len(turn.calls)}")
    ids = [unique_call_id(piece.id, seen) for piece in started]
    return dict(zip(ids, turn.calls, strict=False))


def _with_tools(turn: RecordedTurn, number: int, calls: dict[str, ToolCall]) -> RecordedTurn:
    """The turn with the name of the tool at each of its moments."""
    for moment in turn.moments:
        if moment.call not in calls:
            raise ValueError(f"turn {number} has a result for {moment.call!r}, which was not called")
    moments = tuple(replace(moment, tool=calls[moment.call].name) for moment in turn.moments)
    return replace(turn, moments=moments)


def _check_results(turn: RecordedTurn, number: int, cut: Cut | None, *, last: bool) -> None:
    """Checks that each call has one result. In the last turn all may be missing, or some if it was cut."""
    ended = [moment.call for moment in turn.moments if moment.what == "finished"]
    in_tools = cut is not None and cut.during == "tools"
    complete = len(ended) == len(turn.calls)
    open_end = last and (len(ended) < len(turn.calls) if in_tools else not ended)
    if len(ended) != len(set(ended)) or not (complete or open_end) or (in_tools and not turn.calls):
        raise ValueError(f"turn {number} has {len(turn.calls)} calls and {len(ended)} results")


def _pieces(
    kind: str, row: Json, rows: _Rows, before: list[tuple[float, Piece]]
) -> Iterator[tuple[float, Piece]]:
    gap = _gap(row)
    match kind:
        case "text" | "thinking":
            make = TextPiece if kind == "text" else ThinkingPiece
            yield from ((after, make(part)) for part, after in _fragments(row[kind], rows))
        case "args":
            call_id = _call_id(row, before)
            yield from ((after, CallPiece(call_id, part)) for part, after in _fragments(row[kind], rows))
        case "call":
            yield gap, CallStarted(row["call"], row["name"], row.get("written") is True)
        case "counted":
            yield gap, UsagePiece(_usage(row["counted"]))
        case _:
            raise ValueError(f"{kind!r} is not known here")


def _fragments(text: str, rows: _Rows) -> Iterator[tuple[str, float]]:
    texts = [text]
    while rows.kind == "more":
        texts.append(rows.next()["more"])
    whole = "".join(texts)
    if rows.kind == "pace":
        return read_pace(rows.next()["pace"], whole)
    return iter([(whole, 0)])


def _call_id(row: Json, before: list[tuple[float, Piece]]) -> str:
    wanted = row.get("of")
    for _, piece in reversed(before):
        if isinstance(piece, CallStarted) and wanted in (None, piece.id):
            return piece.id
    raise ValueError("these arguments belong to no call")


def _finished(row: Json, pieces: list[tuple[float, Piece]], number: int) -> Attempt:
    if row["turn"] != number:
        raise ValueError(f"turn {number} is expected here, not {row['turn']}")
    spoken = [piece for _, piece in pieces]
    parts = from_wire(tuple[Part, ...], row["parts"]) if "parts" in row else natural_parts(spoken)
    vendor = unpacked_vendor(row.get("vendor", {}), parts)
    turn = Turn(
        message=Message(role="assistant", parts=parts, vendor=vendor),
        stop=row["stop"],
        usage=_usage(row["usage"]),
        model=row["model"],
        detail=row.get("detail", ""),
    )
    return Attempt(pieces=(*pieces, (_gap(row), turn)), cost=row.get("cost"))


def _moment(row: Json, line: int) -> ToolMoment:
    data = {key: value for key, value in row.items() if key not in ("tool", "id", "after")}
    if "path" in data:
        safe_path(data["path"])
    return ToolMoment(what=row["tool"], call=row["id"], after=_gap(row), data=data, line=line)


def _usage(counts: Json) -> Usage:
    if unknown := [name for name in counts if name not in Usage.__slots__]:
        raise ValueError(f"{unknown[0]!r} is not a token count")
    return Usage(**counts)


def _gap(row: Json) -> Gap:
    gap: Gap = row.get("after", 0)
    if abs(gap) > LONGEST_GAP:
        raise ValueError(f"`after` is {gap:g}, which is more than {LONGEST_GAP:g} milliseconds")
    return gap


def _words(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error).removesuffix(".")
