"""What Anthropic's Messages API refuses."""

from tests.support.wire.rules.anthropic_messages import conversation, parameters, thinking
from tests.support.wire.rules.rule import Json, Rule

RULES: tuple[Rule, ...] = (*conversation.RULES, *thinking.RULES, *parameters.RULES)


def error_body(error: Json) -> Json:
    kind = error.get("type", "invalid_request_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": error["message"]},
        "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
    }
