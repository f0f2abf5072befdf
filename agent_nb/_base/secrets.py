"""Masks secrets in text: values that were registered, and strings with the shape of a key."""

import html
import itertools
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agent_nb._base.text import change_texts, showable_text

# A key may follow an escaped newline, as in JSON inside a text: that ends in a letter, so \b does not match there.
_BEGINS = r"(?:\b|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
_LONE = r"(?:(?<![A-Za-z0-9_\-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
SHAPES = {
    # Style sheets have names such as `sk-toggleable__content`: other vendors' keys have a long stretch with digits.
    "sk-": re.compile(
        _BEGINS + r"sk-(?:(?:admin|ant|lf|or|proj|svcacct)-[A-Za-z0-9_\-]{16,}"
        r"|(?:[A-Za-z0-9]{1,15}[_\-]+){0,4}(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{16,}[A-Za-z0-9_\-]*)"
    ),
    "sk_": re.compile(_BEGINS + r"sk_(?:live|test)_[A-Za-z0-9]{16,}"),
    "AIza": re.compile(_BEGINS + r"AIza[A-Za-z0-9_\-]{30,}"),
    "AQ.": re.compile(_BEGINS + r"AQ\.[A-Za-z0-9_\-]{30,}"),
    "gsk_": re.compile(_BEGINS + r"gsk_[A-Za-z0-9_]{16,}"),
    "hf_": re.compile(_BEGINS + r"hf_[A-Za-z0-9]{20,}"),
    "ghp_": re.compile(_BEGINS + r"ghp_[A-Za-z0-9_]{16,}"),
    "github_pat_": re.compile(_BEGINS + r"github_pat_[A-Za-z0-9_]{16,}"),
    "pplx-": re.compile(_BEGINS + r"pplx-[A-Za-z0-9]{16,}"),
    "xox": re.compile(_BEGINS + r"xox[abprs]-[A-Za-z0-9\-]{10,}"),
    "AKIA": re.compile(_BEGINS + r"AKIA[A-Z0-9]{16}"),
    "eyJ": re.compile(_LONE + r"eyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]{8,}){2}"),
    "earer ": re.compile(r"(?<=[Bb])earer (?P<secret>(?=[A-Za-z_\-.~+/=]{0,60}\d)[A-Za-z0-9_\-.~+/=]{8,})"),
}
"""Patterns by the characters they start with. Searching for those first is fast, and most texts have none."""
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{500,}={0,2}")

Span = tuple[int, int]
MASK = "•••"

_MIN_LENGTH = 8
"""Shorter values are never masked, because they occur inside ordinary words."""
_MIN_DISTINCT = 5
"""Characters that must differ: `xxxxxxxx` and `00000000` are not secrets."""
_MAX_WORDS_LENGTH = 20
_WORDS = re.compile(r"(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)(?:[-_. ](?:[a-z]+|[A-Z]+|[A-Z][a-z]+))*")

_MIN_LINE = 16
"""Shorter lines of a secret are masked only together with the others."""
_NEWLINE = re.compile(r"(?:(?<!\\)\\++[nr]|[\r\n])++")
_HARMLESS_LINE = re.compile(r'^-----|": ')
MAX_ESCAPES = 4
"""A string of JSON that holds JSON that quotes JSON, as a saved run may, and once more in the run itself."""
_MIN_IN_DATA = 40
"""Registered values of this length do not occur in base64 data by chance."""

ESCAPE = re.compile(
    r"%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+"
    r"|&(?:#[0-9]{1,7};?|#[xX][0-9A-Fa-f]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};)"
    r"|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}"
    r"|\\[\\/\"'nrtbf]"
)
"""A character as it is written in a URL, in HTML, in JSON or in Python."""
_MANY_ESCAPES = {
    "%": re.compile(r"%(?:25){0,4}[0-9A-Fa-f]{2}" * 4),
    "#": re.compile(r"&(?:amp;){0,4}#[xX]?[0-9A-Fa-f]{1,7};?" * 4),
    "\\u": re.compile(r"\\{1,16}u[0-9A-Fa-f]{4}" * 4),
    "\\x": re.compile(r"\\{1,16}x[0-9A-Fa-f]{2}" * 4),
}
"""Several in a row: a whole value may be escaped, and no letter of it is left."""
_CORE = re.compile(r"[A-Za-z0-9]{4,}")
_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}

registered: set[str] = set()
"""The values to mask, and the long lines of those that have several."""
_cores: set[str] = set()
"""The longest stretch of letters and digits of each: encoders leave these as they are. Empty if one has none."""

PIECE = 4
PIECES: set[str] = set()
"""All stretches of that many characters in registered values. A text that ends in none ends in no part of a value."""


def key_spans(text: str) -> Iterator[Span]:
    for start, shape in SHAPES.items():
        at = text.find(start)
        while at >= 0:
            found = shape.match(text, at)
            if found:
                yield found.span("secret" if "secret" in shape.groupindex else 0)
            at = text.find(start, found.end() if found else at + 1)


def can_be_secret(value: str) -> bool:
    """Whether masking protects something: local servers are given keys such as `not-needed`, which are words."""
    if len(value) < _MIN_LENGTH or len(set(value)) < _MIN_DISTINCT:
        return False
    return len(value) >= _MAX_WORDS_LENGTH or _WORDS.fullmatch(value) is None


def register(secret: str) -> None:
    """Masks this value from now on, also where it is escaped or folded, and each long line of it by itself."""
    forms = [reading.text for text in (secret, " ".join(secret.split())) for reading in readings(text)]
    forms += [form.replace(" ", "+") for form in forms]  # as in a query string
    _add(filter(can_be_secret, forms))
    _add(_long_lines(secret))


def _add(texts: Iterable[str]) -> None:
    for text in texts:
        if text not in registered:
            registered.add(text)
            PIECES.update(text[at : at + PIECE] for at in range(len(text) - PIECE + 1))
            _cores.add(max(_CORE.findall(text), key=len, default=""))


class DecodedText:
    """A text with its escapes decoded, some times over, and where its characters come from."""

    __slots__ = ("_steps", "text")

    def __init__(self, text: str, steps: tuple[tuple[list[int], list[int]], ...] = ()) -> None:
        self.text, self._steps = text, steps

    def decoded(self) -> "DecodedText | None":
        """This text decoded once more; None if it has no escapes."""
        text = self.text
        if "%" not in text and "&" not in text and "\\" not in text:
            return None
        pieces, end, length = list[str](), 0, 0
        places, origins = [0], [0]
        for found in ESCAPE.finditer(text):
            plain, character = text[end : found.start()], character_of(found)
            pieces += (plain, character)
            length += len(plain)
            end = found.end()
            # What is before the next even place is copied; what is from an odd place to the next is one escape.
            places += (length, length := length + len(character))
            origins += (found.start(), end)
        if not pieces:
            return None
        return DecodedText("".join(pieces) + text[end:], (*self._steps, (places, origins)))

    def origin(self, start: int, end: int) -> Span:
        """Where this part of the text is in the original. Escapes are taken whole."""
        for places, origins in reversed(self._steps):
            first, last = bisect_right(places, start) - 1, bisect_right(places, end - 1) - 1
            start = origins[first] + (0 if first % 2 else start - places[first])
            end = origins[last + 1] if last % 2 else origins[last] + end - places[last]
        return start, end


def readings(text: str) -> Iterator[DecodedText]:
    """The text as it is, and with its escapes decoded once, twice, ... as in JSON that quotes JSON."""
    reading: DecodedText | None = DecodedText(text)
    for _ in range(MAX_ESCAPES + 1):
        if reading is None:
            return
        yield reading
        reading = reading.decoded()


def character_of(found: re.Match[str]) -> str:
    escape = found[0]
    match escape[0], escape[1]:
        case "&", _:
            return html.unescape(escape)
        case "%", _:
            data = bytes.fromhex(escape.replace("%", ""))
            try:
                return data.decode()
            except UnicodeDecodeError:
                return data.decode("latin-1")
        case _, "u":
            return str(json.loads(f'"{escape}"'))
        case _, "x":
            return chr(int(escape[2:], 16))
        case _, other:
            return _CHARACTERS.get(other, other)


def _long_lines(secret: str) -> Iterator[str]:
    """The lines that are secrets by themselves, as in a private key. A field of a JSON document is not."""
    lines = [line.strip() for line in _NEWLINE.split(secret)]
    if len(lines) > 1:
        for line in lines:
            if len(line) >= _MIN_LINE and can_be_secret(line) and not _HARMLESS_LINE.search(line):
                yield line


def mask(text: str) -> str:
    """The text with `•••` in place of each secret. Long base64 data stays as it is."""
    spans = secret_spans(text)
    return mask_spans(text, spans) if spans else text


def masked_line(text: str) -> str:
    """The text without secrets, in one line. Masked first: folded, a secret might not be recognised."""
    return " ".join(mask(text).split())


def safe_text(text: str) -> str:
    """The text without secrets and without characters that front ends cannot save or show."""
    return mask(showable_text(text))


def mask_pieces(texts: Sequence[str]) -> list[str]:
    """Masks the pieces of one text, across their borders: the mask is where the secret began."""
    joined = "".join(texts)
    spans = secret_spans(joined)
    if not spans:
        return list(texts)
    characters = list(joined)
    for start, end in spans:
        characters[start:end] = [MASK, *[""] * (end - start - 1)]
    rest = iter(characters)
    return ["".join(itertools.islice(rest, len(text))) for text in texts]


def mask_json(value: Any) -> Any:
    return change_texts(value, mask)


def dump_masked(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if mask(text) is text else json.dumps(mask_json(value), ensure_ascii=False)


def mask_spans(text: str, spans: Sequence[Span]) -> str:
    ends = [0, *(end for _, end in spans)]
    kept = [text[end:start] for end, (start, _) in zip(ends, spans, strict=False)]
    return MASK.join([*kept, text[ends[-1] :]])


def secret_spans(text: str) -> list[Span]:
    """Where the secrets are, in order and joined where they overlap. Short matches inside base64 data are ignored."""
    if len(text) < _MIN_LENGTH or not _is_suspicious(text):
        return []
    known = list(_registered_spans(text))
    secrets = [*known, *key_spans(text)]
    if not secrets:
        return []
    certain = [start for start, end in known if end - start >= _MIN_IN_DATA]
    regions = [(start, False, end) for start, end in secrets]
    regions += [
        (start, True, end)
        for start, end in map(re.Match.span, _BASE64.finditer(text))
        if not any(start <= place < end for place in certain)
    ]
    spans: list[Span] = []
    reach, in_data = 0, False
    for start, is_data, end in sorted(regions):
        if start >= reach:
            reach, in_data = end, is_data
            if not is_data:
                spans.append((start, end))
        elif not is_data and not in_data and end > reach:
            reach = end
            spans[-1] = spans[-1][0], end
    return spans


def _is_suspicious(text: str) -> bool:
    """Whether to look closer. Called for every string, and nearly always False."""
    for start in SHAPES:  # a plain loop: a generator would take longer than the search
        if start in text:
            return True
    for core in _cores:
        if core in text:
            return True
    for part, escapes in _MANY_ESCAPES.items():
        if part in text and escapes.search(text):
            return bool(registered)
    return False


def _registered_spans(text: str) -> Iterator[Span]:
    for reading in readings(text) if registered else ():
        for secret in registered:
            at = reading.text.find(secret)
            while at >= 0:
                yield reading.origin(at, at + len(secret))
                at = reading.text.find(secret, at + len(secret))


_KEYS = (
    "access|account|anthropic|api|auth|aws|azure|client|deepseek|encryption|gemini|github|google|groq|hf|license"
    "|master|mistral|openai|openrouter|private|secret|service|session|shared|signing|ssh|storage|stripe"
    "|subscription|webhook"
)
"""Words that make a `..._key` a secret; `sort_key` and `primary_key` are not."""
_SECRET_NAME = re.compile(
    rf"(?:^|_)(?:(?:{_KEYS})_?keys?|secrets?|token|passwords?|passwd|passphrase|credentials?)$", re.IGNORECASE
)
_HINTS = ("key", "secret", "token", "pass", "credential")
"""Every such name contains one of these. Tables can have millions of labels, and nearly none does."""
_CHUNK = 1_000
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_secret_name(name: Any) -> bool:
    """Whether a name is that of a secret, in any spelling: `API_KEY`, `client-secret`, `user.accessToken`."""
    if isinstance(name, tuple):
        return any(map(is_secret_name, name))
    text = str(name)
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return False
    parts = [part for part in re.findall(r"[^\W_]+", _HUMP.sub("_", text)) if not part.isdigit()]
    return _SECRET_NAME.search("_".join(parts)) is not None


def are_secret_names(names: Sequence[Any]) -> list[bool]:
    """Which of these are names of secrets. Many names that are none are quick to check: tables have millions."""
    found: list[bool] = []
    for start in range(0, len(names), _CHUNK):
        chunk = names[start : start + _CHUNK]
        text = "\n".join(map(str, chunk)).lower()
        is_near = any(hint in text for hint in _HINTS)
        found += map(is_secret_name, chunk) if is_near else [False] * len(chunk)
    return found


_MAX_KEY = 2_000
"""Characters of a possible key that may be held back; signed tokens have about a thousand."""
_CONTEXT = 48
"""Characters to remember of the text before: more than the longest start of a shape, or four characters escaped."""
_LAST_ESCAPES = 40
"""Characters from the end that have the last few characters of the text, also if they are escaped."""
_UNFINISHED = re.compile(
    r"(?:(?:%[89A-Fa-f][0-9A-Fa-f]){0,8}%[0-9A-Fa-f]?|&#?[A-Za-z0-9]{0,32}|(?<!\\)\\++(?:[ux][0-9A-Fa-f]{0,3})?)\Z"
)
"""An escape that may go on in the next piece."""
_KEY_TO_THE_END = re.compile(r"[A-Za-z0-9_\-.~+/=]*\Z")


class StreamMasker:
    """Masks one text piece by piece. The end of a piece is held back only while it may be the start of a secret."""

    __slots__ = ("_before", "held")

    def __init__(self) -> None:
        self.held = ""
        self._before = ""
        """The last characters returned, which may be the first of a secret."""

    def more(self, piece: str) -> str:
        """Adds a piece and returns the text that is ready."""
        text = self._before + self.held + piece
        return self._release(text, max(len(self._before), _secret_start(text)))

    def rest(self) -> str:
        """Ends the text and returns what was held back."""
        text = self._before + self.held
        return self._release(text, len(text))

    def _release(self, text: str, end: int) -> str:
        returned = len(self._before)
        spans = [(max(start, returned), stop) for start, stop in secret_spans(text[:end]) if stop > returned]
        self._before, self.held = text[max(0, end - _CONTEXT) : end], text[end:]
        return showable_text(mask_spans(text[:end], spans)[returned:])


def _secret_start(text: str) -> int:
    """Where the part begins that must be held back, because it may be the start of a secret."""
    start = _known_start(text)
    for head in SHAPES:
        at = text.find(head, max(0, len(text) - _MAX_KEY))
        while 0 <= at < start:
            if _KEY_TO_THE_END.match(text, at + len(head)):
                start = min(start, at + len(head) - 1)
            at = text.find(head, at + 1)
    return start


def _known_start(text: str) -> int:
    start = len(text)
    if text[-PIECE:] not in PIECES and not _ends_escaped(text):
        return start
    for reading in readings(_without_unfinished(text)):
        for tail in (reading.text, _without_unfinished(reading.text)):
            # Fewer characters of a secret occur in many words.
            for secret in registered if tail[-PIECE:] in PIECES else ():
                at = tail.find(secret[:PIECE], max(0, len(tail) - len(secret) + 1))
                while at >= 0 and not secret.startswith(tail[at:]):
                    at = tail.find(secret[:PIECE], at + 1)
                if at >= 0:
                    last = at + PIECE - 1
                    start = min(start, reading.origin(last, last + 1)[0])
    return start


def _ends_escaped(text: str) -> bool:
    """Whether the text ends with characters of a registered value, some of them escaped."""
    end = text[-_LAST_ESCAPES:]
    if "%" not in end and "&" not in end and "\\" not in end:
        return False
    end = _without_unfinished(end)
    for _ in range(MAX_ESCAPES + 1):
        if end[-PIECE:] in PIECES or _without_unfinished(end)[-PIECE:] in PIECES:
            return True
        decoded = ESCAPE.sub(character_of, end)
        if decoded == end:
            return False
        end = decoded
    return False


def _without_unfinished(text: str) -> str:
    found = _UNFINISHED.search(text, max(0, len(text) - _CONTEXT))
    return text[: found.start()] if found else text
