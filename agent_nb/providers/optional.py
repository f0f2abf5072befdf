"""What a request can do without: when a vendor refuses such a part, the turn is retried once without it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_nb._base.wire import Json
from agent_nb.errors import ProviderError, RequestRefusedError
from agent_nb.providers.base import Request

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
