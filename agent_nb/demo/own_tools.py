"""The person's own tools: how the demo model tries them out, and what it says about their results."""

import contextlib
import json
from collections.abc import Mapping

from agent_nb.demo.actions import Action, Call, Say
from agent_nb.demo.brief import Brief, shortened
from agent_nb.demo.conversation import Conversation, Use
from agent_nb.demo.samples import sample_arguments
from agent_nb.messages import ToolSpec

TRIED_AT_MOST = 3
LONGEST_REASON = 160
SHORT_RESULT = 120


def try_out(talk: Conversation, tools: Mapping[str, ToolSpec], brief: Brief) -> list[Action]:
    """Calls each of the person's tools once, with made-up arguments; empty if there is nothing to call."""
    own = [tool for name, tool in tools.items() if name in talk.own_tools][:TRIED_AT_MOST]
    made = ((tool.name, sample_arguments(tool, brief)) for tool in own)
    calls = [Call(name, arguments) for name, arguments in made if arguments is not None]
    return [Say(_announcement(calls, talk.asking_tools)), *calls] if calls else []


def own_uses(talk: Conversation) -> list[Use]:
    return [use for use in talk.uses if use.call.name in talk.own_tools]


def found(talk: Conversation) -> str:
    """The results of own tools, where they are short."""
    lines = []
    for use in own_uses(talk):
        first = use.result.text.strip().partition("\n")[0] if use.ok and use.result else ""
        if 0 < len(first) <= SHORT_RESULT:
            lines.append(f"{use.call.name}: {first}")
    return " · ".join(lines)


def reports(talk: Conversation) -> list[str]:
    """A sentence about each result."""
    return [
        f"`{use.call.name}` answered, and I put the answer on the page." if use.ok else failure(use)
        for use in own_uses(talk)
    ]


def summaries(talk: Conversation) -> list[str]:
    """What became of each tool, for the list at the end."""
    return [_summary(use, asked=use.call.name in talk.asking_tools) for use in own_uses(talk)]


def failure(use: Use) -> str:
    """Why a call failed. The result is JSON with the key `error`."""
    text = use.result.text if use.result else ""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text)["error"])
    reason = shortened(" ".join(text.split()).rstrip("."), LONGEST_REASON)
    if use.denied:
        return f"`{use.call.name}` was not approved, so it did not run (“{reason}”)."
    return f"`{use.call.name}` failed ({reason}); I continue without it."


def _summary(use: Use, *, asked: bool) -> str:
    if use.denied:
        return f"`{use.call.name}` did not run: it needs approval and did not get it."
    approved = ", with approval" if asked else ""
    return f"`{use.call.name}` was called once{approved}{'' if use.ok else ', and failed'}."


def _announcement(calls: list[Call], asking: frozenset[str]) -> str:
    names = [f"`{call.name}`" for call in calls]
    asks = [f"`{call.name}`" for call in calls if call.name in asking]
    tools = f"your tool{'s' if len(names) > 1 else ''} {_listed(names)}"
    if not asks:
        return f"First I call {tools}.\n"
    which = "It needs" if len(names) == 1 else f"{_listed(asks)} need{'s' if len(asks) == 1 else ''}"
    return f"First I call {tools}. {which} your approval before running.\n"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
