"""The user's own tools: how the demo model calls them and uses their results."""

import base64
import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_nb._base.text import listed
from agent_nb._base.wire import Json
from agent_nb.core.messages import ToolResult, ToolSpec
from agent_nb.demo.brief import Brief, shortened
from agent_nb.demo.compose import Html, fill, join_html
from agent_nb.demo.conversation import Action, Conversation, DemoCall, Say, Use
from agent_nb.tools.schema import compile_schema

TRIED_AT_MOST = 3
LONGEST_REASON = 160
LONGEST_LINE = 120
LARGEST_IMAGE = 120_000


@dataclass(frozen=True, slots=True)
class ToolPage:
    html: Html
    """Empty if there is nothing to show."""
    contents: str
    """Description of the content, or why there is none."""


def try_out(talk: Conversation, tools: Mapping[str, ToolSpec], brief: Brief) -> list[Action]:
    """Call each of the user's tools once, with made-up arguments; empty if there are none."""
    own_tools = [tool for name, tool in tools.items() if name in talk.own_tools][:TRIED_AT_MOST]
    own_tools.sort(key=lambda tool: tool.name in talk.asking_tools)  # so that approval is requested last
    samples = ((tool.name, sample_arguments(tool, brief)) for tool in own_tools)
    calls = [DemoCall(name, arguments) for name, arguments in samples if arguments is not None]
    return [Say(_announcement(calls, talk.asking_tools)), *calls] if calls else []


def own_uses(talk: Conversation) -> list[Use]:
    return [use for use in talk.uses if use.call.name in talk.own_tools]


def result_html(talk: Conversation) -> Html:
    pairs = ((use.call.name, _finding(use)) for use in own_uses(talk) if use.ok)
    return join_html(
        (fill("{{name}}: {{html}}", name=name, html=item.html) for name, item in pairs if item.html), "<br>\n"
    )


def announce_results(talk: Conversation) -> str:
    sentences = []
    for use in own_uses(talk):
        finding = _finding(use)
        outcome = f"answered, and the page will show {finding.contents}" if finding.html else finding.contents
        sentences.append(f"`{use.call.name}` {outcome}. " if use.ok else f"{failure(use)} ")
    return "".join(sentences)


def summaries(talk: Conversation, *, on_page: bool) -> list[str]:
    return [_summary(use, asks=use.call.name in talk.asking_tools, on_page=on_page) for use in own_uses(talk)]


def failure(use: Use) -> str:
    """A sentence about why a call failed, from the `error` field of its JSON result."""
    text = use.result.text if use.result else ""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text)["error"])
    reason = shortened(" ".join(text.split()).rstrip("."), LONGEST_REASON)
    if use.denied:
        return f"`{use.call.name}` was not approved, so it did not run (“{reason}”)."
    return f"`{use.call.name}` failed ({reason}); I continue without it."


def _summary(use: Use, *, asks: bool, on_page: bool) -> str:
    name = f"`{use.call.name}`"
    if use.denied:
        return f"{name} did not run: it needs approval and did not get it."
    prefix = f"{name} was called once{', with approval' if asks else ''}"
    if not use.ok:
        return f"{prefix}, and failed."
    finding = _finding(use)
    if not finding.html:
        return f"{prefix}. It {finding.contents}."
    if on_page:
        return f"{prefix}. The page shows {finding.contents}."
    if "image" in finding.contents:
        return f"{prefix}. You find {finding.contents} in the transcript."
    return f"{prefix}. It answered: “{_first_line(use.result)}”"


def _finding(use: Use) -> ToolPage:
    result = use.result
    if result is not None and result.images:
        images = "its image" if len(result.images) < 2 else "its images"
        alt = f"Result of {use.call.name}"
        image = '<br><img src="{{src}}" alt="{{alt}}" style="max-width:100%">'
        html = join_html(fill(image, src=source, alt=alt) for source in _sources(result))
        return ToolPage(html, images if html else "returned an image that is too large to write into a page")
    line = _first_line(result)
    if not line or result is None:
        return ToolPage(Html(""), "returned no text")
    whole = line == result.text.strip()
    return ToolPage(fill("{{line}}", line=line), "its answer" if whole else "the beginning of its answer")


def _sources(result: ToolResult) -> list[str]:
    images = (image for image in result.images if len(image.data) <= LARGEST_IMAGE)
    return [f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}" for image in images]


def _first_line(result: ToolResult | None) -> str:
    return shortened(result.text.strip().partition("\n")[0], LONGEST_LINE) if result else ""


def _announcement(calls: list[DemoCall], asking: frozenset[str]) -> str:
    names = [f"`{call.name}`" for call in calls]
    asks = [f"`{call.name}`" for call in calls if call.name in asking]
    tools = f"your tool{'s' if len(names) > 1 else ''} {listed(names)}"
    if not asks:
        return f"First I call {tools}.\n"
    which = "It needs" if len(names) == 1 else f"{listed(asks)} need{'s' if len(asks) == 1 else ''}"
    return f"First I call {tools}. {which} your approval before running.\n"


def sample_arguments(tool: ToolSpec, brief: Brief) -> Json | None:
    """Made-up values for the required arguments; None if they do not match the schema."""
    try:
        arguments = _SampleMaker(tool.schema, brief).value(tool.schema, "")
        compile_schema(tool.schema)(arguments)
    except Exception:  # a foreign schema can be wrong in any way
        return None
    return arguments if isinstance(arguments, dict) else None


class _SampleMaker:
    def __init__(self, root: Json, brief: Brief) -> None:
        self._root, self._brief = root, brief

    def value(self, schema: Any, name: str) -> Any:
        if not isinstance(schema, dict):
            return name
        if "$ref" in schema:
            node: Any = self._root
            for step in str(schema["$ref"]).removeprefix("#/").split("/"):
                node = node[step]
            return self.value(node, name)
        for keyword in ("const", "default"):
            if keyword in schema:
                return schema[keyword]
        if schema.get("enum"):
            return schema["enum"][0]
        options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        if options := [option for option in options if option.get("type") != "null"]:
            return self.value(options[0], name)
        return self._of_kind(schema.get("type", "object" if not name else "string"), schema, name)

    def _of_kind(self, kind: str, schema: Json, name: str) -> Any:
        match kind:
            case "object":
                fields = schema.get("properties", {})
                return {key: self.value(fields.get(key, True), key) for key in schema.get("required", ())}
            case "array":
                return [self.value(schema.get("items", True), name)] * schema.get("minItems", 1)
            case "string":
                return self._text(name)
            case "integer" | "number":
                return schema.get("minimum", min(1, schema.get("maximum", 1)))
            case _:
                return True if kind == "boolean" else None

    def _text(self, name: str) -> str:
        brief = self._brief
        if re.search(r"place|city|town|location|where|country", name, re.I):
            return brief.place or "Lyon"
        if re.search(r"name|title", name, re.I):
            return brief.name
        if re.search(r"prompt|question|message|text|sentence", name, re.I):
            return " ".join(brief.prompt.split())[:200] or brief.subject
        return brief.subject
