"""Images as files: cropped, saved and checked; bad ones are reported to the model, and nothing else is touched."""

import base64

import pytest

from agent_nb.core.messages import Image
from agent_nb.providers import model
from agent_nb.providers.studio import studio_for
from tests.support.drawings import as_image, opened, png, screenshot
from tests.support.tool_desk import KEY, Desk


async def test_crops_are_what_the_box_holds():
    desk = Desk(images=[as_image(screenshot())])
    output = await desk.call(
        "extract_assets",
        padding=0,
        assets=[
            {"box": [700, 400, 800, 600], "path": "assets/square.png"},
            {"box": [0, 0, 500, 1000], "path": "assets/left.jpg", "source": "input:1"},
        ],
    )
    square, left = opened(desk.files["assets/square.png"]), opened(desk.files["assets/left.jpg"])
    assert (square.size, square.getcolors()) == ((40, 40), [(1600, (255, 255, 0))])
    assert (left.size, left.format) == ((200, 200), "JPEG")
    assert output.summary == "2 of 2 images from the screenshot"


async def test_padding_stops_at_the_edge():
    desk = Desk(images=[as_image(screenshot())])
    assets = [
        {"box": [700, 400, 800, 600], "path": "inside.png"},
        {"box": [0, 0, 100, 1000], "path": "edge.png"},
    ]
    await desk.call("extract_assets", padding=10, assets=assets)
    assert opened(desk.files["inside.png"]).size == (60, 60)
    assert opened(desk.files["edge.png"]).size == (50, 200)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ([0, 0, 1200, 500], "The box [0, 0, 1200, 500] is not inside the image."),
        ([-5, 0, 100, 100], "is not inside the image."),
        ([500, 0, 400, 100], "is not inside the image."),
        ([5, 5, 5, 5], "is not inside the image."),
        ([500, 500, 501, 501], "is too small"),
    ],
)
async def test_boxes_outside_are_refused(box, message):
    desk = Desk(images=[as_image(screenshot())])
    error = await desk.fail("extract_assets", padding=0, assets=[{"box": box, "path": "a.png"}])
    assert message in error.message
    assert "400 x 200" in str(error)


async def test_one_bad_box_leaves_the_others():
    desk = Desk(images=[as_image(screenshot())])
    assets = [
        {"box": [0, 0, 2000, 500], "path": "bad.png"},
        {"box": [0, 0, 500, 500], "path": "good.png"},
        {"box": [0, 0, 500, 500], "path": "none.png", "source": "input:2"},
    ]
    output = await desk.call("extract_assets", assets=assets)
    assert list(desk.files) == ["good.png"]
    assert "bad.png: failed: The box [0, 0, 2000, 500] is not inside the image." in output.text
    assert "none.png: failed: There is no image input:2: the user gave 1." in output.text


async def test_save_takes_inputs_and_data_urls():
    url = "data:image/png;base64," + base64.b64encode(png(9, 9)).decode()
    desk = Desk({"old.png": png(7, 7)}, images=[Image(png(8, 8))])
    assets = [
        {"source": "input:1", "path": "a.png"},
        {"source": url, "path": "b.webp"},
        {"source": "old.png", "path": "c.png"},
    ]
    await desk.call("save_assets", assets=assets)
    assert [opened(desk.files[path]).size[0] for path in ("a.png", "b.webp", "c.png")] == [8, 9, 7]
    assert desk.files["a.png"] == png(8, 8)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("https://127.0.0.1/a.png", "is a private address"),
        ("http://example.org/a.png", "Images are fetched over https only, not http."),
        ("/etc/hosts", "is absolute"),
        ("../secret.png", "is outside the project"),
        ("data:image/png;base64,!!!", "not valid base64"),
        ("nowhere.png", "There is no image nowhere.png."),
    ],
)
async def test_save_refuses_what_it_must(source, message):
    desk = Desk(studio=studio_for(model("openai:", api_key=KEY)))
    error = await desk.fail("save_assets", assets=[{"source": source, "path": "a.png"}])
    assert message in str(error)


async def test_nothing_is_fetched_offline():
    error = await Desk().fail(
        "save_assets", assets=[{"source": "https://example.org/a.png", "path": "a.png"}]
    )
    assert error.message == "This run is offline: nothing is fetched from the internet."


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("text.png", "<h1>Hi</h1>", "text.png is a text file, not an image."),
        ("cut.png", png(300, 300)[:-300], "'cut.png' is damaged or truncated."),
    ],
)
async def test_bad_images_are_reported_to_the_model(name, content, message):
    error = await Desk({name: content}).fail("remove_background", source=name, path="cut.png")
    assert message in error.message


async def test_an_unknown_path_names_the_nearest():
    error = await Desk({"assets/hero.png": png()}).fail(
        "remove_background", source="assets/her.png", path="a.png"
    )
    assert str(error) == ("There is no image assets/her.png. Images: assets/hero.png.")
