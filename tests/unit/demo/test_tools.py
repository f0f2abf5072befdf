"""The demo model and tools: it calls what it is offered, with arguments that fit, and bears failures."""

import base64
import io
from dataclasses import replace
from typing import Any, Literal

import fastjsonschema
import PIL.Image
import pytest

from agent_nb import Limits, ToolError, tool
from agent_nb.core.events import ApprovalRequested
from agent_nb.core.messages import Image, ToolSpec, user
from agent_nb.demo import DemoProvider
from agent_nb.demo.brief import read_brief
from agent_nb.demo.own_tools import sample_arguments
from agent_nb.demo.style import hue_of
from agent_nb.engine.approval import Answer
from agent_nb.providers.base import Request, Turn, VirtualClock
from agent_nb.tools import Toolbox, ToolContext, ToolOutput
from tests.support.demo_kit import BAKERY, Page, agent, called, file_tools, spoken


async def test_without_tools_it_answers_with_a_page() -> None:
    run = await agent(tools=[]).run(BAKERY)
    assert run.reason == "end_turn"
    assert run.tool_uses == ()
    assert "```html\n<!doctype html>" in run.text
    assert "<title>Lyon Bakery</title>" in run.files["index.html"]


async def test_an_own_tool_is_called_once() -> None:
    asked: list[tuple[str, str, int]] = []

    @tool
    def weather(city: str, unit: Literal["C", "F"], days: int = 3) -> str:
        """The weather of a city."""
        asked.append((city, unit, days))
        return "Sunny, 21 degrees\nand a breeze"

    run = await agent(tools=[*file_tools("create_file", "edit_file"), weather]).run(BAKERY)
    assert asked == [("Lyon", "C", 3)]
    assert called(run) == ["weather", "create_file", "edit_file"]
    assert "weather: Sunny, 21 degrees" in Page(run.html or "").text
    assert "`weather` was called once" in run.text


async def test_a_failing_own_tool_does_not_stop_it() -> None:
    @tool
    def broken(city: str) -> str:
        """Always fails."""
        raise ToolError("no network")

    run = await agent(tools=[*file_tools("create_file", "edit_file"), broken]).run(BAKERY)
    assert called(run) == ["broken", "create_file", "edit_file"]
    assert run.reason == "end_turn"
    assert "no network" in " ".join(message.text for message in run.messages)


@pytest.mark.parametrize("approved", [True, False])
async def test_a_tool_that_asks_first_is_used_and_asks(approved: bool) -> None:
    orders: list[tuple[str, float]] = []
    asked: list[dict[str, Any]] = []

    @tool(approval="ask")
    def order(item: str, euros: float) -> str:
        """Order something from the supplier."""
        orders.append((item, euros))
        return f"Ordered: {item}."

    async def answer(request: ApprovalRequested) -> Answer:
        asked.append(request.args)
        return Answer(approved)

    handle = agent(tools=[*file_tools("create_file"), order]).start(BAKERY)
    handle.approve_with(answer)
    run = await handle
    assert asked == [{"item": "bakery", "euros": 1}]
    assert called(run) == ["order", "create_file"]
    assert "`order`. It needs your approval" in run.own_messages[1].text
    assert orders == ([("bakery", 1)] if approved else [])
    assert ("order: Ordered: bakery." in Page(run.html or "").text) == approved
    assert ("`order` was called once, with approval." in run.text) == approved
    assert ("`order` did not run" in run.text) != approved


async def test_with_nobody_to_ask_it_says_that_the_tool_did_not_run() -> None:
    @tool(approval="ask")
    def launch(where: str) -> str:
        """Launch something."""
        raise AssertionError("called")

    run = await agent(tools=[*file_tools("create_file"), launch]).run(BAKERY)
    assert called(run) == ["launch", "create_file"]
    assert "`launch` was not approved, so it did not run" in spoken(run)
    assert "nobody is there to ask" in spoken(run)
    assert "answered" not in spoken(run)
    assert "launch" not in Page(run.html or "").text


SMALL, LARGE = b"a small image", bytes(200_000)
AS_DATA = f"data:image/png;base64,{base64.b64encode(SMALL).decode()}"


async def test_an_image_from_an_own_tool_is_on_the_page() -> None:
    @tool
    def chart(product: str) -> ToolOutput:
        """Draw a chart."""
        return ToolOutput(text="[image]", images=(Image(SMALL),))

    run = await agent(tools=[*file_tools("create_file"), chart]).run(BAKERY)
    page = Page(run.html or "")
    assert AS_DATA in page.addresses
    assert "[image]" not in page.text
    assert "`chart` was called once. The page shows its image." in run.text


async def test_what_is_not_on_the_page_is_not_claimed() -> None:
    @tool
    def poster(product: str) -> ToolOutput:
        """Draw a poster."""
        return ToolOutput(text="[image]", images=(Image(LARGE),))

    @tool
    def novel(product: str) -> str:
        """Write a novel."""
        return "It was a dark and stormy night.\nThe rain fell in torrents."

    @tool
    def silence(product: str) -> str:
        """Say nothing."""
        return ""

    run = await agent(tools=[*file_tools("create_file"), poster, novel, silence]).run(BAKERY)
    text = Page(run.html or "").text
    assert "novel: It was a dark and stormy night." in text
    assert "poster" not in text
    assert "silence" not in text
    assert "`novel` answered, and the page will show the beginning of its answer." in spoken(run)
    assert (
        "`poster` was called once. It returned an image that is too large to write into a page." in run.text
    )
    assert "`silence` was called once. It returned no text." in run.text


async def test_a_change_reports_results_without_putting_them_on_the_page() -> None:
    @tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return "Sunny, 21 degrees"

    tools = [*file_tools("create_file", "edit_file"), weather]
    first = await agent(tools=file_tools("create_file")).run(BAKERY)
    run = await agent(tools=tools).run("make it blue", base=first)
    assert called(run) == ["weather", "edit_file"]
    assert "`weather` was called once. It answered: “Sunny, 21 degrees”" in run.text
    assert "the page will show" not in spoken(run)
    assert "Sunny" not in (run.html or "")


async def test_only_tools_that_are_not_built_in_are_tried_out() -> None:
    """Whatever they are called: the demo model knows no list of names."""

    @tool(name="run_python")
    def own(code: str) -> str:
        """Run some code."""
        return "done"

    run = await agent(tools=[*Toolbox.default(), own]).run(BAKERY)
    assert called(run) == ["run_python", "create_file", "edit_file"]


@pytest.mark.parametrize("failing", ["create_file", "edit_file"])
async def test_failing_file_tools_end_the_run_sensibly(failing: str) -> None:
    async def full(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        raise ToolError("the disk is full")

    tools = [replace(tool, run=full) if tool.name == failing else tool for tool in Toolbox.default()]
    run = await agent(tools=tools).run(BAKERY)
    assert run.reason == "end_turn"
    assert len(called(run)) == len(set(called(run)))
    assert "the disk is full" in run.text


async def test_on_the_last_step_it_sums_up() -> None:
    run = await agent(limits=Limits(steps=2)).run(BAKERY)
    assert called(run) == ["create_file"]
    assert run.reason == "max_steps"
    assert "`index.html` holds **Lyon Bakery**" in run.text


SCHEMAS: list[dict[str, Any]] = [
    {"properties": {"n": {"type": "integer", "minimum": 3, "maximum": 9}}, "required": ["n"]},
    {"properties": {"n": {"type": "integer", "maximum": -4}}, "required": ["n"]},
    {"properties": {"mode": {"enum": ["slow", "fast"]}, "on": {"type": "boolean"}}, "required": ["mode", "on"]},
    {"properties": {"tags": {"type": "array", "items": {"type": "string"}, "minItems": 2}}, "required": ["tags"]},
    {"properties": {"a": {"anyOf": [{"type": "null"}, {"type": "integer"}]}}, "required": ["a"]},
    {"properties": {"p": {"$ref": "#/$defs/P"}}, "required": ["p"],
     "$defs": {"P": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}}},
    {"properties": {"free": {"type": "string"}}},
    {},
]  # fmt: skip


@pytest.mark.parametrize(
    "schema", SCHEMAS, ids=lambda schema: "-".join(schema.get("properties", {})) or "empty"
)
def test_made_up_arguments_fit_the_schema(schema: dict[str, Any]) -> None:
    whole = {"type": "object", **schema}
    made = sample_arguments(ToolSpec(name="t", description="", schema=whole), read_brief(BAKERY))
    assert made is not None
    fastjsonschema.validate(whole, made)
    assert set(made) == set(schema.get("required", ()))


def test_a_schema_that_cannot_be_guessed_is_refused() -> None:
    for odd in ({"type": "string", "pattern": "^x{40}y$"}, {"$ref": "#/none"}, {"$ref": "#/properties/a"}):
        whole = {"type": "object", "properties": {"a": odd}, "required": ["a"]}
        assert sample_arguments(ToolSpec(name="t", description="", schema=whole), read_brief(BAKERY)) is None


def plain_image(colour: str) -> Image:
    data = io.BytesIO()
    PIL.Image.new("RGB", (40, 40), colour).save(data, "PNG")
    return Image(data.getvalue())


async def test_images_are_counted_and_lend_a_colour() -> None:
    run = await agent().run("A page for a shop", images=[plain_image("#1455cc"), plain_image("red")])
    assert "You gave me 2 images." in run.text
    assert f"--h:{hue_of('#1455cc')};" in str(run.files["index.html"])


async def test_a_broken_image_is_only_counted() -> None:
    question = user("A page for a shop", Image(b"not an image"))
    request = Request(system="", messages=(question,), clock=VirtualClock(pace=0))
    *_, turn = [piece async for piece in DemoProvider(pace=0).stream(request)]
    assert isinstance(turn, Turn)
    assert "<title>The Shop</title>" in turn.message.text
