"""`--dry-run`: what would be sent, and about what it would cost; nothing is sent."""

import json

from agent_nb.agent import Agent
from agent_nb.cassette import ReplayProvider
from agent_nb.messages import Image, Text
from agent_nb.notebook.plan import Plan
from agent_nb.providers.prices import estimate
from agent_nb.spend import CHARS_PER_TOKEN, estimate_tokens


def show_dry_run(plan: Plan) -> None:
    """Prints the request of the first turn in words."""
    print(describe(plan))


def describe(plan: Plan) -> str:
    agent: Agent = plan.agent
    system, messages = agent.preview(plan.prompt, images=plan.images, base=plan.base)
    schemas = sum(len(json.dumps(spec.schema)) + len(spec.description) for spec in agent.toolbox.specs)
    tokens = estimate_tokens(messages, system) + schemas // CHARS_PER_TOKEN
    cost = estimate(agent.provider.name, tokens, 0)
    lines = [
        f"Would {_ask_or_play(agent)}; nothing was sent.",
        f"About {tokens:,} tokens in"
        + (f", ${cost:.4f}" if cost is not None else "")
        + " for the first turn.",
        f"Tools: {', '.join(spec.name for spec in agent.toolbox.specs) or 'none'}",
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
                    lines.append(f"    (picture {part.name or part.media_type}, {len(part.data):,} bytes)")
                case _:
                    lines.append(f"    ({part.type})")
    return "\n".join(lines)


def _ask_or_play(agent: Agent) -> str:
    match agent.provider:
        case ReplayProvider(path=path, name=name):
            return f"play {path}, recorded with {name}"
        case provider:
            return f"ask {provider.name}"


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())
