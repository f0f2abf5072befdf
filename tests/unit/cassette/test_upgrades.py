"""Cassettes outlive upgrades of matplotlib, Pillow and pandas, which describe the same values differently."""

import io
import json
import re

import PIL.Image
import pytest
from PIL.PngImagePlugin import PngInfo

from agent_nb import Agent
from agent_nb.errors import CassetteError
from agent_nb.messages import Image, user
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.cassettes import PROMPT, play, record

PANDAS_2 = "Draw DataFrame with 2 rows and 3 columns\n- town: object\n- day: datetime64[ns]\n- at: datetime64[ns, UTC]"
PANDAS_3 = PANDAS_2.replace("object", "str").replace("[ns", "[us")
NOW = PANDAS_3.replace("[us, ", "[").replace("[us]", "")


@pytest.fixture
def tape(tmp_path):
    return tmp_path / "hero.jsonl"


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


async def test_a_cassette_without_pixels_matches_by_the_bytes(tape):
    await record(tape, [text("ok")], material={"images": [OLD]})
    tape.write_text(re.sub(r', "pixels": "\w+"', "", before := tape.read_text()))
    assert tape.read_text() != before
    assert (await play(tape, material={"images": [OLD]})).text == "ok"
    with pytest.raises(CassetteError, match="other images"):
        await play(tape, material={"images": [NEW]})


def test_the_pixels_do_not_change_which_saved_runs_of_a_map_are_found():
    images = Agent(ScriptedProvider([])).prepare(PROMPT, images=[OLD]).fingerprint()["images"]
    assert [list(image) for image in images] == [["name", "sha256"]]


@pytest.mark.parametrize("recorded", [PANDAS_2, PANDAS_3, NOW])
async def test_a_prompt_matches_whatever_pandas_called_its_types(tape, recorded):
    await record(tape, [text("ok")], prompt=recorded)
    assert (await play(tape, NOW)).text == "ok"
    await record(tape, [text("again")], prompt=NOW)
    with pytest.raises(CassetteError, match="another prompt"):
        await play(tape, NOW.replace("town", "city"))


async def test_a_secret_in_such_a_prompt_still_matches(tape):
    await record(tape, [text("ok")], prompt=f"{PANDAS_2}\nKey sk-ant-api03-{'x9-Y' * 8}")
    assert (await play(tape, f"{NOW}\nKey sk-ant-api03-{'x9-Y' * 8}")).text == "ok"


@pytest.mark.parametrize("recorded", [PANDAS_2, PANDAS_3, NOW])
async def test_a_conversation_matches_whatever_pandas_called_its_types(tape, recorded):
    await record(tape, [text("ok")], material={"messages": [user(recorded)]})
    assert (await play(tape, material={"messages": [user(NOW)]})).text == "ok"
    assert json.loads(tape.read_text().splitlines()[1])["yours"]["history"]
    with pytest.raises(CassetteError, match="another conversation"):
        await play(tape, material={"messages": [user(NOW.replace("town", "city"))]})
