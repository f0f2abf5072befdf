"""The image tools: images become files, failures are reported one by one, and nothing else is touched."""

import asyncio
import base64
from typing import Any

import PIL.Image
import pytest

from agent_nb.core.messages import Image
from agent_nb.images.cutout import LIMITS
from agent_nb.providers import model
from agent_nb.providers.studio import studio_for
from agent_nb.providers.vendors import VENDORS
from agent_nb.tools import Toolbox, image_tools
from tests.support.drawings import as_image, encoded, on_ground, opened, png
from tests.support.tool_desk import KEY, Desk
from tests.support.wire import Reply, gemini_image, openai_images, problem


@pytest.fixture
async def vendors(server):
    """Desks on the real makers, asked at the loopback server."""
    made = {
        vendor: studio_for(
            model(f"{vendor}:", api_key=KEY, base_url=server.base_url(VENDORS[vendor].apis[0]))
        )
        for vendor in ("openai", "gemini")
    }
    yield made
    for studio in made.values():
        await studio.close()


def wanted(*names: str, **more: Any) -> list[dict[str, Any]]:
    return [{"prompt": f"A {name}", "path": f"assets/{name}.png", **more} for name in names]


async def test_what_is_shown_stays_small():
    noise = PIL.Image.effect_noise((1200, 900), 90).convert("RGB")
    desk = Desk(images=[as_image(noise)])
    output = await desk.call("save_assets", assets=[{"source": "input:1", "path": "a.png"}])
    (bundle,), (shown,) = output.outputs, output.images
    ((kind, thumbnail), _) = bundle.items()
    assert kind == "image/jpeg"
    assert len(thumbnail) <= 32_000
    assert max(opened(base64.b64decode(thumbnail)).size) <= 256
    assert max(opened(shown).size) <= 768
    assert len(shown.data) <= 150_000
    assert desk.files.size("a.png") > 900_000


async def test_images_are_made_together(server, vendors):
    answer = openai_images(png())
    server.plan(*[Reply(headers=answer.headers, body=answer.body, silent=True)] * 3)
    desk = Desk(studio=vendors["openai"])
    under_way = asyncio.create_task(desk.call("generate_images", images=wanted("a", "b", "c")))
    await server.arrival(2)
    assert not desk.files
    for request in server.requests:
        request.let_go.set()
    await under_way
    assert len(desk.files) == 3


async def test_partial_failures_are_told_per_image(server, vendors):
    def answer(request):
        if "bad" in request.body["prompt"]:
            return problem(400, "Rejected by the safety system.", code="moderation_blocked")
        return openai_images(png())

    server.otherwise = answer
    desk = Desk(studio=vendors["openai"])
    output = await desk.call("generate_images", images=wanted("a", "bad", "c"))
    assert list(desk.files) == ["assets/a.png", "assets/c.png"]
    assert output.summary.endswith("; failed: assets/bad.png")
    assert output.summary.startswith("2 of 3 images with openai:gpt-image-2.6-sunburst")
    assert "assets/bad.png: failed: OpenAI refused the request (400): Rejected by the" in output.text
    assert len(output.images) == len(output.outputs) == 2
    assert desk.lines == ["1 of 3", "2 of 3", "3 of 3"]


async def test_when_all_fail_the_call_fails(server, vendors):
    server.otherwise = lambda request: problem(401, f"Incorrect API key provided: {KEY}")
    error = await Desk(studio=vendors["openai"]).fail("generate_images", images=wanted("a", "b"))
    assert error.message.startswith("OpenAI refused the key")
    assert KEY not in str(error)


async def test_a_busy_vendor_is_asked_again(server, vendors):
    server.plan(problem(429, "Slow down", {"retry-after": "0"}), openai_images(png()))
    desk = Desk(studio=vendors["openai"])
    await desk.call("generate_images", images=wanted("a"))
    assert len(server.requests) == 2
    assert "assets/a.png" in desk.files


async def test_patience_ends_after_three_tries(server, vendors):
    server.otherwise = lambda request: problem(429, "Slow down", {"retry-after": "0"})
    error = await Desk(studio=vendors["openai"]).fail("generate_images", images=wanted("a"))
    assert "is limiting the rate (429)" in error.message
    assert len(server.requests) == 3


async def test_an_image_that_never_comes_fails(server, vendors, monkeypatch):
    monkeypatch.setattr(image_tools, "SECONDS", 0.3)
    server.plan(Reply(silent=True))
    error = await Desk(studio=vendors["openai"]).fail("generate_images", images=wanted("slow"))
    assert error.message == "The image took longer than 0.3 seconds."


async def test_transparency_without_a_maker_of_it(server, vendors):
    """Gemini has no transparent background: a plain one is asked for and cut out."""
    drawn, _ = on_ground(PIL.Image.new("RGB", (120, 90), "white"), _disc)
    server.plan(gemini_image(encoded(drawn)))
    desk = Desk(studio=vendors["gemini"])
    await desk.call("generate_images", images=wanted("loaf", transparent=True))
    assert "single-coloured background" in server.requests[0].body["contents"][0]["parts"][0]["text"]
    assert opened(desk.files["assets/loaf.png"]).getpixel((0, 0))[3] == 0


async def test_edit_sends_the_file_and_saves(server, vendors):
    server.plan(openai_images(png(colour="red")))
    desk = Desk({"a.png": png()}, images=[Image(png(8, 8))], studio=vendors["openai"])
    output = await desk.call("edit_image", source="a.png", also=["input:1"], prompt="Red", path="b.jpg")
    uploads = [upload.data for upload in server.requests[0].body["image[]"]]
    assert uploads == [png(), png(8, 8)]
    assert opened(desk.files["b.jpg"]).format == "JPEG"
    assert output.text.endswith("Edited with openai:gpt-image-2.6-sunburst.")
    assert desk.files["a.png"] == png()


async def test_nobody_edits_without_a_key():
    error = await Desk({"a.png": png()}).fail("edit_image", source="a.png", prompt="Red", path="a.png")
    assert error.message == "Images cannot be edited here: that needs a key for OpenAI or Gemini."


async def test_openai_removes_a_background(server, vendors):
    server.plan(openai_images(encoded(PIL.Image.new("RGBA", (30, 30)))))
    desk = Desk({"a.png": png()}, studio=vendors["openai"])
    output = await desk.call("remove_background", source="a.png", path="cut.png")
    form = server.requests[0].body
    assert (form["background"], form["output_format"]) == ("transparent", "png")
    assert opened(desk.files["cut.png"]).mode == "RGBA"
    assert "details may differ" in output.text


async def test_the_local_cut_says_its_limits():
    drawn, _ = on_ground(PIL.Image.new("RGB", (120, 90), "white"), _disc)
    desk = Desk({"a.png": encoded(drawn)})
    output = await desk.call("remove_background", source="a.png", path="cut.webp")
    assert output.text.endswith(LIMITS)
    cut = opened(desk.files["cut.webp"])
    assert (cut.format, cut.getpixel((2, 2))[3], cut.getpixel((60, 45))[3]) == ("WEBP", 0, 255)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (wanted(*"abcdefghi"), "images"),
        ([], "images"),
        ([{"prompt": "x", "path": "a.gif"}], "a.gif is not the path of an image."),
        ([{"prompt": "x", "path": "a.jpg", "transparent": True}], "a.jpg: JPEG has no transparency."),
        (wanted("a", "a"), "Two images have the same path"),
        ([{"prompt": "  ", "path": "a.png"}], "A prompt is empty"),
        ([{"prompt": "x", "path": "../a.png"}], "is outside the project"),
        (wanted("a", aspect="5:1"), "aspect"),
    ],
)
async def test_wrong_orders_are_refused_whole(images, message):
    assert message in (await Desk().fail("generate_images", images=images)).message


async def test_full_files_are_told_per_image(monkeypatch):
    desk = Desk({f"{number}.txt": "x" for number in range(199)})
    output = await desk.call("generate_images", images=wanted("a", "b"))
    assert "assets/a.png" in desk.files
    assert "assets/b.png: failed: 'assets/b.png' would be file 201" in output.text


def test_calls_name_the_paths_they_write():
    writes = {tool.name: tool.writes for tool in Toolbox.default()}
    assert writes["generate_images"]({"images": wanted("a", "b")}) == ("assets/a.png", "assets/b.png")
    assert writes["save_assets"]({"assets": [{"source": "x", "path": "./a.png"}]}) == ("a.png",)
    assert writes["edit_image"]({"source": "a.png", "path": "b.png", "prompt": "x"}) == ("b.png",)
    assert writes["edit_image"]({"path": "../b.png"}) == ()


def test_titles_count_the_images():
    titles = {tool.name: tool.title for tool in Toolbox.default()}
    assert titles["generate_images"]({}) == "make images"
    assert titles["generate_images"]({"images": wanted("a", "b")}) == "make 2 images"
    assert titles["extract_assets"]({"assets": [{}]}) == "crop an image"
    assert titles["remove_background"]({"source": "a.png"}) == "cut out a.png"


def _disc(pencil, width, height):
    pencil.ellipse((width * 0.2, height * 0.2, width * 0.8, height * 0.8), fill=255)
