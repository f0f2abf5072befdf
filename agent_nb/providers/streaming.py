"""Shared code of the vendors' providers: the SDK opens a stream, and one reader decodes it."""

import abc
import asyncio
import contextlib
import functools
import importlib
import json
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from jiter import from_json

from agent_nb._base.constants import EFFORTS
from agent_nb._base.text import slices, whole_text
from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json, parse_json
from agent_nb.core.errors import AgentError, InstallError, ProviderError
from agent_nb.core.messages import Attachment, ToolResult, ToolSpec, Usage, assistant
from agent_nb.providers import failure
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import (
    Accepted,
    OptionalParameter,
    Piece,
    Provider,
    Request,
    Turn,
    with_retry_remedy,
    without_refused,
)
from agent_nb.providers.http import make_client, release, responses_opened, shared_client
from agent_nb.providers.prices import context_window
from agent_nb.providers.requirements import check_version
from agent_nb.providers.settings import Settings, load_package
from agent_nb.providers.sse import SseReader
from agent_nb.providers.tool_schemas import Dialect, ToolTranslation

if TYPE_CHECKING:
    import httpx2

SILENCE_SECONDS = 300.0
"""Default read timeout. Models think for minutes, and not every vendor sends pings meanwhile."""
HARD_THINKING_SILENCE_SECONDS = 900.0
"""Read timeout at effort `high` and above."""
LOCAL_SILENCE_SECONDS = 600.0
"""A local server may process a long prompt for minutes before its first byte."""
_DRAIN_SECONDS = 0.5
_PAGE_BYTES = 65_536
_LONG_TEXT = 4_096
"""Characters from which a text in a request is encoded only while it is sent."""
_encode_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class ResponseStream(Protocol):
    """A response whose chunks are being read. Reading stops once `ended` is set."""

    chunks: AsyncGenerator[Any, None]
    ended: bool

    def feed(self, chunk: Any) -> Sequence[Piece]: ...

    def finish(self) -> Sequence[Piece]:
        """Return the turn after the last chunk, unless already yielded. Raises `ProviderError` if there is none."""
        ...


class VendorClient(abc.ABC):
    """A vendor's settings, with one SDK client per event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.name = settings, settings.name
        self.sdk = settings.vendor.api.sdk
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, Any]]
        self._clients = weakref.WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __reduce__(self) -> Any:
        """Pickle the settings only: another process opens its own connections."""
        return type(self), (self.settings,)

    async def close(self) -> None:
        """Release the connections. The provider stays usable."""
        self._clients.pop(asyncio.get_running_loop(), None)
        await release(self)

    @abc.abstractmethod
    def connect(self, http: "httpx2.AsyncClient") -> Any:
        """Create the SDK's client. Runs off the loop: importing the SDK takes up to a second."""

    async def client(self) -> Any:
        loop = asyncio.get_running_loop()
        http = await shared_client(self)
        cached = self._clients.get(loop)
        if cached is None or cached[0] is not http:
            await load_package(self.settings.vendor.api.package, self.sdk)
            cached = self._clients[loop] = (http, await off_loop(self._load, http))
        return cached[1]

    def error(self, exc: Exception) -> ProviderError:
        return failure.from_sdk(self.settings, exc)

    def preload(self) -> None:
        """Import the SDK and create a client. Blocks; sends nothing."""
        self._load(make_client())

    def _load(self, http: "httpx2.AsyncClient") -> Any:
        package = self.settings.vendor.api.package
        check_version(self.settings.vendor)
        try:
            importlib.import_module(self.sdk)
            return self.connect(http)
        except (ImportError, AttributeError, TypeError, SyntaxError) as exc:
            raise InstallError(
                f"The {package!r} package does not load ({exc}). Repair it: "
                f"`%pip install --force-reinstall {package}`, then restart the kernel."
            ) from None


class StreamDecoder(abc.ABC):
    """Decodes the events of one stream, the answer to `body`, into pieces; the last piece is the turn."""

    status_of: ClassVar[Mapping[str, int]] = {}
    """HTTP status by the code of an error event."""
    unknown_status = 500

    def __init__(self, settings: Settings, body: Json) -> None:
        self._settings = settings
        self._body = body
        self._turn = Assembler()
        self._model = settings.model

    @abc.abstractmethod
    def feed(self, event: str, data: Json) -> Sequence[Piece]: ...

    def finish(self) -> Sequence[Piece]:
        """Return the turn if the protocol has no event that ends a stream; else nothing."""
        return ()

    def error(self, problem: Any, headers: Mapping[str, str] | None = None) -> ProviderError:
        """The exception for an error event, whose code is a status, a word or missing."""
        if not isinstance(problem, dict):
            return failure.from_status(self._settings, 500, str(problem), headers=headers)
        code = str(problem.get("code") or problem.get("type") or "")
        status = int(code) if code.isdigit() and len(code) == 3 else self._status(code)
        message = str(problem.get("message") or code)
        return failure.from_status(self._settings, status, message, headers=headers, body=problem)

    def _status(self, code: str) -> int:
        return self.status_of.get(code.lower(), self.unknown_status) if code else 500

    def _disordered(self) -> ProviderError:
        return failure.disordered(self._settings)


class VendorProvider(VendorClient, Provider):
    """A vendor's model. Each wire protocol has a subclass in its own file."""

    optional: tuple[OptionalParameter, ...] = ()
    """Parameters to retry without if the vendor refuses them."""
    dialect: Dialect
    """Tool schemas that the protocol accepts."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.effort = settings.effort
        fields = {"max_tokens": settings.max_tokens, **settings.options}.items()
        self.sampling = {name: value for name, value in fields if value is not None}
        self.lean = settings.is_near
        self.silence = settings.silence or _default_silence(settings)
        """Read timeout in seconds. Any byte resets it, including pings and comments."""

    @functools.cached_property
    def window(self) -> int | None:  # type: ignore[override]
        return context_window(self.name)

    def translate_tools(self, tools: Sequence[ToolSpec]) -> ToolTranslation:
        return ToolTranslation.of(tools, self.dialect, self.settings.title)

    def left_out(self, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
        return self.translate_tools(tools).left_out

    @abc.abstractmethod
    def body(self, request: Request) -> Json:
        """The request body, as arguments of the SDK."""

    @abc.abstractmethod
    async def begin(self, stack: contextlib.AsyncExitStack, client: Any, body: Json) -> ResponseStream:
        """Send the request and wait until the response starts. The stack closes the connection."""

    def incoming(
        self, request: Request, translation: ToolTranslation
    ) -> Callable[[Sequence[Piece]], Sequence[Piece]]:
        """The filter for each batch of pieces of an answer."""
        return translation.incoming()

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        translation = self.translate_tools(request.tools)
        request, restore = translation.outgoing(request), self.incoming(request, translation)
        # Images are resized, and PDFs read, off the loop.
        body = await off_loop(self.body, request) if _has_attachments(request) else self.body(request)
        body = without_refused(self.optional, request, body)
        client = await self.client()
        problem: ProviderError | None = None
        try:
            async with contextlib.AsyncExitStack() as stack:
                answer = await self.begin(stack, client, body)
                chunks = await stack.enter_async_context(contextlib.aclosing(answer.chunks))
                yield Accepted()
                async for chunk in chunks:
                    for piece in restore(answer.feed(chunk)):
                        yield piece
                    if answer.ended:
                        break
                for piece in restore(answer.finish()):
                    yield piece
                await _drain(chunks)
        except ProviderError as error:
            problem = error
        except AgentError:
            raise
        except Exception as exc:  # every failure of the SDK becomes a ProviderError here
            problem = self.error(exc)
        if problem is not None and failure.is_declined(problem):
            message, model = assistant(), self.settings.model
            yield Turn(message=message, stop="refusal", usage=Usage(), model=model, detail=str(problem))
        # Raised outside the handler: the SDK's exception contains headers and must not become the context.
        elif problem is not None:
            raise with_retry_remedy(problem, self.optional, request, body)


class StreamingProvider(VendorProvider):
    """A vendor whose SDK opens a byte stream, which is decoded here."""

    path: str
    decoder: type[StreamDecoder]
    sends_bytes = False
    """Whether the SDK signs the body, for which it needs all of it at once."""

    async def open(self, stack: contextlib.AsyncExitStack, client: Any, body: Json) -> "httpx2.Response":
        """Send the body through the SDK, which raises its own errors. The stack closes the response."""
        content = JsonContent(body)
        stream = await client.post(
            self.path,
            content=content.to_bytes() if self.sends_bytes else content,
            # Not every server accepts a request without it.
            options={"headers": {"Content-Length": str(len(content))}},
            cast_to=object,
            stream=True,
            stream_cls=importlib.import_module(self.sdk).AsyncStream[object],
        )
        await stack.enter_async_context(stream)
        return stream.response  # type: ignore[no-any-return]

    async def begin(self, stack: contextlib.AsyncExitStack, client: Any, body: Json) -> ResponseStream:
        with responses_opened([], self.silence):
            response = await self.open(stack, client, body)
        decoder = self.decoder(self.settings, body)
        await self._check_answer(response, decoder)
        chunks = response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()
        return _StreamReader(chunks, decoder, self.settings)

    async def _check_answer(self, response: "httpx2.Response", decoder: StreamDecoder) -> None:
        """Raise for a redirect, a web page or a JSON object: a wrong address or an error."""
        if response.is_redirect:
            raise failure.from_status(self.settings, response.status_code, "", headers=response.headers)
        kind = response.headers.get("content-type", "")
        if "html" not in kind and "application/json" not in kind:
            return
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _PAGE_BYTES:
                break
        text = body.decode("utf-8", "replace")
        match parse_json(text):
            case {"error": {"code": int() | str()} | {"type": str()} as problem}:
                raise decoder.error(problem, response.headers)
        raise failure.not_an_api(self.settings, text)


class _StreamReader:
    def __init__(
        self, chunks: AsyncGenerator[bytes, None], decoder: StreamDecoder, settings: Settings
    ) -> None:
        self.chunks = chunks
        self.ended = False
        """Whether a turn was yielded or `[DONE]` was received."""
        self._finish = decoder.finish
        self._decode = decoder.feed
        self._settings = settings
        self._feed = SseReader().feed
        self._head = b""
        self._has_events = False
        self._has_turn = False

    def feed(self, chunk: bytes) -> Sequence[Piece]:
        try:
            events = self._feed(chunk)
        except UnicodeDecodeError:
            raise failure.garbled(self._settings, "UTF-8") from None
        if not self._has_events:
            self._head = (self._head + chunk)[:512]
            self._has_events = bool(events)
        if len(events) == 1:
            return self._pieces(*events[0])
        return [piece for event, data in events for piece in self._pieces(event, data)]

    def _pieces(self, event: str, data: bytes) -> Sequence[Piece]:
        try:
            fields = from_json(data)
        except ValueError:
            if (fields := self._parse_leniently(data)) is None:
                return ()
        try:
            pieces = self._decode(event, fields)
        except (LookupError, TypeError, AttributeError) as exc:  # a damaged event, or one out of order
            raise failure.unexpected(self._settings, exc, retryable=True) from None
        if pieces and type(pieces[-1]) is Turn:
            self.ended = self._has_turn = True
        return pieces

    def _parse_leniently(self, data: bytes) -> Any:
        """Parse what jiter rejects, such as a lone surrogate. None for `[DONE]` and for a ping without data."""
        if not data.strip():
            return None
        try:
            return json.loads(data.decode())
        except UnicodeDecodeError:
            raise failure.garbled(self._settings, "UTF-8") from None
        except (ValueError, RecursionError):
            if data.lstrip().startswith(b"<!"):  # a web page, line by line
                raise failure.not_an_api(self._settings, data.decode()) from None
            if data.strip() != b"[DONE]":
                raise failure.garbled(self._settings) from None
        self.ended = True
        return None

    def finish(self) -> Sequence[Piece]:
        """Return the turn unless already yielded; raises `ProviderError` if the stream was cut off."""
        if self._has_turn:
            return ()
        if pieces := self._finish():
            return pieces
        head = self._head.strip()
        if (
            head and not self._has_events and not head.startswith(b":")
        ):  # comments are a stream without events
            raise failure.not_an_api(self._settings, self._head.decode("utf-8", "replace"))
        raise failure.cut(self._settings)


class JsonContent:
    """A body as JSON. Long texts, such as pages, are encoded in slices while they are sent, each time anew.

    So no copy of them is held while the answer streams. Lone surrogates, which cannot be encoded, are replaced.
    """

    def __init__(self, body: Json) -> None:
        self._parts: list[Any] = [bytearray()]
        """JSON as byte arrays, and between them the long texts, still to be encoded."""
        self._add(body)
        self._length = sum(map(len, self._slices()))

    def __len__(self) -> int:
        return self._length

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for data in self._slices():
            yield data

    def to_bytes(self) -> bytes:
        return b"".join(self._slices())

    def _add(self, value: Any) -> None:
        parts = self._parts
        if isinstance(value, dict) and value:
            for number, (key, item) in enumerate(value.items()):
                parts[-1] += b"," if number else b"{"
                self._add(key if isinstance(key, str) else _encode_json(key))
                parts[-1] += b":"
                self._add(item)
            parts[-1] += b"}"
        elif isinstance(value, list | tuple) and value:
            for number, item in enumerate(value):
                parts[-1] += b"," if number else b"["
                self._add(item)
            parts[-1] += b"]"
        elif isinstance(value, str) and len(value) >= _LONG_TEXT:
            parts[-1] += b'"'
            parts += (value, bytearray(b'"'))
        else:
            parts[-1] += _json_bytes(value)

    def _slices(self) -> Iterator[bytes]:
        for part in self._parts:
            if isinstance(part, str):
                yield from (_json_bytes(text)[1:-1] for text in slices(part))
            else:
                yield bytes(part)


def _json_bytes(value: Any) -> bytes:
    text = _encode_json(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return whole_text(text).encode()


def _default_silence(settings: Settings) -> float:
    seconds = LOCAL_SILENCE_SECONDS if settings.vendor.local else SILENCE_SECONDS
    thinks_hard = settings.effort in EFFORTS[EFFORTS.index("high") :]
    return max(seconds, HARD_THINKING_SILENCE_SECONDS) if thinks_hard else seconds


async def _drain(chunks: AsyncGenerator[bytes, None]) -> None:
    """Read the end of the body, for a short time, so that the connection can be reused."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in chunks:
                pass


def _has_attachments(request: Request) -> bool:
    return any(
        isinstance(part, Attachment) or (isinstance(part, ToolResult) and part.images)
        for message in request.messages
        for part in message.parts
    )
