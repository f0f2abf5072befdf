"""`retrieve_option`: the files of the other variants, read without changing one's own."""

import pytest

from agent_nb import Agent, model
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.tools import Toolbox
from tests.support.scripts import run_script, write


@pytest.fixture
async def three():
    return await Agent(model("demo:", pace=0)).start_variants("A landing page for a bakery", variants=3)


async def after(base, *turns, **settings):
    return await run_script(*turns, prompt="Take the colours of option 2", **settings, base=base)


async def test_the_model_reads_another_option(three):
    run = await after(three.pick(3), [call("retrieve_option", {"number": 2})], [text("Done.")])
    (use,) = run.tool_uses
    assert three.variants[1].html in use.result.text
    assert use.title == "look at variant 2"
    assert run.files == three.variants[2].files


async def test_a_missing_file_names_those_there_are(three):
    run = await after(three, [call("retrieve_option", {"number": 2, "path": "x.css"})], [text("Done.")])
    assert "Option 2 has no file 'x.css'." in run.tool_uses[0].result.text
    assert "Its files: index.html." in run.tool_uses[0].result.text


@pytest.mark.parametrize("number", [0, 4])
async def test_a_wrong_number_is_told_to_the_model(three, number):
    run = await after(three, [call("retrieve_option", {"number": number})], [text("Done.")])
    (use,) = run.tool_uses
    assert use.result.code == ("SCHEMA" if number == 0 else "FAILED")


async def test_the_model_is_told_which_option_it_has(three):
    run = await after(three.pick(2), [text("Done.")])
    assert "There are 3 options" in run.own_messages[0].text
    assert "those of option 2" in run.own_messages[0].text
    assert "retrieve_option" in run.settings["tools"]


async def test_it_is_offered_only_where_there_are_options(three):
    alone = await after(await Agent(model("demo:", pace=0)).run("A form"), [text("Done.")])
    assert "retrieve_option" not in alone.settings["tools"]
    assert "retrieve_option" in Toolbox.default()


async def test_an_option_with_binary_files_is_readable():
    with ScriptedProvider([[write()], [write()], [text("a")], [text("b")]]) as provider:
        race = await Agent(provider).start_variants("A page", files={"a.png": b"\x89PNG"}, variants=2)
    run = await after(race, [call("retrieve_option", {"number": 2})], [text("Done.")])
    assert "--- a.png ---\n(4 bytes, binary)" in run.tool_uses[0].result.text
