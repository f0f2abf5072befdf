"""What the demo model does next: builds a page, changes it, answers from data, or says that it cannot answer."""

import re
from collections.abc import Mapping, Sequence

from agent_nb._base.constants import IN_BROWSER
from agent_nb._base.text import fenced, listed, plural
from agent_nb.core.messages import Text, Thinking, ToolSpec
from agent_nb.demo.brief import ANOTHER_PAGE, MAKING, PAGE_WORDS, Brief, read_brief, shortened, suggestions
from agent_nb.demo.changes import plan_changes
from agent_nb.demo.conversation import CREATE, EDIT, READ, Action, Conversation, DemoCall, read_conversation
from agent_nb.demo.notebook_cells import is_about_cells, offer_cells
from agent_nb.demo.notebook_data import PAGE, explore, is_about_data
from agent_nb.demo.own_tools import (
    announce_results,
    failure,
    result_html,
    sample_arguments,
    summaries,
    try_out,
)
from agent_nb.demo.page import build_page, describe, improvement
from agent_nb.demo.style import PageStyle, choose_style
from agent_nb.demo.templates import table
from agent_nb.files import human_size
from agent_nb.prompts import prompt_text
from agent_nb.providers.base import Request

Tools = Mapping[str, ToolSpec]

LABEL = "This is the offline demo model. It fills templates with words it knows from your prompt and needs no server."
DATA_LABEL = "This is the offline demo model, a script that can compare the groups of one table."
NO_ANSWER = (
    "This is the offline demo model, a script without knowledge. It cannot answer questions, so it made no page from"
    " this one."
)
MADE_UP = "\nThe answer only fits its type: its numbers are made up.\n"
PAGES_INSTEAD = "It can make pages. Try “A landing page for a small bakery in Lyon”."
GROUPS_INSTEAD = "It can compare the groups of a table in the notebook. Try “Which category has the most?”"
_KEY_STORAGE = (
    "in this tab" if IN_BROWSER else "in this kernel, or set `ANTHROPIC_API_KEY` before you start Jupyter"
)
CONNECT = (
    f"For an answer, use a real model: `%agent key anthropic` asks for a key and keeps it {_KEY_STORAGE}."
    " Then leave out `-m demo:`. A local model needs no key, such as"
    " `-m ollama:qwen3`; `%agent models` lists all of them."
)
_PAGE = re.compile(rf"\b(?:{PAGE_WORDS})s?\b", re.I)
_MAKING = (
    rf"(?:{MAKING}|add|change|remove|delete|drop|rename|call|name|set|use|turn|put|replace|move|try|increase"
    r"|reduce)\b"
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
_FIX_PARTS = re.compile(
    r"The cell:\n(?P<fence>`{3,})python\n(?>(?P<cell>.*?)\n(?P=fence)\n\n)"
    r"(?:The error|Its output):\n(?P<ticks>`{3,})\n(?P<error>.*?)\n(?P=ticks)(?:\n|$)",
    re.DOTALL,
)
_NEAR = re.compile(r"^Names like `(\w+)` that the notebook has: (\w+)", re.MULTILINE)
_VARIABLE = re.compile(r"^Variable `([^`\n]+)`:$", re.MULTILINE)


def next_turn(request: Request) -> tuple[Action, ...]:
    """The actions of the next turn. A run whose answer has a type ends with made-up values of that type."""
    actions = _script(request)
    tool = next((tool for tool in request.tools if request.answer and tool.name == request.answer), None)
    if tool is None or any(isinstance(action, DemoCall) for action in actions):
        return actions
    talk = read_conversation(request)
    brief = read_brief(talk.prompt, request.variant)
    findings = explore(talk, {}, brief) if is_about_data(talk) else brief
    brief = findings if isinstance(findings, Brief) else brief
    arguments = sample_arguments(tool, brief)
    return actions if arguments is None else (*actions, Text(MADE_UP), DemoCall(tool.name, arguments))


def _script(request: Request) -> tuple[Action, ...]:
    talk = read_conversation(request)
    tools = {} if request.facts.summing_up else {tool.name: tool for tool in request.tools}
    brief = read_brief(talk.prompt, request.variant, talk.bound)
    if answer := _fix_answer(talk.prompt):
        return (Text(answer),)
    if is_about_cells(talk):
        return tuple(offer_cells(talk))
    if is_about_data(talk) and not talk.bound:
        return tuple(_from_data(talk, tools, brief))
    thoughts, actions = _plan(talk, tools, brief)
    return tuple(actions if talk.results else [Thinking(thoughts), *(try_out(talk, tools, brief) or actions)])


def _plan(talk: Conversation, tools: Tools, brief: Brief) -> tuple[str, Sequence[Action]]:
    """The thoughts and actions for a question, a change or a new page."""
    prompt = _quoted(talk)
    if is_question(talk.prompt) and not talk.bound:
        thoughts = (
            f"{prompt} asks for knowledge, and I am a script that has none. I will say so and make no page."
        )
        unchanged = ["The files are unchanged."] if talk.facts.files else []
        instead = GROUPS_INSTEAD if talk.sees_notebook and not talk.facts.files else PAGES_INSTEAD
        items = [*summaries(talk, on_page=False), *_documents(talk), *unchanged, instead, CONNECT]
        return thoughts, [_answer(items, NO_ANSWER)]
    is_change = talk.earlier and not ANOTHER_PAGE.match(talk.prompt)
    if is_change and (actions := _change(talk, tools, brief)):
        return (
            f"There is a page already, and now I read {prompt}. As the offline demo model I know words for "
            "colours, names, sections and text sizes. I will make exact replacements and leave the rest alone."
        ), actions
    style = choose_style(brief, talk.images)
    source = "it" if len(talk.images) == 1 else "the first"
    images = f" {_images(talk)} I can only take a colour from {source}." if talk.images else ""
    thoughts = (
        f"I am the offline demo model, so I look for words I know in {prompt}. I find {describe(brief)}, about "
        f"{brief.spoken('{{phrase}}{{in_place}}')}.{images} I will call it “{brief.name}” and "
        f"{_speech('plan', brief, style)}"
    )
    return thoughts, _build(talk, tools, brief, style)


def _from_data(talk: Conversation, tools: Tools, brief: Brief) -> Sequence[Action]:
    """Inspect the notebook's data, then build a page from its numbers or report them."""
    step = explore(talk, tools, brief)
    if not isinstance(step, Brief):
        thoughts = (
            f"{_quoted(talk)} is about data, and I have tools for the notebook's variables. As the offline demo model "
            "I can compare the groups of one table. I look for the table first."
        )
        return step if talk.results else [Thinking(thoughts), *try_out(talk, tools, brief), *step]
    if PAGE.search(talk.prompt):
        return _build(talk, tools, step, choose_style(step, talk.images))
    page = "I can build a page of it: add “and build a dashboard” to the prompt."
    items = [*step.findings, *summaries(talk, on_page=False), page if step.data else CONNECT]
    return [_answer(items, DATA_LABEL)]


def _build(talk: Conversation, tools: Tools, brief: Brief, style: PageStyle) -> Sequence[Action]:
    created, edits = talk.results_of(CREATE), talk.results_of(EDIT)
    page, contents = build_page(brief, style, result_html(talk)), f"**{brief.name}**: {describe(brief)}."
    if CREATE in tools and not created:
        findings = "".join(f"{sentence} " for sentence in brief.findings)
        opening = f"{findings}{announce_results(talk)}{_speech('opening', brief, style)}\n"
        return [Text(opening), DemoCall(CREATE, {"path": talk.path, "content": page})]
    is_written = any(result.ok for result in created)
    if is_written and EDIT in tools and not edits:
        old, new = improvement(brief)
        touch = f"{_speech('touch', brief, style)}\n"
        return [Text(touch), DemoCall(EDIT, {"path": talk.path, "old": old, "new": new})]
    inputs = [*brief.findings, *summaries(talk, on_page=True)]
    inputs += [f"{_images(talk)} I can only look at colours."] if talk.images else []
    inputs += _documents(talk)
    if not is_written:
        return [_answer([*map(failure, created), contents, *inputs], page=page)]
    added = ["An edit added a line at the top." if result.ok else failure(result) for result in edits]
    *others, last = (f"“{prompt}”" for prompt in suggestions(brief))
    hint = f"Continue with {', '.join(others)} or {last}. `%agent models` lists real models, which can do much more."
    # First, because the cards of the variants show only the first lines.
    difference = f"This variant has {style}.\n\n" if brief.variant else ""
    return [_answer([f"`{talk.path}` holds {contents}", *added, *inputs, hint], f"{difference}{LABEL}")]


def _change(talk: Conversation, tools: Tools, brief: Brief) -> Sequence[Action]:
    """Change the current page; empty if a new one must be built instead."""
    edits, reads = talk.results_of(EDIT), talk.results_of(READ)
    is_done = any(result.ok for result in edits)
    page = next((result.text for result in reads if result.ok), talk.page)
    if (page is None or (edits and not is_done)) and not reads and READ in tools:
        return [Text("Let me look at the current page.\n"), DemoCall(READ, {"path": talk.path})]
    changed, changes = plan_changes(talk.prompt, page or "", brief.variant)
    if not changes or talk.results_of(CREATE):
        return []
    if EDIT in tools and (not edits or (not is_done and len(edits) == 1)):
        places = "one place" if len(changes) == 1 else f"{len(changes)} places"
        pairs = [{"old": change.old, "new": change.new} for change in changes]
        arguments = {"path": talk.path, **(pairs[0] if len(pairs) == 1 else {"edits": pairs})}
        return [Text(f"I replace text in {places} and leave the rest as it is.\n"), DemoCall(EDIT, arguments)]
    items = summaries(talk, on_page=False)
    if edits and not is_done:
        return [_answer([*items, failure(edits[-1]), f"`{talk.path}` is unchanged."])]
    items += [change.summary for change in changes if change.summary]
    if not edits:
        return [_answer(items, page=changed)]
    return [Text(f"{_answer(items).text}\nThe rest of `{talk.path}` is unchanged.\n")]


def _speech(key: str, brief: Brief, style: PageStyle) -> str:
    line: str = brief.choice(table("copy")["speech"][key])
    return line.format(name=brief.name, look=style)


def _answer(items: Sequence[str], label: str = LABEL, page: str = "") -> Text:
    """An answer: what this model is, a list, and the page, if no tool can write it."""
    block = f"\n{fenced(page.strip(), 'html')}\n" if page else ""
    return Text(f"{label}\n\n" + "".join(f"- {item}\n" for item in items) + block)


def _quoted(talk: Conversation) -> str:
    return f"“{shortened(' '.join(talk.prompt.split()).rstrip('.'), 90) or 'nothing in particular'}”"


def _images(talk: Conversation) -> str:
    return f"You gave me {plural(len(talk.images), 'image')}."


def _documents(talk: Conversation) -> list[str]:
    names = listed([f"`{item.name}` ({human_size(len(item.data))})" for item in talk.documents])
    return [f"I got {names}. A real model would read it."] if names else []


def is_question(prompt: str) -> bool:
    """Whether the first paragraph is a knowledge question or a greeting."""
    paragraph = prompt.strip()[:400].partition("\n\n")[0].strip()
    if _GREETING.fullmatch(paragraph) or (paragraph.endswith("?") and _QUESTION_WITH_MARK.match(paragraph)):
        return True
    return _QUESTION_WITHOUT_MARK.match(paragraph) is not None and not _PAGE.search(paragraph)


def _fix_answer(prompt: str) -> str:
    """The answer to `%agent fix` or `explain`; empty for other prompts."""
    is_error = prompt.startswith(prompt_text("fix"))
    parts = _FIX_PARTS.match(prompt, prompt.find("The cell:\n"))
    if not parts or not (is_error or prompt.startswith(prompt_text("explain"))):
        return ""
    context = prompt[parts.end() :]
    if match := _NEAR.match(context.strip()):
        wrong, right = match.groups()
        fixed = re.sub(rf"(?<![\w.]){wrong}\b", right, parts["cell"])
        return (
            f"The notebook has no `{wrong}`, but it has `{right}`. This is the offline demo model, a script that "
            f"corrects misspelt names.\n\n{fenced(fixed, 'python')}\n"
        )
    names = ", ".join(f"`{name}`" for name in _VARIABLE.findall(context))
    values = f"the values of {names}" if names else "no values, because it names no variables that hold data"
    ability = "corrects misspelt names, and this error is another" if is_error else "explains no code"
    cell, error = (plural(parts[name].count("\n") + 1, "line") for name in ("cell", "error"))
    return (
        f"This is the offline demo model, a script that {ability}. A real model would get the cell ({cell}),"
        f" the {'error' if is_error else 'output'} ({error}) and {values}.\n\n{CONNECT}\n"
    )
