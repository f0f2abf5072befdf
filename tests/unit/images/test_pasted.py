"""Images that the user pastes: always a new file in `images/`, and only what can be read as an image."""

import base64
import io

import PIL.Image
import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.images.pasted import MAX_BYTES, save_pasted


def encoded(kind: str, size=(40, 30)) -> str:
    buffer = io.BytesIO()
    PIL.Image.new("RGB", size, "teal").save(buffer, kind)
    return base64.b64encode(buffer.getvalue()).decode()


PNG = encoded("PNG")
OUTSIDE = "my own file"


@pytest.mark.parametrize(
    ("kind", "suffix"), [("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp"), ("GIF", "png")]
)
def test_it_is_a_new_file_that_can_be_read(tmp_path, kind, suffix):
    (tmp_path / "images").mkdir()
    taken = tmp_path / "images" / f"hero-1.{suffix}"
    taken.symlink_to(tmp_path / "nowhere")
    for number in (2, 3):
        path, thumbnail = save_pasted(encoded(kind), "hero", tmp_path)
        assert path == f"images/hero-{number}.{suffix}"
        for data in ((tmp_path / path).read_bytes(), thumbnail):
            assert PIL.Image.open(io.BytesIO(data)).size == (40, 30)
    assert taken.is_symlink()
    assert not taken.exists()


@pytest.mark.parametrize("name", ["../hero", "a/b", "hero\n", "", "-x", ".x", "x" * 61, "con:", "a b"])
def test_a_name_is_part_of_the_path_only_if_it_is_one_word(tmp_path, name):
    assert save_pasted(PNG, name, tmp_path)[0] == "images/image-1.png"
    assert save_pasted(PNG, "größe", tmp_path)[0] == "images/größe-1.png"


def test_what_is_no_whole_image_is_refused_in_a_sentence_and_leaves_no_file(tmp_path):
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    whole = base64.b64decode(encoded("PNG", (400, 300)))
    kinds = [
        svg,
        b"#!/bin/sh\n",
        b"",
        whole[:-40],
        whole[:20],
        b"RIFF1234WEBP",
        base64.b64decode(encoded("BMP")),
    ]
    texts = [
        *(base64.b64encode(data).decode() for data in kinds),
        "not base64!",
        PNG[:-1],
        f" {PNG}",
        "é" + PNG,
    ]
    for text in [*texts, "A" * (MAX_BYTES * 4 // 3 + 8)]:
        with pytest.raises(ConfigError, match=r"\.$"):
            save_pasted(text, "hero", tmp_path)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("is_file", [False, True])
def test_nothing_is_written_outside(tmp_path, tmp_path_factory, is_file):
    outside = tmp_path_factory.mktemp("outside")
    if is_file:
        (tmp_path / "images").write_text(OUTSIDE)
    else:
        (tmp_path / "images").symlink_to(outside)
    with pytest.raises(ConfigError, match="not saved in images/"):
        save_pasted(PNG, "hero", tmp_path)
    assert [*outside.iterdir()] == []
