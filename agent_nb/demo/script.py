"""The script of the demo model: its next actions, decided by the request alone.

Every tool is called at most twice for a prompt, so that errors cannot cause an endless loop.
"""

import re
from collections.abc import Mapping

from agent_nb._base.wire import Json
from agent_nb.demo.actions import Action, Call, Say, Think
from agent_nb.demo.brief import Brief, asks_for_a_page, read_brief, shortened
from agent_nb.demo.changes import Change, apply_changes, plan_changes
from agent_nb.demo.conversation import CREATE, EDIT, READ, Conversation, read_conversation
from agent_nb.demo.images import main_hue
from agent_nb.demo.look import choose_look
from agent_nb.demo.own_tools import failure, found, reports, summaries, try_out
from agent_nb.demo.page import build_page, describe, improvement
from agent_nb.messages import ToolSpec
from agent_nb.providers.base import Request

LABEL = "This is the offline demo model: it fills templates from words it knows in your prompt, and needs no server."
NEXT = (
    "Continue with “make it blue”, “call it Petit Four” or “add a newsletter section”. A real model, which needs a "
    "key, has ideas of its own."
)

Tools = Mapping[str, ToolSpec]


def next_turn(request: Request) -> tuple[Action, ...]:
    """The actions of the turn that answers this request."""
    talk = read_conversation(request)
    tools = {} if request.facts.summing_up else {tool.name: tool for tool in request.tools}
    brief = read_brief(talk.prompt, request.variant)
    if talk.earlier and not asks_for_a_page(talk.prompt):
        actions = _change(talk, tools, brief)
        if actions is not None:
            return tuple(actions)
    return tuple(_build(talk, tools, brief))


def _build(talk: Conversation, tools: Tools, brief: Brief) -> list[Action]:
    """Builds a new page: own tools first, then the page, one improvement, a summary."""
    thoughts: list[Action] = [] if talk.uses else [Think(_thoughts(talk, brief))]
    if not talk.uses and (tried := try_out(talk, tools, brief)):
        return [*thoughts, *tried]
    created, edited = talk.called(CREATE), talk.called(EDIT)
    page = build_page(brief, choose_look(brief, main_hue(talk.images)), found(talk))
    if created and not created[0].ok:
        return [Say(f"{failure(created[0])} Here is the page instead.\n\n{_fenced(page)}\n")]
    if CREATE in tools and not created:
        opening = f"{_reported(talk)}I am writing **{brief.name}** as one page, styles first.\n"
        return [*thoughts, Say(opening), Call(CREATE, {"path": talk.path, "content": page})]
    if not created:
        return [*thoughts, Say(f"{LABEL}\n\n{_fenced(page)}\n\n**{brief.name}**: {describe(brief)}.\n")]
    if EDIT in tools and not edited:
        old, new = improvement(brief)
        opening = "The page is there. One more touch: an eye-catching line at the top.\n"
        return [Say(opening), Call(EDIT, {"path": talk.path, "old": old, "new": new})]
    return [Say(_summary(talk, brief))]


def _change(talk: Conversation, tools: Tools, brief: Brief) -> list[Action] | None:
    """Changes the current page; None if that is impossible, and a new one must be built."""
    edits, reads = talk.called(EDIT), talk.called(READ)
    failed = bool(edits) and not any(use.ok for use in edits)
    page = talk.page_read or talk.page
    thoughts: list[Action] = [] if talk.uses else [Think(_second_thoughts(talk))]
    if (page is None or failed) and not reads and READ in tools:
        opening = "Let me look at the current page.\n"
        return [*thoughts, Say(opening), Call(READ, {"path": talk.path})]
    changes = plan_changes(talk.prompt, page, brief.variant) if page is not None else []
    if page is None or not changes or talk.called(CREATE):
        return None
    if EDIT in tools and (not edits or (failed and len(edits) == 1)):
        return [*thoughts, Say(_intention(changes)), Call(EDIT, _edit(talk.path, changes))]
    if edits:
        return [Say(_change_summary(talk, changes, done=any(use.ok for use in edits)))]
    return [*thoughts, Say(f"{LABEL}\n\n{_items(changes)}\n\n{_fenced(apply_changes(page, changes))}\n")]


def _edit(path: str, changes: list[Change]) -> Json:
    pairs = [{"old": change.old, "new": change.new} for change in changes]
    return {"path": path, **pairs[0]} if len(pairs) == 1 else {"path": path, "edits": pairs}


def _reported(talk: Conversation) -> str:
    return "".join(f"{report} " for report in reports(talk))


def _thoughts(talk: Conversation, brief: Brief) -> str:
    asked = shortened(" ".join(talk.prompt.split()), 90) or "nothing in particular"
    where = f" {brief.where}" if brief.where else ""
    source = "it" if len(talk.images) == 1 else "the first"
    images = f" {_images(talk)} I can only take a colour from {source}." if talk.images else ""
    return (
        f"I am the offline demo model, so I look for words I know in “{asked}”. I find {describe(brief)}, about "
        f"{brief.phrase}{where}.{images} I will call it “{brief.name}”, put the styles first so that it can be "
        "watched while it grows, and then write it from top to bottom."
    )


def _second_thoughts(talk: Conversation) -> str:
    asked = shortened(" ".join(talk.prompt.split()), 90)
    return (
        f"There is a page already, and now I read “{asked}”. As the offline demo model I know words for colours, "
        "names and sections. I will make the change with exact replacements and leave the rest alone."
    )


def _intention(changes: list[Change]) -> str:
    return f"{len(changes)} exact replacement{'s' if len(changes) > 1 else ''}, and nothing else.\n"


def _images(talk: Conversation) -> str:
    count = len(talk.images)
    return f"You gave me {count} image{'s' if count > 1 else ''}."


def _summary(talk: Conversation, brief: Brief) -> str:
    items = [f"`{talk.path}` holds **{brief.name}**: {describe(brief)}."]
    for use in talk.called(EDIT):
        items.append("Then one edit: a line at the top." if use.ok else failure(use))
    items += summaries(talk)
    if talk.images:
        items.append(f"{_images(talk)} I looked at the colours only.")
    items.append(NEXT)
    return LABEL + "\n\n" + "\n".join(f"- {item}" for item in items) + "\n"


def _change_summary(talk: Conversation, changes: list[Change], *, done: bool) -> str:
    if done:
        return f"{LABEL}\n\n{_items(changes)}\n\nThe rest of `{talk.path}` is unchanged.\n"
    return f"{LABEL}\n\n- {failure(talk.called(EDIT)[-1])}\n- `{talk.path}` is unchanged.\n"


def _items(changes: list[Change]) -> str:
    return "\n".join(f"- {change.summary}" for change in changes if change.summary)


def _fenced(page: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", page)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}html\n{page.strip()}\n{fence}"
