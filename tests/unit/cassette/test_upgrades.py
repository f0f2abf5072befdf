"""Cassettes outlive upgrades of matplotlib and Pillow, which write the same pixels differently."""

import io

import PIL.Image
import pytest
from PIL.PngImagePlugin import PngInfo

from agent_nb import Agent
from agent_nb.errors import CassetteError
from agent_nb.messages import Image
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.cassettes import PROMPT, play, record


@pytest.fixture
def tape(tmp_path):
    return tmp_path / "hero.run.jsonl"


def png(software: str, colour: str = "teal", level: int = 6) -> Image:
    """A chart as a release of a library writes it."""
    about = PngInfo()
    about.add_text("Software", software)
    file = io.BytesIO()
    PIL.Image.new("RGB", (64, 40), colour).save(file, "PNG", pnginfo=about, compress_level=level)
    return Image(file.getvalue(), name="chart")


OLD, NEW = png("Matplotlib version3.9.0"), png("Matplotlib version3.11.2", level=1)


async def test_an_image_matches_by_its_pixels(tape):
    await record(tape, [text("ok")], material={"images": [OLD]})
    assert (await play(tape, material={"images": [NEW]})).text == "ok"
    for images in ([png("Matplotlib version3.9.0", "red")], [NEW, NEW], []):
        with pytest.raises(CassetteError, match="other images"):
            await play(tape, material={"images": images})


def test_the_pixels_do_not_change_which_saved_runs_of_a_map_are_found():
    images = Agent(ScriptedProvider([])).prepare(PROMPT, images=[OLD]).fingerprint()["images"]
    assert [list(image) for image in images] == [["name", "sha256"]]
