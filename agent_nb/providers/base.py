"""The interface to a model: `Provider.stream(request)` yields pieces and ends with exactly one `Turn`."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

from agent_nb._base.wire import Json
from agent_nb.errors import ProviderError, RequestRefusedError
from agent_nb.events import Stop
from agent_nb.files import Content
from agent_nb.messages import Message, ToolCall, ToolSpec, Usage


class Clock(Protocol):
    @property
    def date(self) -> str:
        """The date and time in UTC, as ISO 8601; empty where they would differ every time."""
        ...

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class RealClock:
    now = staticmethod(time.monotonic)

    @property
    def date(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class VirtualClock:
    """Time that passes only by `sleep`; `pace` scales how long a sleep really takes, 0 for not at all."""

    date = ""
    """A scripted run has none."""

    def __init__(self, pace: float = 1.0) -> None:
        self._now = 0.0
        self._pace = pace

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self._now = round(self._now + seconds, 4)
        await asyncio.sleep(seconds * self._pace)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """What the texts of a request say, as values, for a scripted model that cannot read them."""

    files: Mapping[str, Content] = field(default_factory=dict)
    """The files that the run began with."""
    edited: frozenset[str] = frozenset()
    """Files that the texts do not show in full: the user has edited them, or they are long."""
    own_tools: frozenset[str] = frozenset()
    """The tools that are not built in."""
    asking_tools: frozenset[str] = frozenset()
    """Those of them that need approval for every call."""
    summing_up: bool = False
    """Whether the last message asks for a summary, because no further tool calls will run."""


def takes_none(call: ToolCall) -> bool:
    """No call that is written as text is taken."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a model is asked in one turn. `messages` holds no system message; that text is `system`."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    variant: int = 0
    clock: Clock = field(default_factory=RealClock)
    facts: RequestFacts = field(default_factory=RequestFacts)
    without: frozenset[str] = frozenset()
    """Optional parameters that the vendor refused earlier in this run; they are left out."""
    takes: Callable[[ToolCall], bool] = takes_none
    """Whether a call that the model has written into its text is to be run."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The vendor has begun to answer: from now on it charges for the input, even if the answer breaks off."""


@dataclass(
    slots=True
)  # not frozen, as the next ones: made for every token, that takes 2 % of a stream's processor time
class TextPiece:
    text: str


@dataclass(slots=True)
class ThinkingPiece:
    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    id: str
    name: str
    written: bool = False
    """Whether the model writes the call into its text."""


@dataclass(slots=True)
class CallPiece:
    """A fragment of a call's JSON arguments."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class UsagePiece:
    """What the vendor has counted so far in this turn."""

    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A finished turn: its message for the conversation, why it stopped, the tokens it used."""

    message: Message
    stop: Stop
    usage: Usage
    model: str
    detail: str = ""
    """The vendor's explanation of a refusal."""


Piece = Accepted | TextPiece | ThinkingPiece | CallStarted | CallPiece | UsagePiece | Turn


class Provider(Protocol):
    """A model that answers requests. A class of your own derives from this one."""

    name: str
    """`vendor:model`."""
    window: int | None = None
    """Tokens that a request and its answer may have together; None if that is not known."""
    effort: str | None = None
    """How hard the model thinks, if that was chosen."""
    sampling: Mapping[str, Any] = MappingProxyType({})
    """`max_tokens` and further fields of its requests, such as `temperature`, if they were chosen."""
    sees_pages: bool = True
    """Whether the model is offered a look at the page it makes, where something can show it."""
    offline: bool = False
    """Whether its runs need no network; then nothing else in them uses it."""
    lean: bool = False
    """Whether its requests are as short as possible unless something else is asked for."""

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]: ...

    async def introduce(self) -> Json | None:
        """What a server of the user's own says about its model, for the settings of a run. It is asked once."""
        return None

    def new_clock(self) -> Clock:
        """The clock of one run: the real one, or a virtual one for scripted models."""
        return RealClock()

    def left_out(self, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
        """A sentence for each tool that the vendor cannot be told of. Raises `ConfigError` if there are too many."""
        return ()

    async def close(self) -> None:
        """Releases what the model holds open, if anything."""
        return


VENDOR_DATA = "vendor data"
"""What a vendor attached to its own messages: signatures and encrypted reasoning."""
_FOREIGN_DATA = re.compile(
    r"invalid_encrypted_content|encrypted content .{0,80}could not be|reasoning input items can only"  # OpenAI
    r"|without its required (following|'reasoning') item|duplicate item found|items are not persisted"
    r"|invalid `?signature|blocks in the latest assistant message cannot be modified"  # Anthropic
    r"|thought[ _]signature",  # Gemini
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalParameter:
    name: str
    """What people call it, in the vendor's terms."""
    refused: str = ""
    """A regular expression for the refusals that name it, in `param` or in the message; by default `name`."""
    path: str = ""
    """Where it is in the body, with dots; by default at `name`. `*.name` stands for every place."""

    def removed_from(self, body: Json) -> Json:
        path = (self.path or self.name).split(".")
        return _without_key(body, path[1]) if path[0] == "*" else _without_path(body, path)

    def is_refused(self, refusal: str, body: Json) -> bool:
        """Whether a refusal names this parameter and the body has it."""
        return (
            bool(re.search(self.refused or self.name, refusal, re.IGNORECASE))
            and self.removed_from(body) != body
        )


def lean_body(parameters: Sequence[OptionalParameter], request: Request, body: Json) -> Json:
    for parameter in parameters:
        if parameter.name in request.without:
            body = parameter.removed_from(body)
    return body


def explained(
    error: ProviderError, parameters: Sequence[OptionalParameter], request: Request, body: Json
) -> ProviderError:
    """The error, which says what to leave out if it refuses an optional part of this request."""
    if not isinstance(error, RequestRefusedError):
        return error
    if any(message.vendor for message in request.messages) and _FOREIGN_DATA.search(error.refusal):
        why = f"{error} Retrying without the reasoning of earlier turns."
        return RequestRefusedError(why, refusal=error.refusal, without=VENDOR_DATA)
    for parameter in parameters:
        if parameter.name not in request.without and parameter.is_refused(error.refusal, body):
            why = f"{error} Retrying without `{parameter.name}`, which this model refuses."
            return RequestRefusedError(why, refusal=error.refusal, without=parameter.name)
    return error


def _without_path(body: Json, path: list[str]) -> Json:
    first, *rest = path
    if first not in body:
        return body
    inner = _without_path(body[first], rest) if rest and isinstance(body[first], dict) else None
    return {key: value for key, value in body.items() if key != first} | ({first: inner} if inner else {})


def _without_key(value: Any, name: str) -> Any:
    match value:
        case dict():
            return {key: _without_key(item, name) for key, item in value.items() if key != name}
        case list():
            return [_without_key(item, name) for item in value]
        case _:
            return value
