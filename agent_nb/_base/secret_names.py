"""Names of secrets: variables, keys, fields, columns and headers that are called like one."""

import re
from collections.abc import Sequence
from typing import Any

_KEYS = (
    "access|account|anthropic|api|auth|aws|azure|client|deepseek|encryption|gemini|github|google|groq|hf|license"
    "|master|mistral|openai|openrouter|private|secret|service|session|shared|signing|ssh|storage|stripe"
    "|subscription|webhook"
)
"""Words that make a `..._key` a secret; `sort_key` and `primary_key` are not."""
_SECRET_NAME = re.compile(
    rf"(?:^|_)(?:(?:{_KEYS})_?keys?|secrets?|token|passwords?|passwd|passphrase|credentials?)$", re.IGNORECASE
)
_HINTS = ("key", "secret", "token", "pass", "credential")
"""Every such name contains one of these. Tables can have millions of labels, and nearly none does."""
_CHUNK = 1_000
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_secret_name(name: Any) -> bool:
    """Whether a name is that of a secret, in any spelling: `API_KEY`, `client-secret`, `user.accessToken`."""
    if isinstance(name, tuple):
        return any(map(is_secret_name, name))
    text = str(name)
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return False
    parts = [part for part in re.findall(r"[^\W_]+", _HUMP.sub("_", text)) if not part.isdigit()]
    return _SECRET_NAME.search("_".join(parts)) is not None


def are_secret_names(names: Sequence[Any]) -> list[bool]:
    """Which of these are names of secrets. Many names that are none are quick to check: tables have millions."""
    found: list[bool] = []
    for start in range(0, len(names), _CHUNK):
        chunk = names[start : start + _CHUNK]
        text = "\n".join(map(str, chunk)).lower()
        is_near = any(hint in text for hint in _HINTS)
        found += map(is_secret_name, chunk) if is_near else [False] * len(chunk)
    return found
