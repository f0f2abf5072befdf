"""What servers answer to a page of another origin: without these headers, a browser keeps the answer from the page."""

from collections.abc import Mapping

_OPT_IN = "anthropic-dangerous-direct-browser-access"
_SHARED = {"access-control-allow-origin": "*", "access-control-expose-headers": "*"}
# Headers that local servers allow by name; some list no `x-stainless-*` (ollama/ollama#4388).
_BY_NAME = "authorization, content-type, user-agent, accept, x-requested-with"


def preflight(protocol: str, headers: Mapping[str, str]) -> dict[str, str]:
    """The answer to the browser's question whether the page may send a request with these headers."""
    asked = headers.get("access-control-request-headers", "")
    allowed = asked if protocol == "anthropic_messages" else _BY_NAME
    return _SHARED | {"access-control-allow-methods": "GET, POST", "access-control-allow-headers": allowed}


def shared(protocol: str, headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer. Anthropic sends none unless the page says that it means it (open-pencil#436)."""
    refused = protocol == "anthropic_messages" and headers.get(_OPT_IN) != "true"
    return {} if refused or "origin" not in headers else _SHARED
