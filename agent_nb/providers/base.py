"""The interface to a model: `Provider.stream(request)` yields pieces and ends with exactly one `Turn`."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal, Protocol

from agent_nb._base.wire import Json
from agent_nb.core.errors import ProviderError, RequestRefusedError
from agent_nb.core.events import Stop
from agent_nb.core.messages import Message, ToolCall, ToolSpec, Usage
from agent_nb.files import Content

VENDOR_DATA = "vendor data"
"""Data attached by a vendor to its messages: signatures and encrypted reasoning."""
_FOREIGN_DATA = re.compile(
    r"invalid_encrypted_content|encrypted content .{0,80}could not be|reasoning input items can only"  # OpenAI
    r"|without its required (following|'reasoning') item|duplicate item found|items are not persisted"
    r"|invalid `?signature|blocks in the latest assistant message cannot be modified"  # Anthropic
    r"|thought[ _]signature",  # Gemini
    re.IGNORECASE,
)


class Clock(Protocol):
    @property
    def date(self) -> str:
        """UTC date and time in ISO 8601; empty for scripted runs, which must be reproducible."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...

    def call_at(self, when: float, call: Callable[[], None]) -> None:
        """Call a function at a time of this clock."""


class RealClock:
    now = staticmethod(time.monotonic)

    @property
    def date(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def call_at(self, when: float, call: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(when - self.now(), call)


class VirtualClock:
    """A clock that advances only on `sleep`; `pace` scales the real duration of a sleep (0: no wait)."""

    date = ""

    def __init__(self, pace: float = 1.0) -> None:
        self._now = 0.0
        self._pace = pace
        self._calls: list[tuple[float, Callable[[], None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self._now = round(self._now + seconds, 4)
        due = [item for item in self._calls if item[0] <= self._now]
        for item in due:
            self._calls.remove(item)
            item[1]()
        await asyncio.sleep(seconds * self._pace)

    def call_at(self, when: float, call: Callable[[], None]) -> None:
        self._calls.append((when, call))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """The facts in the texts of a request as values, for scripted models, which cannot read text."""

    files: Mapping[str, Content] = field(default_factory=dict)
    """Files at the start of the run."""
    edited: frozenset[str] = frozenset()
    """Files not shown in full in the texts: edited by the user, or too long."""
    own_tools: frozenset[str] = frozenset()
    """Tools that are not built in."""
    asking_tools: frozenset[str] = frozenset()
    """The `own_tools` that need approval for every call."""
    summing_up: bool = False
    """Whether the last message asks for a summary because no further tool calls will run."""


def takes_none(call: ToolCall) -> bool:
    """Accept no call written as text (the default of `Request.takes`)."""
    return False


@dataclass(frozen=True, slots=True)
class CodeBlocks:
    """Fenced `python` blocks are calls of this tool."""

    tool: str
    judge: Callable[[str], tuple[Literal["run", "ask", "show", "drop"], str]]
    """Whether a block runs by the tool's rule, runs if the user approves it, is part of the answer, or is left out of
    it; and its code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The input of one turn. `messages` contains no system message; `system` is its text."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    variant: int = 0
    clock: Clock = field(default_factory=RealClock)
    facts: RequestFacts = field(default_factory=RequestFacts)
    without: frozenset[str] = frozenset()
    """Optional parameters to omit: the vendor refused them earlier in this run."""
    takes: Callable[[ToolCall], bool] = takes_none
    """Whether to run a call that the model wrote into its text."""
    answer: str = ""
    """The tool that ends the run with an answer of a type; empty if the answer is text."""
    code: CodeBlocks | None = None
    """Set if the model is asked for code."""
    holds_text: bool = False
    """Whether the text of a turn without calls is shown at its end, by a feature that adds to it."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer has begun: the vendor now charges for the input, even if the stream is cut."""


# Pieces that come once per token are not frozen: that costs 2 % of a stream's CPU time.
@dataclass(slots=True)
class TextPiece:
    """A fragment of the answer."""

    text: str


@dataclass(slots=True)
class ThinkingPiece:
    """A fragment of the visible thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool call has begun; its arguments follow as `CallPiece`."""

    id: str
    name: str
    written: bool = False
    """Whether the call is written into the model's text."""


@dataclass(slots=True)
class CallPiece:
    """A fragment of a call's JSON arguments."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class UsagePiece:
    """Token counts of this turn so far."""

    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A finished turn: its message, stop reason and token usage."""

    message: Message
    stop: Stop
    usage: Usage
    model: str
    detail: str = ""
    """The vendor's explanation of a refusal."""


Piece = Accepted | TextPiece | ThinkingPiece | CallStarted | CallPiece | UsagePiece | Turn


class Provider(Protocol):
    """A model that answers requests. Custom providers subclass it."""

    name: str
    """`vendor:model`."""
    window: int | None = None
    """Context window: maximum tokens of a request and its answer; None if unknown."""
    effort: str | None = None
    """Reasoning effort; None if unset."""
    sampling: Mapping[str, Any] = MappingProxyType({})
    """`max_tokens` and other request fields that were set, such as `temperature`."""
    sees_pages: bool = True
    """Whether the model gets screenshots of its page, where a browser is available."""
    offline: bool = False
    """Whether its runs need no network. Then nothing else in them uses the network either."""
    lean: bool = False
    """Whether requests are kept as short as possible by default."""
    reads_code: bool = False
    """Whether it makes calls of fenced code, if `Request.code` is set."""

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]: ...

    async def introduce(self) -> Json | None:
        """Return the facts that a local server reports about its model, for the settings of a run. Queried once."""
        return None

    def new_clock(self) -> Clock:
        """A new clock for one run: real, or virtual for scripted models."""
        return RealClock()

    def left_out(self, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
        """One warning per tool that cannot be sent to this vendor. Raises `ConfigError` for too many tools."""
        return ()

    def sampled(self, temperature: float) -> "Provider":
        """The same model at this temperature; itself if it takes none, or if the user has set one."""
        return self

    async def close(self) -> None:
        """Release open connections, if any."""
        return


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalParameter:
    name: str
    """The vendor's name for it."""
    refused: str = ""
    """Regular expression for refusals that name it, in `param` or in the message; defaults to `name`."""
    path: str = ""
    """Dotted path in the body; defaults to `name`. `*.name` matches at any depth."""

    def removed_from(self, body: Json) -> Json:
        path = (self.path or self.name).split(".")
        return _without_key(body, path[1]) if path[0] == "*" else _without_path(body, path)


def without_refused(parameters: Sequence[OptionalParameter], request: Request, body: Json) -> Json:
    for parameter in parameters:
        if parameter.name in request.without:
            body = parameter.removed_from(body)
    return body


def with_retry_remedy(
    error: ProviderError, parameters: Sequence[OptionalParameter], request: Request, body: Json
) -> ProviderError:
    """The error, naming the part to retry without if it refuses an optional part of the request."""
    if not isinstance(error, RequestRefusedError):
        return error
    if any(message.vendor for message in request.messages) and _FOREIGN_DATA.search(error.refusal):
        why = f"{error} Retrying without the reasoning of earlier turns."
        return RequestRefusedError(why, refusal=error.refusal, without=VENDOR_DATA)
    for parameter in parameters:
        names_it = re.search(parameter.refused or parameter.name, error.refusal, re.IGNORECASE)
        if parameter.name not in request.without and names_it and parameter.removed_from(body) != body:
            why = f"{error} Retrying without `{parameter.name}`, which this model refuses."
            return RequestRefusedError(why, refusal=error.refusal, without=parameter.name)
    return error


def _without_path(body: Json, path: list[str]) -> Json:
    first, *remaining = path
    if first not in body:
        return body
    inner = _without_path(body[first], remaining) if remaining and isinstance(body[first], dict) else None
    return {key: value for key, value in body.items() if key != first} | ({first: inner} if inner else {})


def _without_key(value: Any, name: str) -> Any:
    match value:
        case dict():
            return {key: _without_key(item, name) for key, item in value.items() if key != name}
        case list():
            return [_without_key(item, name) for item in value]
        case _:
            return value
