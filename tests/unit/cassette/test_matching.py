"""Whether a cassette is for a request, and what differs if it is not."""

import io
import json
import logging
import re

import PIL.Image
import pytest
from PIL.PngImagePlugin import PngInfo

from agent_nb import Agent, load, replay
from agent_nb.core.errors import CassetteError
from agent_nb.core.messages import Image, Text, assistant
from agent_nb.core.run_settings import DERIVED, SETTINGS, TYPED
from agent_nb.engine.prepared import history_digest
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import Toolbox
from tests.support.cassettes import PROMPT, facts, play, record
from tests.support.pdf import pdf_of
from tests.support.scripts import write
from tests.unit.cassette.test_cassette import PIXEL, counting
from tests.unit.cassette.test_damaged import CASSETTES
from tests.unit.core.test_run_settings import VALUES


async def test_our_own_half_is_only_noted(tape, caplog):
    run = await record(tape, [write()], [text("ok")])
    head, *rows = tape.read_text().splitlines()
    header = json.loads(head)
    header["fingerprint"]["ours"] = {"prompts": {}, "tools": {}, "versions": {"agent-nb": "0.0.1"}}
    tape.write_text("\n".join([json.dumps(header), *rows]))
    with caplog.at_level(logging.INFO, logger="agent_nb"):
        assert facts(await play(tape)) == facts(run)
    assert "recorded with other prompts, tools, versions" in caplog.text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"prompt": "A page for a butcher"},
            "another prompt (“…page for a bakery” then, “…page for a butcher” now)",
        ),
        ({"material": {"files": {"index.html": "<p>"}}}, "another file `index.html`"),
        ({"material": {"images": [PIXEL]}}, "other images or PDFs (0 then; now dot)"),
        ({"material": {"images": [pdf_of("Hello")]}}, "other images or PDFs (0 then; now document.pdf)"),
        ({"material": {"messages": [assistant("Hello")]}}, "another conversation before this prompt"),
        ({"system": "In French."}, "another system text of yours"),
        ({"tools": [*Toolbox.default(), counting()[0]]}, "another tool `count_guests`"),
    ],
)
async def test_another_request_says_what_differs(tape, change, says):
    await record(tape, [write()], [text("ok")])
    with pytest.raises(CassetteError) as raised:
        await play(tape, **change)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    "name", [name for name, row in SETTINGS.items() if callable(row.matched) and name in TYPED - DERIVED]
)
async def test_every_setting_that_changes_the_request_must_match(tape, tmp_path, name):
    value, differs = VALUES[name], SETTINGS[name].matched
    await record(tape, [write()], [text("ok")])
    other = tmp_path / "other.run.jsonl"
    agent = Agent(ScriptedProvider([[text("ok")]])).replace(**{name: value})
    await agent.recording(other).run(PROMPT)
    with pytest.raises(CassetteError, match=re.escape(f"with {differs(None, value)}")):
        await Agent(replay(tape)).replace(**{name: value}).run(PROMPT)
    with pytest.raises(CassetteError, match=re.escape(f"with {differs(value, None)}")):
        await Agent(replay(other)).run(PROMPT)
    assert (await Agent(replay(other)).replace(**{name: value}).run(PROMPT)).text == "ok"


async def test_the_type_of_an_answer_must_match(tape):
    await record(tape, [call("final_answer", {"slope": 1.5})], answer="slope: float")
    with pytest.raises(
        CassetteError, match=re.escape("with another answer (`slope: number` then, `text` now)")
    ):
        await Agent(replay(tape)).run(PROMPT)
    assert (await Agent(replay(tape), answer="slope: float").run(PROMPT)).answer == {"slope": 1.5}


def test_lessons_recorded_without_origins_still_match():
    shop, second = (load(CASSETTES / f"{name}.run.jsonl") for name in ("shop", "shop-2"))
    assert second.fingerprint["yours"]["history"] == history_digest(shop.messages)
    texts = [part for part in second.messages[4].parts if isinstance(part, Text)]
    assert [text.origin for text in texts] == [None, "images", "images"]


def png(software: str, colour: str = "teal", level: int = 6) -> Image:
    """A chart as a release of a library writes it."""
    about = PngInfo()
    about.add_text("Software", software)
    file = io.BytesIO()
    PIL.Image.new("RGB", (64, 40), colour).save(file, "PNG", pnginfo=about, compress_level=level)
    return Image(file.getvalue(), name="chart")


async def test_an_image_matches_by_its_pixels(tape):
    """Other releases of matplotlib and Pillow write the same pixels differently."""
    old, new = png("Matplotlib version3.9.0"), png("Matplotlib version3.11.2", level=1)
    await record(tape, [text("ok")], material={"images": [old]})
    assert (await play(tape, material={"images": [new]})).text == "ok"
    for images in ([png("Matplotlib version3.9.0", "red")], [new, new], []):
        with pytest.raises(CassetteError, match="other images"):
            await play(tape, material={"images": images})
    [entry] = Agent(ScriptedProvider([])).prepare(PROMPT, images=[old]).fingerprint()["images"]
    assert [*entry] == ["name", "sha256"], "the pixels do not change which saved runs of a map are found"
