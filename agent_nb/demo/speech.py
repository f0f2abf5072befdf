"""Every sentence that the demo model thinks or says about its work. Variants say it differently."""

from collections.abc import Sequence

from agent_nb.demo.brief import Brief, shortened
from agent_nb.demo.changes import Change
from agent_nb.demo.conversation import EDIT, Conversation
from agent_nb.demo.own_tools import failure, summaries
from agent_nb.demo.page import describe

LABEL = "This is the offline demo model. It fills templates with words it knows from your prompt and needs no server."
NO_ANSWER = (
    "This is the offline demo model, a script without knowledge. It cannot answer questions, so it made no page from"
    " this one."
)
PAGES_INSTEAD = "It can make pages. Try “A landing page for a small bakery in Lyon”."
CONNECT = (
    "For an answer, use a real model: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GOOGLE_API_KEY` before you start"
    " Jupyter and leave out `-m demo:`, or name a local one, such as `-m ollama:qwen3`. `%agent models` lists them."
)
NEXT = (
    "Continue with “make it blue”, “call it Petit Four” or “add a newsletter section”. A real model can do more:"
    " `%agent models` lists them."
)


def thoughts_on_page(talk: Conversation, brief: Brief) -> str:
    asked = shortened(" ".join(talk.prompt.split()), 90) or "nothing in particular"
    where = f" {brief.where}" if brief.where else ""
    source = "it" if len(talk.images) == 1 else "the first"
    images = f" {_images(talk)} I can only take a colour from {source}." if talk.images else ""
    return (
        f"I am the offline demo model, so I look for words I know in “{asked}”. I find {describe(brief)}, about "
        f"{brief.phrase}{where}.{images} I will call it “{brief.name}”, put the styles first so that the page can be "
        "watched while it grows, and then write it from top to bottom."
    )


def thoughts_on_change(talk: Conversation) -> str:
    asked = shortened(" ".join(talk.prompt.split()), 90)
    return (
        f"There is a page already, and now I read “{asked}”. As the offline demo model I know words for colours, "
        "names, sections and text sizes. I will make exact replacements and leave the rest alone."
    )


def thoughts_on_question(talk: Conversation) -> str:
    asked = shortened(" ".join(talk.prompt.split()), 90)
    return f"“{asked}” is a question. I am a script and know nothing, so I will say so and make no page."


def opening(brief: Brief) -> str:
    return f"I am writing **{brief.name}** as one page, styles first.\n"


def last_touch() -> str:
    return "The page is done. One more touch: an eye-catching line at the top.\n"


def intention(changes: Sequence[Change]) -> str:
    return f"{len(changes)} exact replacement{'s' if len(changes) > 1 else ''}, and nothing else.\n"


def answer(talk: Conversation) -> str:
    """To a question: what this model is, what the person's tools returned, and how to get a real answer."""
    unchanged = ["The files are unchanged."] if talk.earlier else []
    return _with_items(NO_ANSWER, [*summaries(talk, on_page=False), *unchanged, PAGES_INSTEAD, CONNECT])


def page_summary(talk: Conversation, brief: Brief) -> str:
    holds = f"`{talk.path}` holds **{brief.name}**: {describe(brief)}."
    edits = ["Then one edit: a line at the top." if use.ok else failure(use) for use in talk.called(EDIT)]
    return labelled([holds, *edits, *_inputs(talk), NEXT])


def page_items(talk: Conversation, brief: Brief) -> list[str]:
    """About a page that is part of the answer, because there is no tool to write it."""
    return [f"**{brief.name}**: {describe(brief)}.", *_inputs(talk)]


def change_summary(talk: Conversation, changes: Sequence[Change], *, done: bool) -> str:
    if done:
        return f"{labelled(change_items(talk, changes))}\nThe rest of `{talk.path}` is unchanged.\n"
    tools = summaries(talk, on_page=False)
    return labelled([*tools, failure(talk.called(EDIT)[-1]), f"`{talk.path}` is unchanged."])


def change_items(talk: Conversation, changes: Sequence[Change]) -> list[str]:
    made = [change.summary for change in changes if change.summary]
    return [*summaries(talk, on_page=False), *made]


def labelled(items: Sequence[str]) -> str:
    return _with_items(LABEL, items)


def _with_items(first: str, items: Sequence[str]) -> str:
    return first + "\n\n" + "".join(f"- {item}\n" for item in items)


def _inputs(talk: Conversation) -> list[str]:
    """What was taken from the person's tools and images."""
    images = [f"{_images(talk)} I looked at the colours only."] if talk.images else []
    return [*summaries(talk, on_page=True), *images]


def _images(talk: Conversation) -> str:
    count = len(talk.images)
    return f"You gave me {count} image{'s' if count > 1 else ''}."
