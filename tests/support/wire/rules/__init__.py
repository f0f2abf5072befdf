"""What the vendors refuse, as a table: one file per protocol, one row per rule.

To add a rule, add a row to the file of its protocol, with its source and a request that it refuses.
`test_rules.py` holds every row to that.
"""

import json
from collections.abc import Iterable

from tests.support.wire.rules import (
    anthropic_messages,
    chat,
    documents,
    generate_content,
    interactions,
    responses,
    responses_parameters,
    tool_schemas,
)
from tests.support.wire.rules.rule import Asked, Exchange, Fault, Rule
from tests.support.wire.steps import Reply

__all__ = ["RULES", "Asked", "Exchange", "Rule", "first_refusal"]

RULES: tuple[Rule, ...] = (
    *anthropic_messages.RULES,
    *responses.RULES,
    *responses_parameters.RULES,
    *chat.RULES,
    *interactions.RULES,
    *generate_content.RULES,
    *tool_schemas.RULES,
    *documents.RULES,
)
_SHAPES = {
    "anthropic_messages": anthropic_messages.error_body,
    "responses": responses.error_body,
    "chat": responses.error_body,
    "interactions": interactions.error_body,
    "generate_content": generate_content.error_body,
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
