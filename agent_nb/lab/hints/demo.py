"""The demo model in a lab that gives hints."""

import tomllib
from pathlib import Path

from agent_nb.demo.brief import shortened
from agent_nb.demo.conversation import Action, Say, read_conversation
from agent_nb.providers.base import Request

_TEXTS = Path(__file__).parent / "prompts" / "demo.toml"


def next_hint(step: str, request: Request) -> tuple[Action, ...]:
    """The turn of the demo model at a step of the ladder: general advice for any task."""
    prompt = read_conversation(request).prompt
    task = shortened(" ".join(prompt.split()).rstrip(".?!"), 60) or "your task"
    texts = tomllib.loads(_TEXTS.read_text(encoding="utf-8"))
    paragraphs = (paragraph.format(task=task) for paragraph in texts[step])
    return (Say("\n\n".join((texts["label"], *paragraphs)) + "\n"),)
