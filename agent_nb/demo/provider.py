"""The provider of `demo:`: derives the next actions from the request alone, at the pace of a fast model."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import replace

from agent_nb._base.constants import DEMO
from agent_nb._base.text import fenced
from agent_nb._base.wire import Json
from agent_nb.core.messages import Image, Message, Text, Thinking, ToolCall, ToolResult, ToolSpec, Usage
from agent_nb.demo import speech
from agent_nb.demo.brief import Brief, asks_for_a_page, read_brief
from agent_nb.demo.changes import PageEdit, apply_changes, plan_changes
from agent_nb.demo.compose import PageStyle, choose_look, main_hue
from agent_nb.demo.conversation import (
    CREATE,
    EDIT,
    LIST,
    READ,
    Action,
    Conversation,
    DemoCall,
    Say,
    Think,
    read_conversation,
)
from agent_nb.demo.notebook_data import (
    brief_for,
    explore,
    final_findings,
    is_about_data,
    sentences,
    wants_page,
)
from agent_nb.demo.own_tools import announce_results, failure, result_html, try_out
from agent_nb.demo.page import build_page, improvement
from agent_nb.demo.speech import CONNECT
from agent_nb.prompts import prompt_text
from agent_nb.providers.assemble import Assembler
from agent_nb.providers.base import Piece, Provider, Request, VirtualClock
from agent_nb.providers.settings import check_pace

FIRST_FRAGMENT = 0.1
"""Seconds before a turn's first fragment."""
THINKING, SAYING, WRITING = 0.0005, 0.002, 0.0006
"""Seconds per character."""
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_IMAGE = 800
BUILT_IN_TOKENS = 1_700
"""Input tokens of the system text and built-in tools. Fixed, so that changes to them do not change demo runs."""

# Up to 24 characters, ending after white space if possible, like the fragments of vendors.
_FRAGMENT = re.compile(r".{1,23}(?:\s|$)|.{1,24}", re.DOTALL)
_IMAGE_DATA = re.compile(r"(data:image/[\w+.-]+;base64,[\w+/=]+)")
IMAGE_SECONDS = 0.3
"""Seconds for the data of an image, which is sent as one fragment."""


class DemoProvider(Provider):
    """The offline scripted model. `pace` 1 is the speed of a fast model, 0 means no waiting."""

    sees_pages = False  # for the same answers everywhere
    offline = True

    def __init__(self, model: str = "", *, pace: float = 1.0) -> None:
        self.name = f"{DEMO}:{model}"
        self._pace = check_pace(pace)

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        actions = next_turn(request)
        assembler = Assembler()
        turn = sum(message.role == "assistant" for message in request.messages) + 1
        await request.clock.sleep(FIRST_FRAGMENT)
        for place, action in enumerate(actions, start=1):
            for piece, seconds in _pieces(action, assembler, f"demo_{turn}_{place}"):
                yield piece
                await request.clock.sleep(seconds)
        yield assembler.turn(
            stop="tool_use" if assembler.has_calls else "end_turn", usage=_usage(request, actions), model=DEMO
        )

    def new_clock(self) -> VirtualClock:
        return VirtualClock(self._pace)


def _pieces(action: Action, assembler: Assembler, call_id: str) -> Iterator[tuple[Piece, float]]:
    match action:
        case Think(text):
            yield from _fragments(text, assembler.thinking, THINKING)
        case Say(text):
            yield from _fragments(text, assembler.text, SAYING)
        case DemoCall(name, arguments):
            yield assembler.start_call(call_id, call_id, name), WRITING
            payload = json.dumps(arguments, ensure_ascii=False)
            yield from _fragments(payload, lambda part: assembler.arguments(call_id, part), WRITING)


def _fragments(text: str, emit: Callable[[str], Piece], pace: float) -> Iterator[tuple[Piece, float]]:
    for stretch in _IMAGE_DATA.split(text):
        if _IMAGE_DATA.fullmatch(stretch):
            yield emit(stretch), IMAGE_SECONDS
            continue
        for part in _FRAGMENT.findall(stretch):
            yield emit(part), round(len(part) * pace, 4)


def _usage(request: Request, actions: tuple[Action, ...]) -> Usage:
    own_tools = [tool for tool in request.tools if tool.name in request.facts.own_tools]
    characters = sum(map(_message_size, request.messages)) + sum(map(_tool_size, own_tools))
    thinking = sum(len(action.text) for action in actions if isinstance(action, Think))
    text = sum(len(action.text) for action in actions if isinstance(action, Say))
    calls = sum(len(json.dumps(action.arguments)) for action in actions if isinstance(action, DemoCall))
    return Usage(
        input=BUILT_IN_TOKENS + characters // CHARACTERS_PER_TOKEN,
        output=(thinking + text + calls) // CHARACTERS_PER_TOKEN,
        reasoning=thinking // CHARACTERS_PER_TOKEN,
    )


def _message_size(message: Message) -> int:
    size = 0
    for part in message.parts:
        match part:
            case Text(text) | Thinking(text):
                size += len(text)
            case ToolCall(_, name, arguments):
                size += len(name) + len(arguments)
            case ToolResult(text=text):
                size += len(text)
            case Image():
                size += TOKENS_PER_IMAGE * CHARACTERS_PER_TOKEN
    return size


def _tool_size(tool: ToolSpec) -> int:
    return len(tool.name) + len(tool.description) + len(json.dumps(tool.schema))


Tools = Mapping[str, ToolSpec]
_MAX_PROMPT = 400
_PAGE = re.compile(
    r"\b(?:page|(?:web ?)?site|app|game|snake|tic[- ]?tac[- ]?toe|dashboard|chart|report|form|sign[- ]?up|survey"
    r"|article|blog|essay|post|story|tutorial|guide|recipe|portfolio|documentation)s?\b",
    re.I,
)
_MAKING = (
    r"(?:make|build|create|design|write|draw|generate|show|give|code|develop|produce|add|change|remove|delete|drop"
    r"|rename|call|name|set|use|turn|put|replace|move|try|increase|reduce)\b"
)
_POLITE = r"^\W*(?:(?:please|so|now|and|but|hi|hello|hey)\b[\s,]*)*"
_QUESTION_WITH_MARK = re.compile(
    rf"{_POLITE}(?:(?:what|who|whom|whose|which|when|where|why|how)\b(?! about)"
    r"|(?:is|are|was|were|am|do|does|did|has|have)\b(?! (?:it possible|there a way))"
    rf"|(?:can|could|would|will|should|shall) (?:you|i|we)\b(?! (?:please )?{_MAKING}))",
    re.I,
)
_QUESTION_WITHOUT_MARK = re.compile(
    rf"{_POLITE}(?:(?:what|who|when|where|why|how)"
    r"(?:['’]s| (?:is|are|was|were|do|does|did|can|should|will|much|many|old|far))\b"
    r"|(?:can you )?(?:tell me|explain|define|translate|summari[sz]e|calculate|compute)\b)",
    re.I,
)
_GREETING = re.compile(r"\W*(?:hi|hello|hey|thanks|thank you|good (?:morning|evening))(?: there)?\W*", re.I)


def next_turn(request: Request) -> tuple[Action, ...]:
    talk = read_conversation(request)
    tools = {} if request.facts.summing_up else {tool.name: tool for tool in request.tools}
    if is_fix(talk.prompt):
        return (Say(fix_answer(talk.prompt)),)
    brief = read_brief(talk.prompt, request.variant, talk.bound)
    if is_about_data(talk) and not talk.bound:
        return tuple(_from_data(talk, tools, brief))
    thoughts, actions = _plan(talk, tools, brief)
    if talk.uses:
        return tuple(actions)
    return (Think(thoughts), *(try_out(talk, tools, brief) or actions))


def _from_data(talk: Conversation, tools: Tools, brief: Brief) -> list[Action]:
    """Inspect the notebook's data, then build a page from its numbers or report them."""
    if not talk.uses and LIST in tools:
        first = [Think(speech.thoughts_on_data(talk)), *try_out(talk, tools, brief)]
        return [*first, *explore(talk, tools)]
    if actions := explore(talk, tools):
        return actions
    findings = final_findings(talk)
    talk = replace(talk, findings=sentences(findings, talk.prompt, on_page=wants_page(talk)))
    if not wants_page(talk):
        return [Say(speech.data_answer(talk, has_data=findings.data is not None))]
    brief = brief_for(brief, findings)
    return _build(talk, tools, brief, choose_look(brief, main_hue(talk.images)))


def _plan(talk: Conversation, tools: Tools, brief: Brief) -> tuple[str, list[Action]]:
    if is_question(talk.prompt) and not talk.bound:
        return speech.thoughts_on_question(talk), [Say(speech.answer(talk))]
    if talk.earlier and not asks_for_a_page(talk.prompt):
        actions = _change(talk, tools, brief)
        if actions is not None:
            return speech.thoughts_on_change(talk), actions
    look = choose_look(brief, main_hue(talk.images))
    return speech.thoughts_on_page(talk, brief, look), _build(talk, tools, brief, look)


def _build(talk: Conversation, tools: Tools, brief: Brief, look: PageStyle) -> list[Action]:
    created, edited = talk.called(CREATE), talk.called(EDIT)
    page = build_page(brief, look, result_html(talk))
    if created and not created[0].ok:
        return [Say(f"{failure(created[0])} Here is the page instead.\n\n{fenced(page.strip(), 'html')}\n")]
    if CREATE in tools and not created:
        opening = speech.findings_text(talk) + announce_results(talk) + speech.opening(brief, look)
        return [Say(opening), DemoCall(CREATE, {"path": talk.path, "content": page})]
    if not created:
        return [Say(f"{speech.labelled(speech.page_items(talk, brief))}\n{fenced(page.strip(), 'html')}\n")]
    if EDIT in tools and not edited:
        old, new = improvement(brief)
        return [Say(speech.last_touch(brief)), DemoCall(EDIT, {"path": talk.path, "old": old, "new": new})]
    return [Say(speech.page_summary(talk, brief, look))]


def _change(talk: Conversation, tools: Tools, brief: Brief) -> list[Action] | None:
    """Change the current page; None if a new one must be built instead."""
    edits, reads = talk.called(EDIT), talk.called(READ)
    failed = bool(edits) and not any(use.ok for use in edits)
    page = talk.page_read or talk.page
    if (page is None or failed) and not reads and READ in tools:
        return [Say("Let me look at the current page.\n"), DemoCall(READ, {"path": talk.path})]
    changes = plan_changes(talk.prompt, page, brief.variant) if page is not None else []
    if page is None or not changes or talk.called(CREATE):
        return None
    if EDIT in tools and (not edits or (failed and len(edits) == 1)):
        return [Say(speech.intention(changes)), DemoCall(EDIT, _edit(talk.path, changes))]
    if edits:
        return [Say(speech.change_summary(talk, changes, done=any(use.ok for use in edits)))]
    page = apply_changes(page, changes).strip()
    return [Say(f"{speech.labelled(speech.change_items(talk, changes))}\n{fenced(page, 'html')}\n")]


def _edit(path: str, changes: list[PageEdit]) -> Json:
    pairs = [{"old": change.old, "new": change.new} for change in changes]
    return {"path": path, **pairs[0]} if len(pairs) == 1 else {"path": path, "edits": pairs}


def is_question(prompt: str) -> bool:
    """Whether the first paragraph is a knowledge question or a greeting."""
    paragraph = prompt.strip()[:_MAX_PROMPT].partition("\n\n")[0].strip()
    if _GREETING.fullmatch(paragraph):
        return True
    if paragraph.endswith("?") and _QUESTION_WITH_MARK.match(paragraph):
        return True
    return _QUESTION_WITHOUT_MARK.match(paragraph) is not None and not _PAGE.search(paragraph)


_PARTS = re.compile(
    r"The cell:\n(?P<fence>`{3,})python\n(?P<cell>.*?)\n(?P=fence)\n\n"
    r"(?:The error|Its output):\n(?P<ticks>`{3,})\n(?P<error>.*?)\n(?P=ticks)(?:\n|$)",
    re.DOTALL,
)
_NEAR = re.compile(r"^Names like `(\w+)` that the notebook has: (\w+)", re.MULTILINE)
_VARIABLE = re.compile(r"^Variable `([^`\n]+)`:$", re.MULTILINE)


def is_fix(prompt: str) -> bool:
    """Whether this is the prompt of `%agent fix` or `explain`."""
    asks = prompt.startswith((prompt_text("fix"), prompt_text("explain")))
    return asks and _PARTS.search(prompt) is not None


def fix_answer(prompt: str) -> str:
    parts = _PARTS.search(prompt)
    assert parts  # `is_fix` found them
    cell, error, context = parts["cell"], parts["error"], prompt[parts.end() :]
    if match := _NEAR.match(context.strip()):
        wrong, right = match.groups()
        fixed = re.sub(rf"(?<![\w.]){wrong}\b", right, cell)
        return (
            f"The notebook has no `{wrong}`, but it has `{right}`. This is the offline demo model, a script that "
            f"corrects misspelt names.\n\n{fenced(fixed, 'python')}\n"
        )
    names = ", ".join(f"`{name}`" for name in _VARIABLE.findall(context))
    values = f"the values of {names}" if names else "no values, because it names no variables that hold data"
    is_error = prompt.startswith(prompt_text("fix"))
    ability = "corrects misspelt names, and this error is another" if is_error else "explains no code"
    return (
        f"This is the offline demo model, a script that {ability}. A real model would get the cell ({_lines(cell)}),"
        f" the {'error' if is_error else 'output'} ({_lines(error)}) and {values}.\n\n{CONNECT}\n"
    )


def _lines(text: str) -> str:
    count = text.count("\n") + 1
    return "1 line" if count == 1 else f"{count} lines"
