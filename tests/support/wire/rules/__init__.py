"""What the vendors refuse, as a table: one file per protocol, one row per rule.

To add a rule, add a row to the file of its protocol, with its source and a request that it refuses.
`test_rules.py` holds every row to that.
"""

import json
from collections.abc import Iterable

from tests.support.wire.rules import (
    anthropic,
    chat,
    gemini,
    gemini_generate,
    openai,
    openai_parameters,
    strict_schemas,
    tool_schemas,
)
from tests.support.wire.rules.rule import Asked, Exchange, Fault, Rule
from tests.support.wire.steps import Reply

__all__ = ["RULES", "Asked", "Exchange", "Rule", "first_refusal"]

RULES: tuple[Rule, ...] = (
    *anthropic.RULES,
    *openai.RULES,
    *openai_parameters.RULES,
    *chat.RULES,
    *gemini.RULES,
    *gemini_generate.RULES,
    *tool_schemas.RULES,
    *strict_schemas.RULES,
)
_SHAPES = {
    "anthropic": anthropic.error_body,
    "openai": openai.error_body,
    "chat": openai.error_body,
    "gemini": gemini.error_body,
    "gemini_generate": gemini_generate.error_body,
}


def first_refusal(protocol: str, asked: Asked, rules: Iterable[Rule] = RULES) -> tuple[Rule, Reply] | None:
    """The first rule that refuses the request, and the vendor's answer; None if the request is accepted."""
    for rule in rules:
        if rule.protocol == protocol:
            for fault in rule.faults(asked):
                return rule, _answer(rule, fault)
    return None


def _answer(rule: Rule, fault: Fault) -> Reply:
    message, more = (fault, {}) if isinstance(fault, str) else fault
    shape = rule.shape or _SHAPES[rule.protocol]
    body = shape({"status": rule.status, "message": message, **rule.error, **more})
    headers = {"content-type": "application/json", "x-should-retry": "false"}
    return Reply(status=rule.status, headers=headers, body=json.dumps(body).encode())
