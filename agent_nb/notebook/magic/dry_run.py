"""`--dry-run`: shows what would be sent and an estimate of its cost, without sending it."""

from collections import Counter

from agent_nb._base.secrets import safe_text
from agent_nb.cassette import ReplayProvider
from agent_nb.engine.cost import estimate_tokens
from agent_nb.messages import Image, Text, Usage
from agent_nb.notebook.magic.plan import Plan
from agent_nb.providers.prices import price_of


def show_dry_run(plan: Plan) -> None:
    """Prints the request of the first turn."""
    prepared = plan.prepared[0]
    system, messages, tools = prepared.system, prepared.messages, prepared.tools
    if isinstance(played := prepared.config.provider, ReplayProvider):
        tools = played.recorded.tools
    tokens = estimate_tokens(messages, system, tools)
    costs = [price_of(name, Usage(input=tokens)) for name in plan.models]
    cost = None if None in costs else sum(each for each in costs if each is not None)
    lines = [
        f"Dry run, nothing sent. {_source(plan)}",
        f"About {tokens * len(costs):,} input tokens"
        + (f", ${cost:.4f}," if cost is not None else "")
        + f" for the first turn{'' if len(costs) == 1 else f' of all {len(costs)}'}.",
        f"Tools: {', '.join(spec.name for spec in tools) or 'none'}",
        *prepared.left_out,
        *([f"Approve: {rules}"] if (rules := str(prepared.config.rules)) != "ask" else []),
        *([f"Middleware: {plan.middleware}, which may change what is sent"] if plan.middleware else []),
        *([f"Stack: {stack}"] if (stack := prepared.config.asked.stack) else []),
        f"System text ({len(system):,} characters):",
        _indented(system),
    ]
    for message in messages:
        lines.append(f"{message.role}:")
        for part in message.parts:
            match part:
                case Text(text):
                    lines.append(_indented(text.strip()))
                case Image():
                    lines.append(f"    (image {part.name or part.media_type}, {len(part.data):,} bytes)")
                case _:
                    lines.append(f"    ({part.type})")
    print(safe_text("\n".join(lines)))


def _source(plan: Plan) -> str:
    """What would answer: `Model: demo`, `Models: demo (3), ollama:qwen3` or a cassette."""
    counts = Counter(name.removesuffix(":") for name in plan.models)
    names = ", ".join(name if count == 1 else f"{name} ({count})" for name, count in counts.items())
    if isinstance(played := plan.prepared[0].config.provider, ReplayProvider):
        return f"Cassette: {played.path}, recorded with {names}"
    return f"Model{'' if len(counts) == 1 else 's'}: {names}"


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())
