"""Pictures and stacks in runs: what the model is told, what the events carry, what a cassette asks for."""

import re

import PIL.Image
import pytest

from agent_nb import Agent
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Image
from agent_nb.images.convert import MAX_PIXELS, to_image
from agent_nb.prompts import image_text, prompt_text, stack_text
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render import TEXT, bundle
from tests.support.cassettes import PROMPT, play, record

SHOT = to_image(PIL.Image.new("RGB", (640, 400), "teal"), "shot.png")
MARKED = to_image(PIL.Image.new("RGB", (640, 400), "red"), "marked.png")
PAGE = [call("create_file", {"path": "index.html", "content": "<h1>Old</h1>"})]
CHANGE = [call("edit_file", {"path": "index.html", "old": "Old", "new": "New"})]
DONE = [text("Done.")]


def told(agent: Agent, **material) -> tuple[str, str]:
    prepared = agent.prepare(PROMPT, **material)
    return prepared.system, prepared.messages[-1].text


async def made(*turns, **material):
    with ScriptedProvider(list(turns)) as provider:
        return await Agent(provider).run(PROMPT, **material)


async def test_pictures_bring_their_text_with_them():
    agent = Agent(ScriptedProvider([]))
    system, question = told(agent, images=[SHOT])
    assert system == f"{prompt_text('system')}\n\n{prompt_text('no_look')}" == told(agent)[0]
    assert question == f"{PROMPT}\n\n{image_text(page=False)}"
    assert told(agent)[1] == PROMPT


@pytest.mark.parametrize("way", ["files", "base", "messages"])
async def test_a_page_makes_it_a_change(way: str):
    agent = Agent(ScriptedProvider([]))
    material = {
        "files": {"index.html": "<h1>Old</h1>"},
        "base": await made(PAGE, DONE) if way == "base" else None,
        "messages": [{"role": "assistant", "content": "```html\n<h1>Old</h1>\n```"}],
    }
    question = told(agent, images=[SHOT], **{way: material[way]})[1]
    assert question.endswith(image_text(page=True))
    assert image_text(page=False) not in question


async def test_a_talk_without_a_page_is_no_change():
    spoken = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello."}]
    assert told(Agent(ScriptedProvider([])), images=[SHOT], messages=spoken)[1].endswith(
        image_text(page=False)
    )


async def test_an_own_system_message_is_left_alone():
    own = [{"role": "system", "content": "You describe pictures."}]
    assert told(Agent(ScriptedProvider([])), images=[SHOT], messages=own) == (
        "You describe pictures.",
        PROMPT,
    )


async def test_what_was_sent_stays_as_it_was():
    first = await made(PAGE, DONE)
    second = await made(CHANGE, DONE, base=first, images=[MARKED])
    third = await made(DONE, base=second)
    assert first.system == second.system == third.system
    assert second.messages[: len(first.messages)] == first.messages
    assert third.messages[: len(second.messages)] == second.messages


async def test_a_stack_is_text_and_setting():
    with ScriptedProvider([PAGE, DONE]) as provider:
        run = await Agent(provider, system="Use serif type.").with_stack("vue").run(PROMPT)
    built_in = f"{prompt_text('system')}\n\n{prompt_text('no_look')}"
    assert run.system == f"{built_in}\n\n{stack_text('vue')}\n\nUse serif type."
    assert run.settings["stack"] == "vue"
    assert "stack" not in (await made(DONE)).settings


async def test_going_on_keeps_the_stack():
    with ScriptedProvider([PAGE, DONE, DONE, DONE]) as provider:
        agent = Agent(provider)
        first = await agent.with_stack("react").run(PROMPT)
        second = await agent.run(PROMPT, base=first)
        third = await agent.with_stack("vue").run(PROMPT, base=first)
    assert second.system == first.system
    assert third.settings["stack"] == "vue"


async def test_our_words_are_not_in_the_fingerprint(tmp_path, monkeypatch):
    """A conversation with a picture plays in a release that says something else about pictures."""
    paths = tmp_path / "first.run.jsonl", tmp_path / "second.run.jsonl"
    first = await record(paths[0], PAGE, DONE, material={"images": [SHOT]})
    await record(paths[1], CHANGE, DONE, material={"base": first})
    words = {"from_image": "Other words.", "change_from_image": "Again other words."}
    monkeypatch.setattr("agent_nb.prompts.prompt_text", lambda name: words.get(name) or prompt_text(name))
    again = await play(paths[0], material={"images": [SHOT]})
    assert (await play(paths[1], material={"base": again})).reason == "end_turn"


async def test_a_bad_picture_stops_before_anything_is_sent():
    side = int(MAX_PIXELS**0.5) + 1
    for bad in (b"no picture", PIL.Image.new("1", (side, side)), "film.mp4", Image(b"<svg/>")):
        with pytest.raises(ConfigError), ScriptedProvider([]) as provider:
            await Agent(provider).run(PROMPT, images=[SHOT, bad])


async def test_every_form_shows_what_was_given():
    run = await made(PAGE, DONE, images=[SHOT, to_image(MARKED.data)])
    html = bundle(run)["text/html"]
    assert re.findall(r'<img alt="([^"]+)"', html) == ["shot.png (640 x 400)", "image 2 (640 x 400)"]
    assert html.index("<img") < html.index("<details")
    assert run.to_markdown().splitlines()[2] == "- Images: shot.png (640 x 400), image 2 (640 x 400)"
    assert "  • Images: shot.png (640 x 400), image 2 (640 x 400)\n" in TEXT.render(run)


async def test_a_name_is_text_not_markup():
    run = await made(DONE, images=[Image(SHOT.data, name='"><script>')])
    assert 'alt="&quot;&gt;&lt;script&gt; (640 x 400)"' in bundle(run)["text/html"]


async def test_of_very_many_the_rest_are_named():
    run = await made(DONE, images=[SHOT] * 14)
    html = bundle(run)["text/html"]
    assert html.count("<img ") == 12
    assert html.count('<span class="anb-dim">shot.png (640 x 400)</span>') == 2
    assert len(html) < 14 * 9_000 + 8_000
