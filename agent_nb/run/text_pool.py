"""Long texts in a file, each stored once: where one occurs again, there is a reference to it.

A reference is `{"$": PIECE}`. Texts are numbered in the order of the file; the pieces of a stream are one text, which
may grow. A piece is one of:

    12                        text 12
    "..."                     these characters
    {"join": [PIECE, ...]}    several pieces, one after the other
    {"cut": [PIECE, 5, 80]}   characters 5 to 80 of a piece
    {"leaf": [12, 0]}         the first long string in text 12, which is JSON
    {"json": PIECE}           the piece as it is escaped in a JSON string; `ascii` if only ASCII is not escaped
"""

import json
from collections import deque
from collections.abc import Hashable, Iterator
from typing import Any

from agent_nb._base.wire import Json

LONG = 64
"""Characters of a text that is worth a reference."""
MOST_MADE = 200_000_000
"""Characters that the references of one file may make: a few bytes could repeat a large text often."""
_SEARCHED = 64
"""How many texts are searched for parts of another one: what is repeated was written shortly before."""
_ESCAPES = {"json": False, "ascii": True}


class _Texts:
    """The numbered texts of a file, as far as it was written or read."""

    def __init__(self) -> None:
        self._texts: list[str | list[str]] = []
        self._streams: dict[Hashable, int] = {}

    def add(self, text: str) -> int:
        self._texts.append(text)
        return len(self._texts) - 1

    def stream(self, key: Hashable, text: str, *, anew: bool) -> int:
        """Continues a stream, or begins it. Returns its number."""
        number = self._streams.get(key)
        if number is None or anew:
            number = self._streams[key] = len(self._texts)
            self._texts.append([])
        pieces = self._texts[number]
        assert isinstance(pieces, list)
        pieces.append(text)
        return number

    def _text(self, number: int) -> str:
        pieces = self._texts[number]
        if isinstance(pieces, str):
            return pieces
        if len(pieces) > 1:
            pieces[:] = ["".join(pieces)]
        return pieces[0]


class TextReader(_Texts):
    """Resolves the references of a file, given its values in order. Raises `ValueError` for a wrong one."""

    def __init__(self) -> None:
        super().__init__()
        self._made = 0
        self._parsed: dict[tuple[int, int], list[str]] = {}
        """The long strings of JSON texts, by number and length."""

    def read(self, value: Any) -> Any:
        """The value with all references resolved."""
        match value:
            case str():
                if len(value) >= LONG:
                    self.add(value)
                return value
            case {"$": {"plain": plain, **others}, **rest} if not others and not rest:
                return {"$": self.read(plain)}
            case {"$": piece, **rest} if not rest:
                return self._resolve(piece)
            case dict():
                return {key: self.read(item) for key, item in value.items()}
            case list():
                return [self.read(item) for item in value]
            case _:
                return value

    def _resolve(self, piece: Any) -> str:
        match piece:
            case int() if 0 <= piece < len(self._texts):
                return self._text(piece)
            case str():
                return piece
            case {"leaf": [int(number), int(place)]} if 0 <= number < len(self._texts):
                leaves = self._leaves(number)
                if 0 <= place < len(leaves):
                    return leaves[place]
        return self._made_of(piece)

    def _made_of(self, piece: Any) -> str:
        match piece:
            case {"join": list(pieces)}:
                texts = [self._resolve(each) for each in pieces]
                self._count(sum(map(len, texts)))
                return "".join(texts)
            case {"cut": [inner, int(start), int(end)]} if 0 <= start <= end:
                self._count(end - start)
                return self._resolve(inner)[start:end]
            case {"json": inner}:
                escaped = _escaped(self._resolve(inner), "json")
            case {"ascii": inner}:
                escaped = _escaped(self._resolve(inner), "ascii")
            case _:
                raise ValueError(f"{str(piece)[:40]!r} refers to no text before it")
        self._count(len(escaped))
        return escaped

    def _count(self, characters: int) -> None:
        self._made += characters
        if self._made > MOST_MADE:
            raise ValueError(f"its references make more than {MOST_MADE:,} characters")

    def _leaves(self, number: int) -> list[str]:
        text = self._text(number)
        if (number, len(text)) not in self._parsed:
            self._parsed[number, len(text)] = [*_leaves(_parsed(text))]
        return self._parsed[number, len(text)]


class TextWriter(_Texts):
    """Replaces texts by references, given the values of a file in order."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[str, Any] = {}
        """The pieces that stand for whole texts."""
        self._recent: deque[str] = deque(maxlen=_SEARCHED)
        self._grown: dict[int, list[str]] = {}
        """Streams that have grown since they were last looked at, with what was known of them."""
        self._known: dict[int, list[str]] = {}
        """The texts that are in `_places` because of a text, by its number."""

    def add(self, text: str) -> int:
        number = super().add(text)
        self._know(text, number)
        return number

    def stream(self, key: Hashable, text: str, *, anew: bool) -> int:
        number = super().stream(key, text, anew=anew)
        self._grown.setdefault(number, self._known.pop(number, []))
        return number

    def write(self, value: Any) -> Any:
        """The value with references in place of the texts that are known."""
        match value:
            case str():
                return self._shortest(value) if len(value) >= LONG else value
            case {"$": item, **rest} if not rest:
                return {"$": {"plain": self.write(item)}}
            case dict():
                return {key: self.write(item) for key, item in value.items()}
            case list() | tuple():
                return [self.write(item) for item in value]
            case _:
                return value

    def _shortest(self, text: str) -> str | Json:
        for number, known in self._grown.items():
            for earlier in known:
                del self._places[earlier]
            self._know(self._text(number), number)
        self._grown.clear()
        if text in self._places:
            return {"$": self._places[text]}
        pieces = [*self._json_pieces(text)] or [*self._pieces(text)]
        if any(not isinstance(piece, str) for piece in pieces):
            return {"$": pieces[0] if len(pieces) == 1 else {"join": [each for each in pieces if each != ""]}}
        self.add(text)
        return text

    def _know(self, text: str, number: int) -> None:
        leaves = [(leaf, {"leaf": [number, place]}) for place, leaf in enumerate(_leaves(_parsed(text)))]
        places: list[tuple[str, Any]] = [(text, number), *leaves]
        new = {known: place for known, place in reversed(places) if len(known) >= LONG}
        new = {known: place for known, place in new.items() if known not in self._places}
        self._places |= new
        self._known[number] = list(new)
        self._recent.extend(known for known in new if " " in known)  # others are base64

    def _json_pieces(self, text: str) -> Iterator[Any]:
        """The pieces of a JSON text that has known texts in it; none if it has not."""
        start = 0
        for leaf in _leaves(_parsed(text)):
            for escape in _ESCAPES if leaf in self._places else ():
                escaped = _escaped(leaf, escape)
                at = text.find(f'"{escaped}"', start)
                if at >= 0:
                    yield text[start : at + 1]
                    yield {escape: self._places[leaf]}
                    start = at + 1 + len(escaped)
                    break
        if start:
            yield text[start:]

    def _pieces(self, text: str) -> Iterator[Any]:
        """The text as a part of a known one, or with known ones in it."""
        if len(text) < LONG or " " not in text:
            yield text
            return
        recent = [known for known in reversed(self._recent) if known in self._places]
        for known in recent:
            if (at := known.find(text)) >= 0:
                yield {"cut": [self._places[known], at, at + len(text)]}
                return
        inside = max((known for known in recent if known in text), key=len, default="")
        if not inside:
            yield text
            return
        before, _, after = text.partition(inside)
        yield from self._pieces(before)
        yield self._places[inside]
        yield from self._pieces(after)


def _parsed(text: str) -> Any:
    """The value of a JSON text; None if it is no object and no list."""
    try:
        return json.loads(text) if text[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


def _leaves(value: Any) -> Iterator[str]:
    """The long strings in a JSON value, in order."""
    match value:
        case str():
            if len(value) >= LONG:
                yield value
        case dict():
            for item in value.values():
                yield from _leaves(item)
        case list():
            for item in value:
                yield from _leaves(item)


def _escaped(text: str, escape: str) -> str:
    return json.dumps(text, ensure_ascii=_ESCAPES[escape])[1:-1]
