"""The user's own tools: how the demo model calls them and uses their results."""

import base64
import contextlib
import math
import re
from collections.abc import Mapping
from typing import Any

from agent_nb._base.text import listed
from agent_nb._base.wire import Json, parse_json
from agent_nb.core.messages import Text, ToolResult, ToolSpec
from agent_nb.demo.brief import Brief, shortened
from agent_nb.demo.conversation import Action, Conversation, DemoCall
from agent_nb.demo.templates import Html, fill, fill_each
from agent_nb.tools.schema import compile_schema

TRIED_AT_MOST = 3
LONGEST_REASON = 160
LONGEST_LINE = 120
LARGEST_IMAGE = 120_000
QUESTION = {"question": "What matters most here?", "choices": ["Clear numbers", "A calm look", "Few words"]}


def try_out(talk: Conversation, tools: Mapping[str, ToolSpec], brief: Brief) -> list[Action]:
    """Call each of the user's tools once, with made-up arguments; empty if there are none."""
    asking = talk.facts.asking_tools
    own_tools = [tool for name, tool in tools.items() if name in talk.own_tools][:TRIED_AT_MOST]
    own_tools.sort(key=lambda tool: tool.name in asking)  # so that approval is requested last
    samples = {tool.name: sample_arguments(tool, brief) for tool in own_tools}
    calls = [DemoCall(name, arguments) for name, arguments in samples.items() if arguments is not None]
    if not calls:
        return []
    names = [f"`{call.name}`" for call in calls]
    names_asking = [f"`{call.name}`" for call in calls if call.name in asking]
    sentence = f"First I call your tool{'s' if len(names) > 1 else ''} {listed(names)}."
    if names_asking:
        verb = "need" if len(names_asking) > 1 else "needs"
        sentence += (
            f" {listed(names_asking) if len(names) > 1 else 'It'} {verb} your approval before running."
        )
    return [Text(f"{sentence}\n"), *calls]


def result_html(talk: Conversation) -> Html:
    rows = [(result.name, _content(result)[0]) for result in _own_results(talk) if result.ok]
    return fill_each("{{name}}: {{html}}", (row for row in rows if row[1]), "<br>\n")


def announce_results(talk: Conversation) -> str:
    sentences = []
    for result in _own_results(talk):
        html, contents = _content(result)
        outcome = f"answered, and the page will show {contents}" if html else contents
        sentences.append(f"`{result.name}` {outcome}. " if result.ok else f"{failure(result)} ")
    return "".join(sentences)


def summaries(talk: Conversation, *, on_page: bool) -> list[str]:
    """A sentence about each result."""
    sentences = []
    for result in _own_results(talk):
        html, contents = _content(result)
        if result.code == "DENIED":
            sentences.append(f"`{result.name}` did not run: it needs approval and did not get it.")
            continue
        if not result.ok:
            outcome = ", and failed."
        elif not html:
            outcome = f". It {contents}."
        elif on_page:
            outcome = f". The page shows {contents}."
        elif result.images:
            outcome = f". You find {contents} in the transcript."
        else:
            outcome = f". It answered: “{_first_line(result)}”"
        approval = ", with approval" if result.name in talk.facts.asking_tools else ""
        sentences.append(f"`{result.name}` was called once{approval}{outcome}")
    return sentences


def failure(result: ToolResult) -> str:
    """A sentence about why a call failed, from the `error` field of its JSON result."""
    text = result.text
    with contextlib.suppress(KeyError, TypeError):
        text = str(parse_json(text)["error"])
    reason = shortened(" ".join(text.split()).rstrip("."), LONGEST_REASON)
    if result.code == "DENIED":
        return f"`{result.name}` was not approved, so it did not run (“{reason}”)."
    return f"`{result.name}` failed ({reason}); I continue without it."


def _own_results(talk: Conversation) -> list[ToolResult]:
    return [result for result in talk.results if result.name in talk.own_tools]


def _content(result: ToolResult) -> tuple[Html, str]:
    """What a page can show of a result, and its description; or nothing, and why."""
    if result.images:
        images = [image for image in result.images if len(image.data) <= LARGEST_IMAGE]
        sources = [f"data:{i.media_type};base64,{base64.b64encode(i.data).decode()}" for i in images]
        tag = '<br><img src="{{src}}" alt="{{alt}}" style="max-width:100%">'
        html = fill_each(tag, [(source, f"Result of {result.name}") for source in sources])
        contents = "its image" if len(result.images) < 2 else "its images"
        return html, contents if html else "returned an image that is too large to write into a page"
    line = _first_line(result)
    if not line:
        return Html(""), "returned no text"
    is_whole = line == result.text.strip()
    return fill("{{line}}", line=line), "its answer" if is_whole else "the beginning of its answer"


def _first_line(result: ToolResult) -> str:
    return shortened(result.text.strip().partition("\n")[0], LONGEST_LINE)


def sample_arguments(tool: ToolSpec, brief: Brief) -> Json | None:
    """Made-up values for the required arguments; None if they do not match the schema."""
    if tool.name == "ask_user":
        return QUESTION
    try:
        arguments = _sample(tool.schema, "", tool.schema, brief)
        compile_schema(tool.schema)(arguments)
    except Exception:  # a foreign schema can be wrong in any way
        return None
    return arguments if isinstance(arguments, dict) else None


def _sample(schema: Any, name: str, root: Json, brief: Brief) -> Any:
    if not isinstance(schema, dict):
        return name
    if "$ref" in schema:
        target: Any = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return _sample(target, name, root, brief)
    if choices := [*(schema[key] for key in ("const", "default") if key in schema), *schema.get("enum", ())]:
        return choices[0]
    options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if options := [option for option in options if option.get("type") != "null"]:
        return _sample(options[0], name, root, brief)
    match schema.get("type", "string" if name else "object"):
        case "object":
            fields = schema.get("properties", {})
            return {
                key: _sample(fields.get(key, True), key, root, brief) for key in schema.get("required", ())
            }
        case "array":
            return [_sample(schema.get("items", True), name, root, brief)] * schema.get("minItems", 1)
        case "string":
            return _sample_text(name, brief)
        case "integer" | "number" as kind:
            value = schema.get("minimum", min(1, schema.get("maximum", 1)))
            if kind == "integer" or not brief.variant:
                return value
            # Variants differ, and some agree, as several analysts would.
            return min(round(value + 0.07 * (3 * brief.variant % 8 // 2), 2), schema.get("maximum", math.inf))
        case kind:
            return True if kind == "boolean" else None


def _sample_text(name: str, brief: Brief) -> str:
    if brief.data:
        return brief.data.labels[0]
    if re.search(r"place|city|town|location|where|country", name, re.I):
        return brief.place or "Lyon"
    if re.search(r"name|title", name, re.I):
        return brief.name
    if re.search(r"prompt|question|message|text|sentence", name, re.I):
        return " ".join(brief.prompt.split())[:200] or brief.subject
    return brief.subject
