"""Masks secrets in text: registered values, and strings that look like API keys."""

import contextlib
import html
import itertools
import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NewType
from urllib.parse import unquote

from agent_nb._base.late import SECRET_SOURCES
from agent_nb._base.text import change_texts, on_one_line, printable_line, showable_text, without_controls

# A key may follow an escaped character, as in quoted JSON or a URL: `\n` ends in a letter, so \b does not match there.
_ESCAPED = r"(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=\\x[0-9a-fA-F]{2})|(?<=%[0-9a-fA-F]{2})"
_BEGINS = rf"(?:\b|{_ESCAPED})"
_LONE = rf"(?:(?<![A-Za-z0-9_\-])|{_ESCAPED})"
SHAPES = {
    # Style sheets contain names such as `sk-toggleable__content`: other vendors' keys have a long run with digits.
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
    # In base64, the colon of `user:password` has one of three forms, by its place in a group of four characters.
    "asic ": re.compile(
        r"(?<=[Bb])asic (?P<secret>(?=[a-z+/]{0,60}[A-Z0-9])(?=[A-Za-z0-9+/=]{8})(?:[A-Za-z0-9+/]{4})*?"
        r"(?:O[g-v]|[A-Za-z0-9+/](?:[DTjz][o-r]|[A-Za-z0-9+/][AEIMQUYcgkosw048]6))[A-Za-z0-9+/]*+={0,2})"
    ),
    "earer ": re.compile(r"(?<=[Bb])earer (?P<secret>(?=[A-Za-z_\-.~+/=]{0,60}\d)[A-Za-z0-9_\-.~+/=]{8,})"),
}
"""Patterns by their first characters. Searching for these first is fast, and most texts contain none."""
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{500,}={0,2}")

Span = tuple[int, int]
MASK = "•••"
Masked = NewType("Masked", str)
"""A text that may leave the kernel. Only this module makes one, and the writer of a door accepts nothing else."""
MaskedJson = NewType("MaskedJson", dict[str, Any])
"""The same for JSON."""

_MIN_LENGTH = 8
"""Shorter values are never masked, because they occur inside ordinary words."""
_MIN_DISTINCT = 5
"""Minimum number of distinct characters: `xxxxxxxx` and `00000000` are not secrets."""
_MAX_WORDS_LENGTH = 20
_WORDS = re.compile(r"(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)(?:[-_. ](?:[a-z]+|[A-Z]+|[A-Z][a-z]+))*")

_MIN_LINE = 16
"""Shorter lines of a multi-line secret are masked only as part of the whole."""
_NEWLINE = re.compile(r"(?:(?<!\\)\\++[nr]|[\r\n])++")
_HARMLESS_LINE = re.compile(r'^-----|": ')
MAX_ESCAPES = 4
"""Levels of escaping to decode: JSON nested three times, as in a saved run, plus the run itself."""
_FEW = 100
_MIN_IN_DATA = 40
"""Registered values of this length do not occur in base64 data by chance."""

ESCAPE = re.compile(
    r"%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+"
    r"|&(?:#[0-9]{1,7};?|#[xX][0-9A-Fa-f]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};)"
    r"|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}"
    r"|\\[\\/\"'nrtbf]"
)
"""An escaped character in a URL, HTML, JSON or Python."""
_MANY_ESCAPES = {
    "%": re.compile(r"%(?:25){0,4}[0-9A-Fa-f]{2}" * 4),
    "#": re.compile(r"&(?:amp;){0,4}#[xX]?[0-9A-Fa-f]{1,7};?" * 4),
    "\\u": re.compile(r"\\{1,16}u[0-9A-Fa-f]{4}" * 4),
    "\\x": re.compile(r"\\{1,16}x[0-9A-Fa-f]{2}" * 4),
}
"""Several escapes in a row: a value may be escaped entirely."""
_CORE = re.compile(r"[A-Za-z0-9]{4,}")
_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}

registered: set[str] = set()
"""The values to mask, and the long lines of multi-line values."""
_places: dict[str, str] = {}
"""Where registered values come from; empty as in `place_found`."""
_calls: list[object] = []
"""The tool calls under way."""
_cores: set[str] = set()
"""The longest alphanumeric run of each value, which encoders do not change; "" for a value without one."""

PIECE = 4
PIECES: set[str] = set()
"""All substrings of length `PIECE` of registered values. A text that ends with none of them does not end in a value."""
_CUT = re.compile(r"\s?(?:…|\.\.\.|\[[\d,]+ (?:of [\d,]+ )?characters omitted\]\s?)|\Z")
"""The marks that stand for the rest of a shortened text."""
_KEYS = (
    "access|account|anthropic|api|auth|aws|azure|client|deepseek|encryption|gemini|github|google|groq|hf|license"
    "|master|mistral|openai|openrouter|private|secret|service|session|shared|signing|ssh|storage|stripe"
    "|subscription|webhook"
)
"""Words that make a `..._key` a secret; `sort_key` and `primary_key` are not."""
_SECRET_NAME = re.compile(
    rf"(?:^|_)(?:(?:{_KEYS})_?keys?|secrets?|token|passwords?|passwd|pwd|pw|passphrase|credentials?|authorization)$",
    re.IGNORECASE,
)
_CREDENTIAL = re.compile(r"auth|key|token|secret|password|cookie|signature|^sig$|^code$", re.IGNORECASE)
_NO_CREDENTIAL = re.compile(r"idempotency", re.IGNORECASE)
"""Names of headers and query fields; of the second there is a new one for each request."""
_HINTS = ("key", "secret", "token", "pass", "pw", "credential", "authorization")
"""Every secret name contains one of these; a fast check for tables with millions of labels."""
_CHUNK = 1_000
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PAIRS = (
    ("name", "key", "field", "header", "label", "variable", "parameter", "property", "setting", "0", "column_0"),
    ("value", "val", "content", "text", "data", "default", "secret_value", "1", "column_1"),
)  # fmt: skip
"""Labels of a name and of its value, in a record or a table. Lists and tables without labels count from 0."""
_MOST_FIELDS = 50
_MAX_KEY = 2_000
"""Maximum characters of a possible key to buffer; signed tokens have about a thousand."""
_CONTEXT = 48
"""Characters of previous text to keep: more than the longest prefix of a pattern, or four escaped characters."""
_LAST_ESCAPES = 40
"""Length of a tail that is long enough for the last `PIECE` characters, even if all are escaped."""
_UNFINISHED = re.compile(
    r"(?:(?:%[89A-Fa-f][0-9A-Fa-f]){0,8}%[0-9A-Fa-f]?|&#?[A-Za-z0-9]{0,32}|(?<!\\)\\++(?:[ux][0-9A-Fa-f]{0,3})?)\Z"
)
"""An escape that may continue in the next piece."""
_KEY_TO_THE_END = re.compile(r"[A-Za-z0-9_\-.~+/=]*\Z")


class Exact(str):
    """A text that a page gets as it is: what a user is asked to accept, bound values, files as base64, our own code."""

    __slots__ = ()


def key_spans(text: str) -> Iterator[Span]:
    for start, shape in SHAPES.items():
        at = text.find(start)
        while at >= 0:
            match = shape.match(text, at)
            if match:
                yield match.span("secret" if "secret" in shape.groupindex else 0)
            at = text.find(start, match.end() if match else at + 1)


def can_be_secret(value: str, *, or_words: bool = False) -> bool:
    """Whether a value is worth masking: keys of local servers are often plain words such as `not-needed`."""
    if len(value) < _MIN_LENGTH or len(set(value)) < _MIN_DISTINCT:
        return False
    return or_words or len(value) >= _MAX_WORDS_LENGTH or _WORDS.fullmatch(value) is None


def register(secret: str, place: str = "a key of this session") -> None:
    """Mask this value from now on, even if escaped or wrapped, and each of its long lines separately."""
    for text in forms_of(secret):
        if text not in registered:
            _places[text] = place_found(place)
            registered.add(text)
            PIECES.update(text[at : at + PIECE] for at in range(len(text) - PIECE + 1))
            _cores.add(max(_CORE.findall(text), key=len, default=""))


def register_credentials(fields: Iterable[tuple[str, str]]) -> None:
    """Mask the credentials among headers or query fields, with and without a scheme such as `Bearer`."""
    for name, value in fields:
        # A signature of AWS belongs to one request.
        is_new = value not in registered and not value.startswith("AWS4-")
        if is_new and _CREDENTIAL.search(name) and not _NO_CREDENTIAL.search(name):
            for secret in (value, value.partition(" ")[2]):
                register(secret, f"`{name}`")
                register(unquote(secret), f"`{name}`")


def forms_of(secret: str) -> set[str]:
    """The value as texts may contain it: unescaped, with single spaces, and its long lines."""
    forms = [reading.text for text in (secret, " ".join(secret.split())) for reading in readings(text)]
    forms += [form.replace(" ", "+") for form in forms]  # as in a query string
    forms += [
        form.rstrip("\\") for form in forms
    ]  # a last backslash may read as the escape of a quotation mark
    return {*filter(can_be_secret, forms), *_long_lines(secret)}


class DecodedText:
    """A text with escapes decoded one or more times, and a mapping to the original positions."""

    __slots__ = ("_steps", "text")

    def __init__(self, text: str, steps: tuple[tuple[list[int], list[int]], ...] = ()) -> None:
        self.text, self._steps = text, steps

    def decoded(self) -> "DecodedText | None":
        """Decode once more; None if there are no escapes."""
        text = self.text
        if "%" not in text and "&" not in text and "\\" not in text:
            return None
        pieces, end, length = list[str](), 0, 0
        places, origins = [0], [0]
        for match in ESCAPE.finditer(text):
            plain, character = text[end : match.start()], character_of(match)
            pieces += (plain, character)
            length += len(plain)
            end = match.end()
            # Text before the next even position is copied; text from an odd position to the next is one escape.
            places += (length, length := length + len(character))
            origins += (match.start(), end)
        if not pieces:
            return None
        return DecodedText("".join(pieces) + text[end:], (*self._steps, (places, origins)))

    def origin(self, start: int, end: int) -> Span:
        """Map a span of the decoded text to the original text; escapes that it overlaps are included in full."""
        for places, origins in reversed(self._steps):
            first, last = bisect_right(places, start) - 1, bisect_right(places, end - 1) - 1
            start = origins[first] + (0 if first % 2 else start - places[first])
            end = origins[last + 1] if last % 2 else origins[last] + end - places[last]
        return start, end


def readings(text: str) -> Iterator[DecodedText]:
    """Yield the text unchanged and with its escapes decoded once, twice, ... as in nested JSON."""
    reading: DecodedText | None = DecodedText(text)
    for _ in range(MAX_ESCAPES + 1):
        if reading is None:
            return
        yield reading
        reading = reading.decoded()


def character_of(match: re.Match[str]) -> str:
    escape = match[0]
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
    """Yield lines that are secrets on their own, as in a private key, but not fields of a JSON document."""
    lines = [line.strip() for line in _NEWLINE.split(secret)]
    if len(lines) > 1:
        for line in lines:
            if len(line) >= _MIN_LINE and can_be_secret(line) and not _HARMLESS_LINE.search(line):
                yield line


def mask(text: str) -> Masked:
    """Replace each secret with `•••`. Long base64 data is unchanged."""
    spans = secret_spans(text)
    return Masked(mask_spans(text, spans) if spans else text)


def safe_text(text: str) -> Masked:
    """Mask the text and replace characters that front ends cannot save or show."""
    return mask(showable_text(text))


def terminal_text(text: str) -> Masked:
    """Mask the text and remove control characters, which a terminal would obey."""
    return Masked(without_controls(safe_text(text)))


def mask_pieces(texts: Sequence[str]) -> list[str]:
    """Mask the pieces of one text, including secrets that span pieces; the mask is placed where the secret starts."""
    joined = "".join(texts)
    spans = secret_spans(joined)
    if not spans:
        return list(texts)
    characters = list(joined)
    for start, end in spans:
        characters[start:end] = [MASK, *[""] * (end - start - 1)]
    remaining = iter(characters)
    return ["".join(itertools.islice(remaining, len(text))) for text in texts]


def mask_json(value: Any) -> Any:
    return change_texts(value, mask)


def exact(value: Any) -> Any:
    """The JSON value with all its texts `Exact`."""
    return change_texts(value, Exact)


def for_page(message: dict[str, Any]) -> MaskedJson:
    """Mask a message to a page, but for its `Exact` texts."""
    return MaskedJson(
        change_texts(message, lambda text: str(text) if type(text) is Exact else safe_text(text))
    )


def mask_spans(text: str, spans: Sequence[Span]) -> str:
    ends = [0, *(end for _, end in spans)]
    visible = [text[end:start] for end, (start, _) in zip(ends, spans, strict=False)]
    return MASK.join([*visible, text[ends[-1] :]])


def secret_spans(text: str) -> list[Span]:
    """Return the sorted, merged spans of secrets. Short matches inside base64 data are ignored."""
    if len(text) < _MIN_LENGTH or not _is_suspicious(text):
        return []
    return _merged(text, list(_spans_of(registered, text)), key_spans(text))


def _merged(text: str, values: Sequence[Span], keys: Iterable[Span]) -> list[Span]:
    regions = [(start, False, end) for start, end in (*values, *keys)]
    if not regions:
        return []
    certain = [start for start, end in values if end - start >= _MIN_IN_DATA]
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
    """Whether a full search is needed. Called for every string and nearly always False."""
    for start in SHAPES:  # a plain loop: a generator is slower than the search
        if start in text:
            return True
    for core in _cores:
        if core in text:
            return True
    for part, escapes in _MANY_ESCAPES.items():
        if part in text and escapes.search(text):
            return bool(registered)
    return False


def _near(secrets: Collection[str], text: str) -> Collection[str]:
    """The secrets whose start or end is in the text."""
    # To search for many secrets one by one takes too long.
    pieces = text if len(secrets) <= _FEW else {text[at : at + _MIN_LENGTH] for at in range(len(text))}
    return [secret for secret in secrets if secret[:_MIN_LENGTH] in pieces or secret[-_MIN_LENGTH:] in pieces]


def _spans_of(secrets: Collection[str], text: str) -> Iterator[Span]:
    return (span for span, _ in _found_in(secrets, text))


def _found_in(secrets: Collection[str], text: str) -> Iterator[tuple[Span, str]]:
    """Yield where these secrets are in the text, and which."""
    for reading in readings(text) if secrets else ():
        for secret in _near(secrets, reading.text):
            at = reading.text.find(secret)
            while at >= 0:
                end = at + len(secret)
                around = reading.text[max(0, at - 1) : at] + reading.text[end : end + 1]
                if can_be_secret(secret) or not re.search(r"\w", around):  # a plain word stands alone
                    yield reading.origin(at, end), secret
                at = reading.text.find(secret, end)


@contextlib.contextmanager
def during_call() -> Iterator[None]:
    """Take secrets that are first found in this block for texts that code of a run has made up."""
    _calls.append(call := object())
    try:
        yield
    finally:
        _calls.remove(call)


def place_found(place: str) -> str:
    """The place of a secret that is found now; empty during a tool call, whose code may have put anything there."""
    return "" if _calls else place


def own_values() -> dict[str, str]:
    """The secret values of the user's variables, as texts may contain them, and where they are."""
    sources = [source() for source in dict.fromkeys(SECRET_SOURCES)]
    return {text: name for source in sources for text, name in source.items()}


def known_secrets() -> dict[str, str]:
    """The secrets that no code of a run has made up, and where they are. The search in variables may take seconds."""
    found = {text: _places.get(text, "a key of this session") for text in list(registered)} | own_values()
    return {text: place for text, place in found.items() if place}


def as_accepted(value: Any, known: Mapping[str, str]) -> tuple[Any, tuple[str, ...]]:
    """Return the texts of a JSON value as a user is shown them who accepts it, and what `•••` stands for in them.

    They are exactly what will run or be written, except secrets that were known before: what merely looks like a key or
    like a password may be code.
    """
    places: dict[str, str] = {}

    def shown(text: str) -> str:
        found = [*_found_in(known, text := showable_text(text))]
        places.update(dict.fromkeys((known[secret] for _, secret in found), ""))
        return Exact(mask_spans(text, _merged(text, [span for span, _ in found], ())))

    texts = change_texts(value, shown)
    return texts, tuple(places)


def mask_values(text: str, values: Collection[str] | None = None) -> str:
    """Mask the secret values of the user's variables. Every text from the notebook passes this when it first enters a
    message; a text that was sent or recorded is never changed, because a vendor may have signed it."""
    values = own_values() if values is None and len(text) >= _MIN_LENGTH else values or ()
    return mask_spans(text, _merged(text, [*_spans_of(values, text), *_cut_spans(values, text)], ()))


def for_model(text: str, values: Collection[str] | None = None) -> str:
    """Mask keys and the values of variables in a text of the notebook, of a tool or of a file of the user's."""
    return mask_values(mask(text), values)


def _cut_spans(values: Collection[str], text: str) -> Iterator[Span]:
    """Spans of values whose start or end is missing, because the text was shortened there."""
    near_values = _near(values, text)
    for mark in _CUT.finditer(text) if near_values else ():
        before, after = mark.span()
        for value in near_values:
            at = text.find(value[:_MIN_LENGTH], max(0, before - len(value)), before)
            if at >= 0 and value.startswith(text[at:before]):
                yield at, before
            end = text.find(value[-_MIN_LENGTH:], after, after + len(value)) + _MIN_LENGTH
            if end >= _MIN_LENGTH and value.endswith(text[after:end]):
                yield after, end


def is_secret_name(name: Any) -> bool:
    """Whether this is the name of a secret, in any spelling: `API_KEY`, `client-secret`, `user.accessToken`."""
    if isinstance(name, tuple):
        return any(map(is_secret_name, name))
    text = str(name)
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return False
    parts = [part for part in re.findall(r"[^\W_]+", _HUMP.sub("_", text)) if not part.isdigit()]
    return _SECRET_NAME.search("_".join(parts)) is not None


def is_pair_label(label: Any, place: int) -> bool:
    """Whether a field or column with this label holds names (place 0) or their values (place 1)."""
    return isinstance(label, str | int) and str(label).strip("_").casefold() in _PAIRS[place]


def secret_pairs(fields: Mapping[Any, Any]) -> dict[Any, str]:
    """The fields that hold the value of a secret, with its name: in `{"name": "api_key", "value": ...}`, `value`."""
    names = [item for label, item in fields.items() if isinstance(item, str) and is_pair_label(label, 0)]
    name = next(filter(is_secret_name, names), None) if len(fields) <= _MOST_FIELDS else None
    return {label: name for label in fields if is_pair_label(label, 1)} if name else {}


def are_secret_names(names: Sequence[Any]) -> list[bool]:
    """Check each name with `is_secret_name`; fast for the millions of labels that a table may have."""
    results: list[bool] = []
    for start in range(0, len(names), _CHUNK):
        chunk = names[start : start + _CHUNK]
        text = "\n".join(map(str, chunk)).lower()
        is_near = any(hint in text for hint in _HINTS)
        results += map(is_secret_name, chunk) if is_near else [False] * len(chunk)
    return results


class StreamMasker:
    """Masks a text piece by piece. The end of a piece is buffered only while it may be the start of a secret."""

    __slots__ = ("_before", "held")

    def __init__(self) -> None:
        self.held = ""
        self._before = ""
        """The last characters returned, which may start a secret."""

    def more(self, piece: str) -> str:
        """Add a piece and return the text that is ready."""
        text = self._before + self.held + piece
        return self._release(text, max(len(self._before), _secret_start(text)))

    def rest(self) -> str:
        """End the text and return the buffered remainder."""
        text = self._before + self.held
        return self._release(text, len(text))

    def _release(self, text: str, end: int) -> str:
        returned = len(self._before)
        spans = [(max(start, returned), stop) for start, stop in secret_spans(text[:end]) if stop > returned]
        self._before, self.held = text[max(0, end - _CONTEXT) : end], text[end:]
        return showable_text(mask_spans(text[:end], spans)[returned:])


def has_secret(text: str) -> bool:
    return bool(secret_spans(text))


def beginning(text: str, limit: int) -> str:
    """Return at most `limit` characters. Half a secret would not be recognised, so a mask replaces one at the end."""
    if len(text) <= limit:
        return text
    end = cut_before_secret(text[: limit + _MAX_KEY], limit)
    return text[:end] + MASK if end <= limit - len(MASK) else text[:end]


def shortened(text: str, limit: int) -> str:
    """Truncate to `limit` characters, the last of which is then `…`, and not within a secret."""
    return text if len(text) <= limit else f"{beginning(text, limit - 1)}…"


def short_line(text: str, limit: int) -> str:
    return shortened(on_one_line(text), limit)


def safe_line(text: str, limit: int) -> str:
    """Return the text on one line, without control and bidi characters that could disguise it."""
    return shortened(printable_line(text), limit)


def cut_before_secret(text: str, end: int) -> int:
    """The last place up to `end` that is not inside a secret, nor inside what may be the start of one."""
    end = min(end, _secret_start(text))
    return next((start for start, stop in secret_spans(text) if start < end < stop), end)


def _secret_start(text: str) -> int:
    """Return the index from which the text must be buffered, because it may be the start of a secret."""
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
            # Shorter prefixes of a secret occur in many words.
            for secret in registered if tail[-PIECE:] in PIECES else ():
                at = tail.find(secret[:PIECE], max(0, len(tail) - len(secret) + 1))
                while at >= 0 and not secret.startswith(tail[at:]):
                    at = tail.find(secret[:PIECE], at + 1)
                if at >= 0:
                    last = at + PIECE - 1
                    start = min(start, reading.origin(last, last + 1)[0])
    return start


def _ends_escaped(text: str) -> bool:
    """Whether the text ends with part of a registered value, possibly with some characters escaped."""
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
    match = _UNFINISHED.search(text, max(0, len(text) - _CONTEXT))
    return text[: match.start()] if match else text
