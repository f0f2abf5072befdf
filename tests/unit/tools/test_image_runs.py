"""Runs that make images: which tools are offered, what the run keeps, and that a cassette plays it again."""

import asyncio

import PIL.Image
import pytest

from agent_nb import Agent, Run, load
from agent_nb.core.events import FileChanged, ToolProgress
from agent_nb.core.messages import ToolResult
from agent_nb.providers import model
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import Toolbox
from tests.support.drawings import as_image, opened, png, screenshot
from tests.support.scripts import of, write
from tests.support.tool_desk import KEY
from tests.support.wire import Call, Reply, Say, WireServer, openai_images, reply

PAGE = '<!doctype html><img src="assets/hero.png"><div style="background:url(\'assets/oven.png\')">x</div>'
IMAGES = [
    {"prompt": "A warm bakery", "path": "assets/hero.png", "aspect": "16:9"},
    {"prompt": "An oven", "path": "assets/oven.png"},
]
SCRIPT = (
    [call("generate_images", {"images": IMAGES}, id="c1")],
    [call("remove_background", {"source": "input:1", "path": "cut.png"}, id="c2")],
    [call("extract_assets", {"assets": [{"box": [700, 400, 800, 600], "path": "assets/dot.png"}]}, id="c3")],
    [write(content=PAGE)],
    [text("A page with placeholders.")],
)
SHOT = as_image(screenshot(), "shot.png")


async def run_script() -> Run:
    with ScriptedProvider(list(SCRIPT)) as provider:
        return await Agent(provider).run("A page for a bakery", images=[SHOT])


def offered(provider, tools=None, **material) -> list[str]:
    return [spec.name for spec in Agent(provider, tools=tools).prepare("A page", **material).tools]


def test_tools_that_cannot_serve_are_not_offered():
    names = offered(ScriptedProvider([]))
    assert names == [tool.name for tool in Toolbox.default() if not tool.needs]
    assert {"generate_images", "remove_background", "save_assets"} <= set(names)
    assert not {"edit_image", "extract_assets"} & set(names)


def test_images_in_the_prompt_can_be_cropped():
    assert "extract_assets" in offered(ScriptedProvider([]), images=[SHOT])


def test_a_vendor_of_images_edits_them(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    assert "edit_image" in offered(ScriptedProvider([]))
    assert "edit_image" not in offered(model("demo:"))


def test_tools_that_were_given_stay():
    given = list(Toolbox.default())
    assert offered(ScriptedProvider([]), given) == [tool.name for tool in given]
    assert offered(ScriptedProvider([]), []) == []


async def test_pictures_are_files_of_the_run_and_the_model_sees_them():
    run = await run_script()
    assert run.reason == "end_turn"
    # The screenshot's border is half red and half blue: no plain background, and the model is told.
    assert [use.ok for use in run.tool_uses] == [True, False, True, True]
    assert list(run.files) == ["assets/hero.png", "assets/oven.png", "assets/dot.png", "index.html"]
    assert opened(run.files["assets/hero.png"]).size == (960, 540)
    changes = [(change.path, change.call_id, change.media_type) for change in of(run, FileChanged)[:3]]
    assert changes == [
        ("assets/hero.png", "c1", "image/png"),
        ("assets/oven.png", "c1", "image/png"),
        ("assets/dot.png", "c3", "image/png"),
    ]
    assert [event.text for event in of(run, ToolProgress)] == ["1 of 2", "2 of 2"]
    result = run.messages[2].parts[0]
    assert isinstance(result, ToolResult)
    assert [opened(image).size for image in result.images] == [(768, 432), (768, 768)]
    assert "do not pass it off as a photo" in result.text


async def test_the_demo_makes_no_pictures():
    run = await Agent(model("demo:", pace=0)).run("A landing page for a bakery with a photo", images=[SHOT])
    names = {use.call.name for use in run.tool_uses}
    assert names <= {"create_file", "edit_file"}
    assert run.files.entry == "index.html"


def openai_agent(server: WireServer) -> Agent:
    return Agent(model("openai:", api_key=KEY, base_url=server.base_url("responses")))


async def test_a_vendors_own_pictures_from_end_to_end():
    async with WireServer() as server, openai_agent(server) as agent:
        server.plan(
            reply(Call("generate_images", {"images": IMAGES[:1]}, id="call_a")),
            openai_images(png(1536, 864)),
            reply(Say("A page.")),
        )
        run = await agent.run("A page for a bakery")
        asked = [request.path for request in server.requests]
    assert asked == ["/v1/responses", "/v1/images/generations", "/v1/responses"]
    assert run.files["assets/hero.png"] == png(1536, 864)
    assert "placeholder" not in run.messages[2].parts[0].text
    sent = server.requests[2].body["input"][-1]["output"]
    assert [block["type"] for block in sent] == ["input_text", "input_image"]
    assert KEY not in str(list(run.events))


async def test_stop_ends_a_picture_at_once():
    async with WireServer() as server, openai_agent(server) as agent:
        server.plan(
            reply(Call("generate_images", {"images": IMAGES[:1]}, id="call_a")), Reply(body=b"", silent=True)
        )
        handle = agent.start("A page for a bakery")
        request = await server.arrival(1)
        handle.stop()
        run = await handle
        await asyncio.wait_for(request.closed.wait(), 10)
    assert (run.reason, dict(run.files)) == ("stopped", {})


CROP = call("extract_assets", {"assets": [{"box": [700, 400, 800, 600], "path": "dot.png"}]}, id="f1")


async def go_on(base: Run, *turns, **material) -> tuple[Run, str]:
    """A run that goes on, and the question it asked."""
    with ScriptedProvider(list(turns)) as provider:
        run = await Agent(provider).run("Crop the dot", base=base, **material)
    return run, provider.requests[0].messages[-1].text


async def begun() -> Run:
    with ScriptedProvider([[write(content=PAGE)], [text("Made.")]]) as provider:
        return await Agent(provider).run("A page", images=[SHOT])


@pytest.mark.parametrize("reloaded", [False, True], ids=["at once", "saved and loaded"])
async def test_a_follow_up_crops_the_earlier_picture(tmp_path, reloaded):
    first = await begun()
    if reloaded:
        first = load(first.save(tmp_path / "hero.run.json"))
    run, asked = await go_on(first, [CROP], [text("Cropped.")])
    assert "extract_assets" in run.settings["tools"]
    assert opened(run.files["dot.png"]).getpixel((24, 24)) == (255, 255, 0)
    assert asked == "Crop the dot"
    assert run.events[0].images == ()


async def test_a_pick_keeps_the_pictures():
    agent = Agent(model("demo:", pace=0))
    first = await agent.start_variants("A landing page", variants=2, images=[SHOT])
    run, _ = await go_on(first.pick(2), [CROP], [text("Cropped.")])
    assert "dot.png" in run.files


async def test_a_pictures_number_stays_its_own():
    """The third run crops the image of the second by the number it had there, and that of the first."""
    new = as_image(PIL.Image.new("RGB", (40, 40), "green"), "new.png")
    both = [{"box": [0, 0, 1000, 1000], "path": f"{n}.png", "source": f"input:{n}"} for n in (1, 2)]
    crop = call("extract_assets", {"assets": both, "padding": 0}, id="f2")
    second, asked = await go_on(await begun(), [crop], [text("Cropped.")], images=[new])
    assert "the images of this request are input:2; lower numbers are those of earlier requests." in asked
    third, asked = await go_on(second, [crop], [text("Cropped.")])
    assert "input:" not in asked
    for run in (second, third):
        assert opened(run.files["1.png"]).size == (400, 200)
        assert opened(run.files["2.png"]).size == (40, 40)


async def test_images_from_tools_are_not_the_persons():
    first = await run_script()
    run, _ = await go_on(
        first, [call("save_assets", {"assets": [{"source": "input:2", "path": "x.png"}]})], [text("No.")]
    )
    assert run.tool_uses[0].summary == "There is no image input:2: the user gave 1."
