"""Reads the JSON body of a POST that a browser may have sent: everything is checked before a run is started for it."""

import json
from collections.abc import AsyncIterable, Collection, Mapping
from typing import Any, NoReturn

from agent_nb.errors import ConfigError

MAX_BYTES = 20_000_000
MAX_DEPTH = 64


class BadRequestError(ConfigError):
    """A request that is not answered. `status` is the HTTP status for it, and the message a sentence."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


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
