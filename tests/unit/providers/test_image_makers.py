"""OpenAI's and Gemini's image endpoints, through the real SDKs on real sockets."""

import pytest

from agent_nb.core.errors import ProviderError
from agent_nb.core.messages import Image
from agent_nb.images.maker import ASPECTS, Charge, Order
from agent_nb.providers import model
from agent_nb.providers.studio import image_makers
from agent_nb.providers.vendors import VENDORS
from tests.support.drawings import png
from tests.support.wire import Upload, gemini_image, openai_images, page, problem

KEY = "sk-test-0123456789abcdef0123"
MODELS = {"openai": "openai:gpt-6.1-sol", "gemini": "gemini:gemini-4-argon"}


@pytest.fixture
async def makers(server):
    """The makers of both vendors, asked at the loopback server."""
    made = {}
    for vendor, name in MODELS.items():
        (made[vendor],) = image_makers(
            model(name, api_key=KEY, base_url=server.base_url(VENDORS[vendor].apis[0]))
        )
    yield made
    for maker in made.values():
        await maker.close()


async def test_openai_makes_an_image(server, makers):
    server.plan(openai_images(png()))
    image = await makers["openai"].make(Order("A bakery", "16:9", transparent=True), Charge())
    assert (image.data, image.media_type) == (png(), "image/png")
    (request,) = server.requests
    assert request.path == "/v1/images/generations"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "gpt-image-2.6-sunburst",
        "prompt": "A bakery",
        "n": 1,
        "output_format": "png",
        "size": "1536x864",
        "background": "transparent",
    }


async def test_openai_sizes_fit_their_aspects(server, makers):
    server.otherwise = lambda request: openai_images(png())
    for aspect in ASPECTS:
        await makers["openai"].make(Order("A bakery", aspect), Charge())
        width, height = map(int, server.requests[-1].body["size"].split("x"))
        wide, high = map(int, aspect.split(":"))
        assert width % 16 == height % 16 == 0
        assert width * high == height * wide


async def test_openai_edits_by_multipart_upload(server, makers):
    server.plan(openai_images(png(colour="red")))
    given = (Image(png()), Image(png(8, 8), name="logo"))
    image = await makers["openai"].make(Order("Make it red", images=given), Charge())
    assert image.data == png(colour="red")
    (request,) = server.requests
    assert request.path == "/v1/images/edits"
    assert request.body["image[]"] == [
        Upload("image-1.png", "image/png", png()),
        Upload("image-2.png", "image/png", png(8, 8)),
    ]
    assert request.body["prompt"] == "Make it red"
    assert "size" not in request.body
    assert "background" not in request.body


async def test_gemini_makes_and_edits_images(server, makers):
    server.plan(gemini_image(png(), text="Here it is."), gemini_image(png(colour="red")))
    assert (await makers["gemini"].make(Order("A bakery", "21:9"), Charge())).data == png()
    order = Order("Make it red", images=(Image(png()),))
    assert (await makers["gemini"].make(order, Charge())).data == png(colour="red")
    first, second = server.requests
    assert first.path.startswith("/v1/models/gemini-nano-banana-2.1:generateContent")
    assert first.headers["x-goog-api-key"] == KEY
    assert first.body["generationConfig"]["imageConfig"] == {"aspectRatio": "21:9"}
    assert first.body["generationConfig"]["responseModalities"] == ["TEXT", "IMAGE"]
    assert "imageConfig" not in second.body["generationConfig"]
    assert second.body["contents"][0]["parts"][0] == {"text": "Make it red"}
    assert "inlineData" in second.body["contents"][0]["parts"][1]


BLOCKED = "Your request was rejected by the safety system."
FAULTS = [
    ("openai", problem(400, BLOCKED, code="moderation_blocked"), rf"refused the request \(400\): {BLOCKED}"),
    ("openai", problem(401, f"Incorrect API key provided: {KEY}"), r"OpenAI refused the key: .* •••"),
    ("openai", problem(404, "The model does not exist"), "OpenAI has no model 'gpt-image-2.6-sunburst'"),
    ("openai", openai_images(), "OpenAI answered without an image"),
    ("openai", page(), "answered with a web page"),
    ("gemini", gemini_image(finish="IMAGE_SAFETY"), "Gemini declined to make this image: IMAGE_SAFETY"),
    (
        "gemini",
        gemini_image(promptFeedback={"blockReason": "PROHIBITED_CONTENT"}),
        "Gemini declined to make this image: PROHIBITED_CONTENT",
    ),
    ("gemini", gemini_image(text="I cannot draw that"), "answered without an image: I cannot draw that"),
    ("gemini", problem(400, "API key not valid."), "Gemini refused the key"),
    ("gemini", page(), "answered with a web page"),
]


@pytest.mark.parametrize(("vendor", "answer", "message"), FAULTS)
async def test_a_failure_is_a_clear_sentence(server, makers, vendor, answer, message):
    server.plan(answer)
    with pytest.raises(ProviderError, match=message) as caught:
        await makers[vendor].make(Order("A bakery"), Charge())
    assert not caught.value.retryable
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("vendor", MODELS)
async def test_a_rate_limit_may_be_tried_again(server, makers, vendor):
    server.plan(problem(429, "Slow down", {"retry-after": "3"}))
    with pytest.raises(ProviderError, match="is limiting the rate") as caught:
        await makers[vendor].make(Order("A bakery"), Charge())
    assert (caught.value.retryable, caught.value.retry_after) == (True, 3.0)
    assert len(server.requests) == 1


async def test_a_dropped_connection_may_be_tried_again(makers, server):
    await server.stop()
    for maker in makers.values():
        with pytest.raises(ProviderError, match="cannot be reached") as caught:
            await maker.make(Order("A bakery"), Charge())
        assert caught.value.retryable
