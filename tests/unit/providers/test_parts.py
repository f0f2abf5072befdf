"""Small forms that several vendors share."""

import base64
import io

import pytest
from PIL import Image as Picture

from agent_nb.messages import Image, Source
from agent_nb.providers.parts import arguments_object, base64_of, data_url, source_text


def image(width: int, height: int) -> Image:
    buffer = io.BytesIO()
    Picture.new("RGB", (width, height), "red").save(buffer, "PNG")
    return Image(buffer.getvalue())


def test_an_image_is_base64_without_breaks():
    assert base64.b64decode(base64_of(Image(bytes(range(256))))) == bytes(range(256))
    assert "\n" not in base64_of(Image(bytes(500)))


def test_a_data_url_holds_an_image_that_fits():
    kind, _, data = data_url(image(400, 200), 100, 1_000_000).partition(";base64,")
    assert kind.startswith("data:image/")
    assert Picture.open(io.BytesIO(base64.b64decode(data))).size == (100, 50)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"path": "a"}', {"path": "a"}),
        ("", {}),
        ("[1, 2]", {"value": [1, 2]}),
        ("null", {"value": None}),
        ('{"path": ', {"invalid_json": '{"path": '}),
    ],
)
def test_arguments_are_always_an_object(text, value):
    assert arguments_object(text) == value


def test_a_source_reads_as_a_link():
    assert source_text(Source("Bread", "https://a.example")) == "[Bread](https://a.example)"
    assert source_text(Source("Bread", "https://a.example", "Flour.")) == "[Bread](https://a.example): Flour."
