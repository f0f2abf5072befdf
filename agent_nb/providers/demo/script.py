"""The script: which steps the demo model takes next, read from the conversation alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_nb.messages import ToolSpec
from agent_nb.providers.base import Request
from agent_nb.providers.demo.brief import Brief, read_brief
from agent_nb.providers.demo.conversation import Conversation, read_conversation
from agent_nb.providers.demo.look import choose_look
from agent_nb.providers.demo.page import build_page, improvement
from agent_nb.wire import Json

LABEL = "This is the offline demo model: it fills templates from the words of your prompt and asks no server."


@dataclass(frozen=True, slots=True)
class Think:
    text: str


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: Json


Step = Think | Say | Call
Tools = Mapping[str, ToolSpec]


def next_turn(request: Request) -> tuple[Step, ...]:
    talk = read_conversation(request.messages)
    tools = {tool.name: tool for tool in request.tools}
    brief = read_brief(talk.prompt, request.variant)
    return tuple(_build(talk, tools, brief))


def _build(talk: Conversation, tools: Tools, brief: Brief) -> list[Step]:
    page = build_page(brief, choose_look(brief))
    if "create_file" not in tools:
        return [Think(_thoughts(brief)), Say(f"{LABEL}\n\n```html\n{page}\n```")]
    if not talk.called("create_file"):
        return [
            Think(_thoughts(brief)),
            Say(f"I will write “{brief.name}” as one page.\n"),
            Call("create_file", {"path": talk.path, "content": page}),
        ]
    if "edit_file" in tools and not talk.called("edit_file"):
        old, new = improvement(brief)
        return [
            Say("The page stands. One touch more: a line at the top that catches the eye.\n"),
            Call("edit_file", {"path": talk.path, "old": old, "new": new}),
        ]
    return [Say(f"{LABEL}\n\n- `{talk.path}`: **{brief.name}**, a {brief.kind} page.\n")]


def _thoughts(brief: Brief) -> str:
    return (
        f"I am the offline demo model, so I look for words I know. The prompt asks for a {brief.kind} page about "
        f"{brief.subject}{' in ' + brief.place if brief.place else ''}. I will call it “{brief.name}”, write the "
        "styles first so that it can be watched while it grows, and then the sections from top to bottom."
    )
