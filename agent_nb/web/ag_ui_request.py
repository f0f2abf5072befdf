"""A request of an AG-UI front end (`RunAgentInput`) as what a run begins with."""

import base64
import binascii
import json
from collections.abc import AsyncIterable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError
from agent_nb.messages import Image, Message, Part, Text, ToolCall, ToolResult

MAX_BYTES = 20_000_000
MAX_DEPTH = 64


class BadRequestError(ConfigError):
    """A request that is not answered. `status` is the HTTP status for it, and the message a sentence."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class AgUiRequest:
    """What an AG-UI front end asks for; `AgUiRequest.receive(headers, chunks)` makes one from its HTTP request.

    `agent.sse(request.prompt, vocabulary=AgUi(request), **request.material)` answers it. The files of the run are
    `state.files`, by path; tools of the front end itself are not offered to the model.
    """

    thread_id: str
    run_id: str
    messages: tuple[Json, ...]
    """The conversation, in the protocol's form. The last message is the user's."""
    state: Json

    @classmethod
    async def receive(
        cls, headers: Mapping[str, str], chunks: AsyncIterable[bytes], origins: Collection[str] = ()
    ) -> "AgUiRequest":
        """Reads and checks a request. Raises `BadRequestError`, whose `status` is the answer's.

        Pages may send requests only from these `origins`, such as `http://localhost:5173`.
        """
        return cls.read(await json_body(headers, chunks, origins))

    @classmethod
    def read(cls, body: Any) -> "AgUiRequest":
        """Reads the body of a request, as parsed from JSON. Raises `ConfigError` if it is none."""
        if not isinstance(body, Mapping):
            raise ConfigError("The body of an AG-UI request is a JSON object.")
        thread_id, run_id, messages = (body.get(name) for name in ("threadId", "runId", "messages"))
        if not isinstance(thread_id, str) or not isinstance(run_id, str):
            raise ConfigError("An AG-UI request needs a `threadId` and a `runId`.")
        if not _is_conversation(messages) or not messages or messages[-1].get("role") != "user":
            raise ConfigError("An AG-UI request needs `messages`, of which the last is the user's.")
        state = body.get("state")
        state = dict(state) if isinstance(state, Mapping) else {}
        request = cls(thread_id=thread_id, run_id=run_id, messages=tuple(messages), state=state)
        _ = request.material  # raises if a message cannot be read
        return request

    @property
    def prompt(self) -> str:
        """The text of the last message."""
        return _text(self.messages[-1].get("content"))

    @property
    def material(self) -> Any:
        """What the run is given besides its prompt: the conversation before, images of the prompt, files."""
        files = self.state.get("files")
        given = files.items() if isinstance(files, Mapping) else ()
        return {
            "messages": list(_history(self.messages[:-1])),
            "images": list(_images(self.messages[-1].get("content"))),
            "files": {path: content for path, content in given if isinstance(content, str)},
        }


def _is_conversation(messages: Any) -> bool:
    return isinstance(messages, list) and all(isinstance(message, Mapping) for message in messages)


def _history(messages: Iterable[Json]) -> Iterable[Message]:
    """The messages that a model gets: activities and reasoning are for the front end alone.

    So is system text. The agent has its own, which no front end may replace.
    """
    for message in messages:
        content = message.get("content")
        text: list[Part] = [Text(text) for text in [_text(content)] if text]
        match message.get("role"):
            case "user":
                yield Message(role="user", parts=(*text, *_images(content)))
            case "assistant" if parts := (*text, *_calls(message.get("toolCalls"))):
                yield Message(role="assistant", parts=parts)
            case "tool":
                result = ToolResult(call_id=str(message.get("toolCallId")), name="", text=_text(content))
                yield Message(role="tool", parts=(result,))
            case _:
                continue


def _calls(calls: Any) -> Iterable[ToolCall]:
    for call in calls if isinstance(calls, list) else ():
        try:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            yield ToolCall(str(call["id"]), str(name), str(arguments))
        except (KeyError, TypeError):
            raise ConfigError(
                "A tool call of an AG-UI message needs an `id`, a name and arguments."
            ) from None


def _text(content: Any) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))


def _images(content: Any) -> Iterable[Image]:
    """The images whose data is in the message."""
    for part in content if isinstance(content, list) else ():
        source = part.get("source") if isinstance(part, Mapping) and part.get("type") == "image" else None
        if isinstance(source, Mapping) and source.get("type") == "data":
            try:
                data = base64.b64decode(str(source.get("value")), validate=True)
            except binascii.Error:
                raise ConfigError("An image of an AG-UI message is not valid base64.") from None
            yield Image(data, str(source.get("mimeType")))


async def json_body(
    headers: Mapping[str, str], chunks: AsyncIterable[bytes], origins: Collection[str] = ()
) -> Any:
    """The body as a value that can be written as JSON again. Raises `BadRequestError`.

    A page can send a POST to any address, this computer's too, and so start runs that cost money. It cannot leave
    out `Origin`, nor send another site `application/json` without being allowed to.
    """
    given = {name.lower(): value for name, value in headers.items()}
    origin = given.get("origin")
    if origin is not None and origin not in origins:
        raise BadRequestError(f"Requests of pages from {origin[:100]} are not allowed.", 403)
    if given.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise BadRequestError("The content type of a request is `application/json`.", 415)
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > MAX_BYTES:
            raise BadRequestError(f"The body has more than {MAX_BYTES:,} bytes.", 413)
    return _parsed(bytes(data))


def _parsed(data: bytes) -> Any:
    try:
        value = json.loads(data.decode(), parse_constant=_refuse)
        # Also what can be read, but not written again: half of a surrogate pair, and numbers like 1e999.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise BadRequestError(f"The body is not valid JSON: {error}"[:200].rstrip(".") + ".") from None
    if _is_deeper(value, MAX_DEPTH):
        raise _too_deep()
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _too_deep() -> BadRequestError:
    return BadRequestError(f"The body is nested more than {MAX_DEPTH} levels deep.")


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)
