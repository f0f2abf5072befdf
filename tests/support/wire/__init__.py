# ruff: noqa: F401 - names for the tests
"""A loopback server for all wire protocols: real sockets and the real SDKs, no mocks."""

from tests.support.wire.images import Upload, gemini_image, openai_images
from tests.support.wire.server import Request, WireServer
from tests.support.wire.steps import (
    BadJson,
    Call,
    Comment,
    Cut,
    End,
    ErrorEvent,
    Event,
    Fault,
    Hold,
    Pause,
    Raw,
    Redacted,
    Refuse,
    Reply,
    Say,
    Step,
    Think,
    Tokens,
    Unknown,
    json_reply,
    page,
    problem,
    reply,
)
