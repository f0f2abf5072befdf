"""Every way a run may begin: a prompt, images, a stack, files, an earlier run, a conversation."""

import asyncio
import base64
import io
import itertools
import json
import re
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from agent_nb import Agent, Limits, Tool, load, read_images, tool
from agent_nb._base.text import fenced
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Document, Image, Message, ToolCall, ToolResult, ToolSpec, assistant, user
from agent_nb.engine.approval import ApprovalRules
from agent_nb.engine.compaction import compact
from agent_nb.engine.prepared import history_digest
from agent_nb.engine.run_input import files_in, images_in, page_in, to_message
from agent_nb.images.convert import MAX_PIXELS, to_image
from agent_nb.prompts import image_text, prompt_text, stack_text
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.render import TEXT, bundle
from agent_nb.tools import Toolbox, ToolContext, ToolOutput
from tests.support.cassettes import PROMPT, play, record
from tests.support.drawings import png
from tests.support.pdf import pdf_of
from tests.support.scripts import PAGE, run_script, write
from tests.support.wire.cases import RED_PNG

SHOT = to_image(PIL.Image.new("RGB", (640, 400), "teal"), "shot.png")
PAPER = pdf_of("The mean is 42")
MARKED = to_image(PIL.Image.new("RGB", (640, 400), "red"), "marked.png")
OLD_PAGE = [call("create_file", {"path": "index.html", "content": "<h1>Old</h1>"})]
CHANGE = [call("edit_file", {"path": "index.html", "old": "Old", "new": "New"})]
DONE = [text("Done.")]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        *(({"prompt": prompt}, "empty") for prompt in ("", "  \n", None)),
        ({"prompt": ["A page"]}, "The prompt is a list, not text."),
        ({"files": "<h1>"}, "`files` is a dict such as {'index.html': page}, not a str."),
        ({"base": "hero"}, "`base` is the Run to continue, not a str."),
        ({"images": 3}, "An int is not an image."),
    ],
)
async def test_what_a_run_cannot_take_is_one_sentence(given, says):
    with pytest.raises(ConfigError) as raised:
        await Agent(ScriptedProvider([])).run(**{"prompt": "go", **given})
    assert says in str(raised.value)


async def test_one_image_is_taken_as_one(tmp_path):
    shot = tmp_path / "shot.png"
    shot.write_bytes(png())
    drawn = PIL.Image.open(shot)
    one = [str(shot), shot, png(), bytearray(png()), drawn, np.asarray(drawn)]
    two = [[shot, shot], (shot, shot), iter([shot, shot]), {"a": shot, "b": shot}.values()]
    counts = []
    for images in (None, *one, *two):
        run = await run_script([text("Seen.")], prompt="Look", images=images)
        counts.append(len(images_in(run.messages)))
    assert counts == [0] + [1] * len(one) + [2] * len(two)


async def test_the_model_is_told_what_the_person_changed():
    first = await run_script([write()], [text("Made.")])
    edited = first.with_files({"index.html": PAGE.replace("Bread", "Cake"), "note.txt": "hi"})
    assert first.html == PAGE
    with ScriptedProvider([[text("I see.")]]) as provider:
        run = await Agent(provider).run("Go on", base=edited)
    question = provider.requests[0].messages[-1].text
    assert "I changed `index.html`" in question
    assert "+<!doctype html><h1>Cake</h1>" in question
    assert "I added `note.txt`" in question
    assert "Cake" in run.html


async def test_edits_of_a_run_without_files_add_up():
    first = await run_script([text("Nothing made.")])
    edited = first.with_files({"a.txt": "one"}).with_files({"b.txt": "two"})
    question = told(Agent(ScriptedProvider([])), base=edited)[1]
    assert "I added `a.txt`" in question
    assert "I added `b.txt`" in question


ROWS = "".join(f"{number},bread\n" for number in range(300_000))


def assert_is_start_of_rows(question: str) -> None:
    assert "`data.csv`:\n```csv\n0,bread\n1,bread\n" in question
    assert f"of {len(ROWS):,} characters. `read_file`" in question
    assert len(question) < 6_000
    shown = question.partition("```csv\n")[2].partition("\n```")[0]
    assert ROWS.startswith(f"{shown}\n"), "whole lines are shown"


async def test_only_the_first_lines_of_a_long_file_are_sent():
    with ScriptedProvider(
        [[call("read_file", {"path": "data.csv", "start": 9, "end": 9})], [text("ok")]]
    ) as provider:
        run = await Agent(provider).run("Draw it", files={"data.csv": ROWS, "index.html": PAGE})
    request = provider.requests[0]
    assert_is_start_of_rows(request.messages[-1].text.partition("`index.html`")[0])
    assert f"```html\n{PAGE}\n```" in request.messages[-1].text
    assert request.facts.edited == {"data.csv"}
    assert run.files["data.csv"] == ROWS
    assert run.tool_uses[0].result.text == "8,bread"


async def test_a_long_file_that_was_added_is_shortened_too():
    first = await run_script([text("Nothing made.")])
    with ScriptedProvider([[text("ok")]]) as provider:
        await Agent(provider).run("Go on", base=first.with_files({"data.csv": ROWS}))
    assert_is_start_of_rows(provider.requests[0].messages[-1].text)
    assert provider.requests[0].facts.edited == {"data.csv"}


async def test_a_long_edit_is_shortened_too():
    rows = ROWS[:60_000]
    first = await run_script([write("data.csv", rows)], [text("Made.")])
    edited = first.with_files({"data.csv": rows.replace("bread", "cake")})
    question = told(Agent(ScriptedProvider([])), base=edited)[1]
    assert "I changed `data.csv`:\n```diff\n" in question
    assert len(question) < 6_000


async def test_one_long_line_is_cut():
    question = told(Agent(ScriptedProvider([])), files={"data.json": "x" * 60_000})[1]
    assert "First 4,000 of 60,000 characters." in question


async def test_without_a_tool_to_read_it_a_long_file_is_sent_whole():
    assert ROWS in told(Agent(ScriptedProvider([]), tools=[]), files={"data.csv": ROWS})[1]


async def test_a_scripted_model_gets_files_and_edits_as_values():
    first = await run_script([write()], [write("a.css", "b{}")], [text("Made.")])
    edited = first.with_files({"index.html": PAGE + "!", "a.css": "i{}", "note.txt": "hi"})
    with ScriptedProvider([[text("I see.")]]) as provider:
        await Agent(provider).run("Go on", base=edited, files={"./a.css": "u{}"})
    facts = provider.requests[0].facts
    assert dict(facts.files) == {"index.html": PAGE + "!", "a.css": "u{}", "note.txt": "hi"}
    assert facts.edited == {"index.html"}, "the others are shown in full"
    assert not facts.summing_up


async def test_a_scripted_model_is_told_which_tools_are_the_persons_and_which_ask():
    @tool
    def free(a: int) -> int:
        return a

    @tool(approval="ask")
    def asks(a: int) -> int:
        return a

    with ScriptedProvider([[call("free", {"a": 1})], [text("Done.")]]) as provider:
        await Agent(provider, tools=[*Toolbox.default(), free, asks], limits=Limits(steps=2)).run("Go")
    facts = provider.requests[0].facts
    assert facts.own_tools == {"free", "asks"}
    assert facts.asking_tools == {"asks"}
    assert [request.facts.summing_up for request in provider.requests] == [False, True]


async def test_a_conversation_of_plain_dicts_seeds_files():
    arguments = json.dumps({"path": "index.html", "content": PAGE})
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "A page"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "function": {"name": "create_file", "arguments": arguments}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
        {"role": "assistant", "content": "Made."},
    ]
    with ScriptedProvider([[text("ok")]]) as provider:
        run = await Agent(provider, system="Speak French.").run("Now blue", messages=history)
    assert run.html == PAGE
    assert provider.requests[0].system == "Be brief.\n\nSpeak French."


@pytest.mark.parametrize("failed_first", [True, False])
async def test_a_repeated_id_means_its_own_turn(failed_first):
    def result(call_id: str, name: str, code: str | None) -> Message:
        return Message(role="tool", parts=(ToolResult(call_id=call_id, name=name, text="", code=code),))

    edit = ToolCall("call_0", "edit_file", '{"path": "a.txt", "old": "x", "new": "y"}')
    page = ToolCall("call_0", "create_file", json.dumps({"path": "index.html", "content": PAGE}))
    denied = ToolCall("call_1", "create_file", '{"path": "a.txt", "content": "not kept"}')
    results = result("call_0", "create_file", None), result("call_1", "create_file", "DENIED")
    turns = [[assistant(edit), result("call_0", "edit_file", "FAILED")], [assistant(page, denied), *results]]
    history = [user("A page"), *itertools.chain(*(turns if failed_first else reversed(turns)))]
    run = await run_script([text("ok")], prompt="Now blue", messages=history)
    assert dict(run.files) == {"index.html": PAGE}


async def test_the_page_in_a_conversation_seeds_the_file():
    history = [
        {"role": "user", "content": "A page"},
        {"role": "assistant", "content": f"```html\n{PAGE}\n```"},
    ]
    run = await run_script([text("ok")], prompt="Now blue", messages=history)
    assert run.html == PAGE


OPENED: dict[str, set[int]] = {}
"""The threads that opened each file, by its path. Only the paths that a test puts here are noted."""


def _note_opened(event: str, args: tuple) -> None:
    if event == "open" and str(args[0]) in OPENED:
        OPENED[str(args[0])].add(threading.get_ident())


sys.addaudithook(_note_opened)


@pytest.mark.parametrize("way", ["run", "stream", "start"])
async def test_images_are_read_off_the_loop(way, tmp_path):
    shot = tmp_path / "shot.png"
    shot.write_bytes(png())
    threads = OPENED[str(shot)] = set()
    with ScriptedProvider([[text("Seen.")]]) as provider:
        agent = Agent(provider)
        if way == "run":
            await agent.run("Build this", images=[shot])
        elif way == "stream":
            assert [event async for event in agent.stream("Build this", images=[str(shot)])]
        else:
            await agent.start("Build this", images=await read_images(shot))
    del OPENED[str(shot)]
    assert threads
    assert threading.get_ident() not in threads
    assert provider.requests[0].messages[-1].parts[-1].data == png()


async def test_an_array_is_read_before_the_caller_can_change_it(tmp_path):
    (tmp_path / "shot.png").write_bytes(png())
    array = np.zeros((4, 4, 3), np.uint8)
    reading = asyncio.create_task(read_images([tmp_path / "shot.png", array]))
    await asyncio.sleep(0)
    array[:] = 255
    image = (await reading)[1]
    assert PIL.Image.open(io.BytesIO(image.data)).getpixel((0, 0)) == (0, 0, 0)


async def test_our_system_text_is_inserted_once():
    with ScriptedProvider([[write()], [text("ok")]]) as provider:
        await Agent(provider, system="Speak French.").run("go")
    first, second = provider.requests
    assert first.system == second.system
    assert first.system.count("index.html") == 1
    assert first.system.endswith("Speak French.")
    assert second.messages[: len(first.messages)] == first.messages


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("Here:\n```html\n<p>Hi</p>\n```\nBye", "<p>Hi</p>"),
        ("cut off:\n```html\n<p>Hi", "<p>Hi"),
        ("<!DOCTYPE html><html><p>Hi</p></html> and so on", "<!DOCTYPE html><html><p>Hi</p></html>"),
        ("no page, only `<p>` in words", None),
        ("```html\nnothing\n```", None),
    ],
)
def test_a_page_is_found_in_a_text(text, page):
    assert page_in(text) == page


def test_a_fence_is_longer_than_those_inside():
    assert fenced("a\n```\nb").startswith("````\n")


@pytest.mark.parametrize(
    "opening",
    [
        "About the elements of this request",
        "About the images of this request",
        "Earlier in this conversation there were 9 requests, shortened here:",
        prompt_text("go_on"),
    ],
)
def test_a_prompt_that_reads_like_a_text_of_ours_is_still_the_users(opening):
    one, other = user(opening, "\n\none", RED_PNG), user(opening, "\n\nother", RED_PNG)
    assert images_in([one, other]) == (RED_PNG, RED_PNG)
    assert history_digest([user("A page"), one]) != history_digest([user("A page")])
    summary = compact([one, assistant("Long. " * 999), other], 2, Toolbox(), lambda messages: 1.0).messages[0]
    assert summary.requests == 1
    assert summary.text.count(" ".join(opening.split())[:50]) == 1


IMAGE_BLOCK = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


@pytest.mark.parametrize("content", [[{"type": "text", "text": "Look"}, IMAGE_BLOCK], [5], {"a": 1}], ids=str)
def test_content_that_would_be_lost_is_refused(content):
    with pytest.raises(ConfigError, match="Pass images as `images`"):
        to_message({"role": "user", "content": content})


@pytest.mark.parametrize("messages", ["Hello", {"role": "user", "content": "Hello"}], ids=str)
def test_a_single_message_is_no_conversation(messages):
    with pytest.raises(ConfigError, match="`messages` is a list of messages, not a"):
        Agent("demo:").prepare("go", messages=messages)


@pytest.mark.parametrize("bad", [{"content": "x"}, {"role": "robot", "content": "x"}, "hello"])
def test_a_message_needs_a_known_role(bad):
    with pytest.raises(ConfigError, match="role"):
        to_message(bad)


@pytest.mark.parametrize(
    ("fields", "runs"),
    [
        ({"repeatable": True}, True),
        ({}, False),
        ({"approval": "ask"}, False),
        ({"repeatable": True, "approval": "ask"}, False),
        ({"repeatable": True, "fetches": lambda args, context: {}}, False),
        ({"origin": "mcp:files/run_code", "approval": "ask"}, False),
    ],
)
async def test_only_repeatable_tools_that_never_ask_make_the_files_again(fields, runs):
    def run(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        context.files.write("out.txt", "made")
        return ToolOutput(text="done")

    spec = ToolSpec(name="run_code", description="Runs code.", schema={"type": "object"})
    tool = Tool(spec=spec, run=run, title=lambda args: "", writes=lambda args: ("out.txt",), **fields)
    messages = [
        assistant(ToolCall("a", "run_code", "{}")),
        Message(role="tool", parts=(ToolResult(call_id="a", name="run_code", text="done"),)),
    ]
    assert dict(await files_in(messages, Toolbox([tool]), ApprovalRules())) == (
        {"out.txt": "made"} if runs else {}
    )


def told(agent: Agent, **material) -> tuple[str, str]:
    prepared = agent.prepare(PROMPT, **material)
    return prepared.system, prepared.messages[-1].text


async def made(*turns, **material):
    return await run_script(*turns, prompt=PROMPT, **material)


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
        "base": await made(OLD_PAGE, DONE) if way == "base" else None,
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
    first = await made(OLD_PAGE, DONE)
    second = await made(CHANGE, DONE, base=first, images=[MARKED])
    third = await made(DONE, base=second)
    assert first.system == second.system == third.system
    assert second.messages[: len(first.messages)] == first.messages
    assert third.messages[: len(second.messages)] == second.messages


async def test_a_stack_is_text_and_setting():
    with ScriptedProvider([OLD_PAGE, DONE]) as provider:
        run = await Agent(provider, system="Use serif type.").with_stack("vue").run(PROMPT)
    built_in = f"{prompt_text('system')}\n\n{prompt_text('no_look')}"
    assert run.system == f"{built_in}\n\n{stack_text('vue')}\n\nUse serif type."
    assert run.settings["stack"] == "vue"
    assert "stack" not in (await made(DONE)).settings


async def test_going_on_keeps_the_stack():
    with ScriptedProvider([OLD_PAGE, DONE, DONE, DONE]) as provider:
        agent = Agent(provider)
        first = await agent.with_stack("react").run(PROMPT)
        second = await agent.run(PROMPT, base=first)
        third = await agent.with_stack("vue").run(PROMPT, base=first)
    assert second.system == first.system
    assert third.settings["stack"] == "vue"


async def test_our_words_are_not_in_the_fingerprint(tmp_path, monkeypatch):
    """A conversation with a picture plays in a release that says something else about pictures."""
    paths = tmp_path / "first.run.jsonl", tmp_path / "second.run.jsonl"
    first = await record(paths[0], OLD_PAGE, DONE, material={"images": [SHOT]})
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
    run = await made(OLD_PAGE, DONE, images=[SHOT, to_image(MARKED.data)])
    html = bundle(run)["text/html"]
    assert re.findall(r'<img alt="([^"]+)"', html) == ["shot.png (640 x 400)", "image 2 (640 x 400)"]
    assert html.index("<img") < html.index("<details")
    assert (
        bundle(run)["text/markdown"].splitlines()[2] == "- Images: shot.png (640 x 400), image 2 (640 x 400)"
    )
    assert "  • Images: shot.png (640 x 400), image 2 (640 x 400)\n" in TEXT.render(run)


async def test_every_form_shows_a_pdf_by_name_and_size():
    run = await made(OLD_PAGE, DONE, images=[SHOT, Document(PAPER, "paper.pdf")])
    line = f"Attached: paper.pdf ({len(PAPER)} bytes), shot.png (640 x 400)"
    assert f'<span class="anb-dim">paper.pdf ({len(PAPER)} bytes)</span>' in bundle(run)["text/html"]
    assert bundle(run)["text/markdown"].splitlines()[2] == f"- {line}"
    assert line in TEXT.render(run)


async def test_a_pdf_is_sent_and_stored_once(tmp_path):
    (tmp_path / "paper.pdf").write_bytes(PAPER)
    path = str(tmp_path / "paper.pdf")
    first = await made(OLD_PAGE, DONE, images=[path, Path(path), PAPER])
    run = await made(CHANGE, DONE, base=first)
    assert [part for message in run.messages for part in message.parts if isinstance(part, Document)] == [
        Document(PAPER, "paper.pdf")
    ]
    run.save(tmp_path / "run.jsonl")
    assert (tmp_path / "run.jsonl").read_text().count(base64.b64encode(PAPER).decode()) == 1
    assert load(tmp_path / "run.jsonl").messages == run.messages


async def test_several_pdfs_are_named_in_the_prompt():
    question = told(Agent(ScriptedProvider([])), images=[PAPER, Document(PAPER + b"\n", "b.pdf")])[1]
    assert question.endswith("The PDFs of this request are, in this order: `document.pdf`, `b.pdf`.")


async def test_a_run_that_sends_no_values_refuses_a_pdf():
    with pytest.raises(ConfigError, match="A PDF contains values"):
        Agent(ScriptedProvider([]), tools=[]).replace(data="schema").prepare(PROMPT, images=[PAPER])


async def test_a_name_is_text_not_markup():
    run = await made(DONE, images=[Image(SHOT.data, name='"><script>')])
    assert 'alt="&quot;&gt;&lt;script&gt; (640 x 400)"' in bundle(run)["text/html"]


async def test_of_very_many_the_rest_are_named():
    run = await made(DONE, images=[SHOT] * 14)
    html = bundle(run)["text/html"]
    assert html.count("<img ") == 12
    assert html.count('<span class="anb-dim">shot.png (640 x 400)</span>') == 2
    assert len(html) < 14 * 9_000 + 8_000
