"""`--dry-run`: prints what a cell would send."""

from collections import Counter

from agent_nb.cassette.player import ReplayProvider
from agent_nb.core.messages import Document, Image, Text, Usage
from agent_nb.engine.cost import estimate_tokens
from agent_nb.notebook.front_end import say
from agent_nb.notebook.magic.plan import CellRuns
from agent_nb.run.run import total_cost


def show_dry_run(plan: CellRuns) -> None:
    prepared = plan.prepared[0]
    system, messages, tools = prepared.system, prepared.messages, prepared.tools
    if isinstance(replay := prepared.provider, ReplayProvider):
        tools = replay.recorded.tools
    tokens = estimate_tokens(messages, system, tools)
    costs = [item.price(Usage(input=tokens)) for item in plan.prepared]
    cost = total_cost(costs)
    lines = [
        f"Dry run, nothing sent. {_source(plan)}",
        f"About {tokens * len(costs):,} input tokens"
        + (f", ${cost:.4f}," if cost is not None else "")
        + f" for the first turn{'' if len(costs) == 1 else f' of all {len(costs)}'}.",
        f"Tools: {', '.join(spec.name for spec in tools) or 'none'}",
        *prepared.left_out,
        *prepared.settings.dry_run_lines(),
        *plan.dry_run,
        f"System text ({len(system):,} characters):",
        _indented(system),
    ]
    for message in messages:
        lines.append(f"{message.role}:")
        for part in message.parts:
            match part:
                case Text(text):
                    lines.append(_indented(text.strip()))
                case Image() | Document():
                    lines.append(
                        f"    ({part.type} {part.name or part.media_type}, {len(part.data):,} bytes)"
                    )
                case _:
                    lines.append(f"    ({part.type})")
    say("\n".join(lines))


def _source(plan: CellRuns) -> str:
    """The source of the answer: `Model: demo`, `Models: demo (3), ollama:qwen3` or a cassette."""
    counts = Counter(run.provider.name.removesuffix(":") for run in plan.prepared)
    names = ", ".join(name if count == 1 else f"{name} ({count})" for name, count in counts.items())
    if isinstance(replay := plan.prepared[0].provider, ReplayProvider):
        return f"Cassette: {replay.path}, recorded with {names}"
    return f"Model{'' if len(counts) == 1 else 's'}: {names}"


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())
