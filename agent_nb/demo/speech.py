"""The sentences of the demo model's thinking and answers. Each variant has its own."""

from collections.abc import Sequence

from agent_nb._base.constants import IN_BROWSER
from agent_nb.demo.brief import Brief, shortened
from agent_nb.demo.changes import PageEdit
from agent_nb.demo.compose import HUES, PageStyle
from agent_nb.demo.conversation import EDIT, Conversation
from agent_nb.demo.own_tools import failure, summaries
from agent_nb.demo.page import describe
from agent_nb.demo.texts import table

LABEL = "This is the offline demo model. It fills templates with words it knows from your prompt and needs no server."
DATA_LABEL = "This is the offline demo model, a script that can compare the groups of one table."
NO_ANSWER = (
    "This is the offline demo model, a script without knowledge. It cannot answer questions, so it made no page from"
    " this one."
)
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
_COLOURS = ("red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")
_TYPEFACES = {"serif": "serif", "sans": "sans-serif", "round": "rounded", "slab": "slab serif"}
_GREYISH = 0.03
"""The chroma below which a hue is hardly visible."""


def thoughts_on_page(talk: Conversation, brief: Brief, look: PageStyle) -> str:
    where = f" {brief.where}" if brief.where else ""
    source = "it" if len(talk.images) == 1 else "the first"
    images = f" {_images(talk)} I can only take a colour from {source}." if talk.images else ""
    plan = _copy("plan", brief).format(look=describe_look(look))
    return (
        f"I am the offline demo model, so I look for words I know in “{_prompt(talk)}”. I find {describe(brief)}, "
        f"about {brief.phrase}{where}.{images} I will call it “{brief.name}” and {plan}"
    )


def thoughts_on_change(talk: Conversation) -> str:
    return (
        f"There is a page already, and now I read “{_prompt(talk)}”. As the offline demo model I know words for "
        "colours, names, sections and text sizes. I will make exact replacements and leave the rest alone."
    )


def thoughts_on_question(talk: Conversation) -> str:
    return f"“{_prompt(talk)}” asks for knowledge, and I am a script that has none. I will say so and make no page."


def thoughts_on_data(talk: Conversation) -> str:
    return (
        f"“{_prompt(talk)}” is about data, and I have tools for the notebook's variables. As the offline demo model I "
        "can compare the groups of one table. I look for the table first."
    )


def findings_text(talk: Conversation) -> str:
    return "".join(f"{sentence} " for sentence in talk.findings)


def opening(brief: Brief, look: PageStyle) -> str:
    return _copy("opening", brief).format(name=brief.name, look=describe_look(look)) + "\n"


def last_touch(brief: Brief) -> str:
    return _copy("touch", brief) + "\n"


def intention(changes: Sequence[PageEdit]) -> str:
    places = "one place" if len(changes) == 1 else f"{len(changes)} places"
    return f"I replace text in {places} and leave the rest as it is.\n"


def describe_look(look: PageStyle) -> str:
    """The colour and the typeface, such as `a blue palette and a slab serif typeface`."""
    nearest = min(_COLOURS, key=lambda name: abs((look.hue - HUES[name] + 180) % 360 - 180))
    colour = nearest if look.chroma > _GREYISH else "grey"
    article = "an" if colour == "orange" else "a"
    return f"{article} {colour} palette and a {_TYPEFACES[look.font]} typeface"


def answer(talk: Conversation) -> str:
    """The answer to a question: what this model is, the results of the user's tools, and how to get a real answer."""
    unchanged = ["The files are unchanged."] if talk.has_files else []
    instead = GROUPS_INSTEAD if talk.sees_notebook and not talk.has_files else PAGES_INSTEAD
    return _with_items(NO_ANSWER, [*summaries(talk, on_page=False), *unchanged, instead, CONNECT])


def data_answer(talk: Conversation, *, has_data: bool) -> str:
    last = "I can build a page of it: add “and build a dashboard” to the prompt." if has_data else CONNECT
    return _with_items(DATA_LABEL, [*talk.findings, *summaries(talk, on_page=False), last])


def page_summary(talk: Conversation, brief: Brief, look: PageStyle) -> str:
    contents = f"`{talk.path}` holds **{brief.name}**: {describe(brief)}."
    edits = ["An edit added a line at the top." if use.ok else failure(use) for use in talk.called(EDIT)]
    # First, because the cards of the variants show only the first lines.
    difference = f"This variant has {describe_look(look)}.\n\n" if brief.variant else ""
    *others, last = (f"“{prompt}”" for prompt in suggestions(brief.variant))
    prompts = f"{', '.join(others)} or {last}"
    hint = f"Continue with {prompts}. `%agent models` lists real models, which can do much more."
    return difference + labelled([contents, *edits, *_inputs(talk), hint])


def suggestions(variant: int) -> tuple[str, ...]:
    """Prompts that the answer suggests for the next cell."""
    prompts = table("copy")["speech"]["next"]
    return tuple(prompts[variant % len(prompts)])


def page_items(talk: Conversation, brief: Brief) -> list[str]:
    """List items about a page that is part of the answer because there is no tool to write it."""
    return [f"**{brief.name}**: {describe(brief)}.", *_inputs(talk)]


def change_summary(talk: Conversation, changes: Sequence[PageEdit], *, done: bool) -> str:
    if done:
        return f"{labelled(change_items(talk, changes))}\nThe rest of `{talk.path}` is unchanged.\n"
    tools = summaries(talk, on_page=False)
    return labelled([*tools, failure(talk.called(EDIT)[-1]), f"`{talk.path}` is unchanged."])


def change_items(talk: Conversation, changes: Sequence[PageEdit]) -> list[str]:
    edits = [change.summary for change in changes if change.summary]
    return [*summaries(talk, on_page=False), *edits]


def labelled(items: Sequence[str]) -> str:
    return _with_items(LABEL, items)


def _with_items(first: str, items: Sequence[str]) -> str:
    return first + "\n\n" + "".join(f"- {item}\n" for item in items)


def _inputs(talk: Conversation) -> list[str]:
    images = [f"{_images(talk)} I can only look at colours."] if talk.images else []
    return [*talk.findings, *summaries(talk, on_page=True), *images]


def _copy(key: str, brief: Brief) -> str:
    return brief.choice(table("copy")["speech"][key])


def _prompt(talk: Conversation) -> str:
    return shortened(" ".join(talk.prompt.split()).rstrip("."), 90) or "nothing in particular"


def _images(talk: Conversation) -> str:
    count = len(talk.images)
    return f"You gave me {count} image{'s' if count > 1 else ''}."
