"""An answer with a type: `--as "slope: float, p: float"`, `Agent(answer=Fit)`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_nb._base.constants import ACP
from agent_nb.core.feature import Feature, Setting, flag

if TYPE_CHECKING:
    from agent_nb.tools.answer import AnswerType


def answer_form(schema: Any) -> str:
    """Describe a schema by names and types: `slope: number, p: number`."""
    if not isinstance(schema, Mapping):
        return "text"
    if not isinstance(fields := schema.get("properties"), Mapping):
        return str(schema.get("type") or "any")
    return ", ".join(f"{name}: {answer_form(field)}" for name, field in fields.items())


ANSWER: "Feature[AnswerType]" = Feature(
    "answer",
    option=flag(
        "--as TYPE",
        'Type of the answer, NAME.answer: fields such as "slope: float, p: float", or a variable that holds a type.',
        after="tools",
    ),
    keyword=True,
    setting=Setting(  # the JSON schema
        sent="tools",
        matched=lambda then, now: f"another answer (`{answer_form(then)}` then, `{answer_form(now)}` now)",
        accepted_by={},
        stricter=None,
        dry_run="Answer",
        kind=Mapping[str, Any] | None,
    ),
    refused_by={
        ACP: "ends its runs on its own, so a type of the answer (`--as`) cannot be enforced. Leave it out, or use a"
        " vendor's model."
    },
    texts=("no_answer",),
    code="agent_nb.features.answer.run:TypedAnswer",
)
