"""JSON-RPC messages of the Model Context Protocol, for our servers and the bridge to one."""

import hashlib
import hmac
from collections.abc import Iterable
from typing import Any

from agent_nb._base.constants import VERSION
from agent_nb._base.wire import Json, parse_json

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The versions of the protocol that are spoken, newest first."""
SESSION, VERSION_HEADER, CHALLENGE = "Mcp-Session-Id", "Mcp-Protocol-Version", "Challenge"
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, REFUSED = -32700, -32600, -32601, -32000


def negotiated(params: Json) -> str:
    """The client's version if it is spoken here, else the newest."""
    version = params.get("protocolVersion")
    return version if version in VERSIONS else VERSIONS[0]


def introduction(name: str, params: Json, instructions: str = "", *, list_changes: bool = False) -> Json:
    """The result of `initialize`."""
    result = {
        "protocolVersion": negotiated(params),
        "capabilities": {"tools": {"listChanged": True} if list_changes else {}},
        "serverInfo": {"name": name, "version": VERSION},
    }
    return {**result, "instructions": instructions} if instructions else result


def tool_entry(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "description": description, "inputSchema": schema}


def tool_result(text: str, images: Iterable[tuple[str, str]] = (), *, ok: bool = True) -> Json:
    """The result of a call, with images as base64 and media type.

    JSON gets words before it: Gemini CLI would interpret it.
    """
    is_json = parse_json(text, text) is not text
    texts = [{"type": "text", "text": f"Result: {text}" if is_json else text}]
    pictures = [{"type": "image", "data": data, "mimeType": kind} for data, kind in images]
    return {"content": [*texts, *pictures], "isError": not ok}


def proof(token: str, challenge: str) -> str:
    """What a server answers to a challenge: it knows the token, which the client has not sent."""
    return hmac.new(token.encode(), challenge.encode(), hashlib.sha256).hexdigest()


def rpc(**fields: Any) -> Json:
    return {"jsonrpc": "2.0", **fields}


def rpc_error(number: Any, code: int, text: str) -> Json:
    return rpc(id=number, error={"code": code, "message": text})
