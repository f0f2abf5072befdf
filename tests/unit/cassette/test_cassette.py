"""Cassettes: what was recorded plays again, event by event, at the same times, and runs nothing."""

import asyncio
import base64
import gc
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from agent_nb import Agent, Image, Limits, ToolError, assert_same, kernel_tools, load, replay, tool
from agent_nb._base.text import sha256
from agent_nb.core.errors import CassetteError, ConfigError, ProviderError
from agent_nb.core.events import ApprovalResolved, FileChanged, ToolFinished, ToolProgress
from agent_nb.core.messages import Usage
from agent_nb.engine.approval import Answer
from agent_nb.providers.scripted import ScriptedProvider, call, fail, text, think, usage, wait
from agent_nb.tools import Toolbox, ToolContext, ToolOutput
from tests.support.cassettes import PROMPT, facts, play, record
from tests.support.scripts import PAGE, of, run_script, write

PIXEL = Image(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=="
    ),
    name="dot",
)


async def test_a_replay_is_the_recording_again(tape):
    first = [
        think("A page, I think.\nWarm colours.", fragment=4),
        wait(0.312),
        text("I write it.", fragment=3),
        write(fragment=7),
        usage(input=20, output=9),
    ]
    run = await record(tape, first, [wait(1.5), text("Done."), usage(input=40, output=3)])
    again = await play(tape)
    assert_same(run, again)
    assert again.settings == {**run.settings, "replayed": tape.as_posix()}
    assert again.html == PAGE
    assert again.seconds == run.seconds > 1.812


def counting(**settings):
    """A tool of one's own that must not run again, and what it was asked."""
    asked = []

    @tool(**settings)
    async def count_guests(day: str, context: ToolContext) -> ToolOutput:
        """Counts the guests of a day."""
        asked.append(day)
        context.progress(f"looking at {day}")
        context.files.write("guests.csv", f"{day},42\n")
        context.files.write("dot.png", b"\x89PNG\x00")
        if day == "never":
            context.files.delete("guests.csv")
            raise ToolError("No such day.", hint="Ask for another.")
        return ToolOutput(
            text="42 guests", summary="42", images=(PIXEL,), outputs=({"text/html": "<b>42</b>"},)
        )

    return count_guests, asked


@pytest.mark.parametrize("answer", [Answer(True), Answer(False, "not today")])
async def test_approvals_are_answered_as_they_were(tape, answer):
    own, asked = counting(approval="ask")

    async def ask(request):
        return answer

    provider = ScriptedProvider([[call("count_guests", {"day": "Monday"})], [text("ok")]])
    handle = Agent(provider, tools=[own]).recording(tape).start(PROMPT)
    handle.approve_with(ask)
    run = await handle
    again = await play(tape, tools=[own])
    assert facts(again) == facts(run)
    assert of(again, ApprovalResolved)[0].note == answer.note
    assert len(asked) == int(answer.approved)


async def test_a_conversation_goes_on_from_a_replay(tape, tmp_path):
    first = await record(tape, [write()], [text("ok")])
    more = tmp_path / "more.run.jsonl"
    turns = ([call("edit_file", {"path": "index.html", "old": "Bread", "new": "Cake"})], [text("ok")])
    second = await record(more, *turns, prompt="Cake", material={"base": first})
    replayed = await play(tape)
    again = await play(more, "Cake", {"base": replayed})
    assert facts(again)[1:] == facts(second)[1:]
    assert "Cake" in again.html


async def test_a_recorded_price_stays(tape):
    with ScriptedProvider(
        [
            [text("ha"), usage(input=900), fail(ProviderError("Cut.", retryable=True))],
            [text("x" * 5000, fragment=50), usage(input=1000, output=400)],
        ],
        name="anthropic:claude-sonnet-4-5",
    ) as provider:
        run = await Agent(provider).recording(tape).run(PROMPT)
    assert run.cost
    again = await play(tape)
    assert (again.cost, facts(again)) == (run.cost, facts(run))


async def test_the_pace_scales_the_wait(tape):
    await record(tape, [wait(500.0), text("slow")])
    assert (await play(tape)).seconds == 500.0
    handle = Agent(replay(tape, pace=1.0)).start(PROMPT)
    await asyncio.sleep(0.02)
    assert not handle.done
    handle.stop()
    assert (await handle).reason == "stopped"
    for pace in (-1.0, float("nan"), float("inf"), "fast"):
        with pytest.raises(ConfigError, match="pace"):
            replay(tape, pace=pace)


async def test_the_loop_does_not_write_the_file(tape):
    gc.collect()  # tools of other tests would let the run wait for a thread that reads variables
    free, ended = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(1))
    busy = loop.run_in_executor(None, free.wait, 20)
    handle = Agent(ScriptedProvider([[write()], [text("ok")]])).recording(tape).start(PROMPT)
    handle.when_done.append(ended.set)
    waiting = asyncio.ensure_future(handle)
    await ended.wait()
    assert handle.recorded == f"{tape.as_posix()} is being written."
    waiting.cancel()  # as an interrupt does
    free.set()
    run = await handle
    assert handle.recorded == f"Recorded in {tape.as_posix()}."
    assert facts(await play(tape)) == facts(run)
    assert [path.name for path in tape.parent.iterdir()] == ["hero.run.jsonl"]
    assert await busy


async def test_a_file_is_a_header_the_events_and_an_end(tape):
    edit = call("edit_file", {"path": "index.html", "old": "<h1>", "new": "<h1 class=a>"})
    run = await record(
        tape, [think("Loaves. " * 40, fragment=20), write(fragment=20)], [edit], [text("It is ready.")]
    )
    header, conversation, *events, end = map(json.loads, tape.read_text().splitlines())
    assert [*header][:7] == ["format", "version", "model", "reason", "name", "key", "id"]
    assert [part["text"] for part in conversation["messages"][0]["parts"]] == [PROMPT]
    assert [row["seq"] for row in events] == [event.seq for event in run.events]
    assert "messages" not in end
    assert end["digests"] == {path: sha256(content) for path, content in run.files.items()}


async def test_binary_files_and_versions_from_before_are_in_the_events(tape, tmp_path):
    base = await run_script([write()], [text("ok")])
    edited = base.with_files({"index.html": "<p>mine</p>", "a.bin": b"\xff\x00"})
    run = await record(tape, [write(content="<p>new</p>")], [text("ok")], material={"base": edited})
    again = load(tape)
    assert again == run
    assert again.files.versions("index.html") == run.files.versions("index.html")
    assert "files" not in json.loads(tape.read_text().splitlines()[-1])


async def test_one_provider_plays_many_runs_at_once(tape):
    run = await record(
        tape, [write(fragment=2)], [text("ha"), fail(ProviderError("Cut.", retryable=True))], [text("ok")]
    )
    agent = Agent(replay(tape))
    for again in await asyncio.gather(*(agent.run(PROMPT) for _ in range(3))):
        assert facts(again) == facts(run)


async def test_a_cassette_is_a_model_by_name(tape):
    run = await record(tape, [text("ok"), usage(input=3)])
    again = await Agent(f"replay:{tape}").run(PROMPT)
    assert (again.model, again.usage, again.text) == (run.model, Usage(input=3), "ok")
    with pytest.raises(ConfigError, match="Name the cassette"):
        Agent("replay:")


async def test_any_saved_run_plays(tape, tmp_path):
    run = await record(tape, [write()], [text("ok")])
    saved = (
        replace(run, name="hero", failed_check="len(files) > 1")
        .annotate("end", "Look.")
        .save(tmp_path / "saved.run.jsonl")
    )
    handle = Agent(replay(saved)).start(PROMPT)
    handle.label("other", "other-key")
    again = await handle
    assert (again.name, again.key, again.failed_check) == ("other", "other-key", "")
    assert again.id != run.id
    assert again.annotations[0].text == "Look."
    assert facts(again) == facts(run)


async def test_a_replay_runs_nothing(tape):
    """No tool, no hook and no model; subscribers see the events."""
    own, asked = counting()
    days = [call("count_guests", {"day": day}) for day in ("Monday", "never")]
    settings = {"tools": [*Toolbox.default(), own], "limits": Limits(steps=2)}
    run = await record(tape, [*days, write()], [write("b.html")], **settings)
    assert (asked, run.reason) == (["Monday", "never"], "max_steps")
    heard, hooked = [], []
    agent = Agent(replay(tape), tools=settings["tools"])
    agent.before_tool(hooked.append)
    agent.after_tool(lambda *each: hooked.append(each))
    agent.on_event(heard.append)
    again = await agent.run(PROMPT)
    assert facts(again) == facts(run)
    assert (again.files, again.reason) == (run.files, "max_steps")
    assert again.files["dot.png"] == b"\x89PNG\x00"
    assert again.tool_uses[0].result.images == (PIXEL,)
    assert {type(event) for event in run.events} >= {ToolProgress, FileChanged}
    assert heard == again.events
    assert (len(asked), hooked) == (2, [])
    with pytest.raises(CassetteError, match="answers no requests"):
        replay(tape).stream(None)


async def test_a_replayed_call_of_code_says_that_none_ran(tape, shell):
    tools = kernel_tools(shell.ipython)
    await record(tape, [call("run_python", {"code": "a = 1"})], [text("ok")], tools=tools, approve="auto")
    del shell.names["a"]
    again = await play(tape, tools=tools)
    (finished,) = of(again, ToolFinished)
    assert "no code ran here" in str(finished.outputs)
    assert "'undo'" not in str(finished.outputs)
    assert "a" not in shell.names


async def test_variants_play_together_with_their_own_pace(tape):
    models = [
        ScriptedProvider(
            [[wait(seconds), write(content=f"<p>{name}</p>")], [text(name)]], name=f"scripted:{name}"
        )
        for name, seconds in (("slow", 2.0), ("quick", 1.0))
    ]
    run = await Agent(models[0]).recording(tape).start_variants(PROMPT, models=models)
    again = await Agent(replay(tape)).start_variants(PROMPT)
    assert [each.model for each in again.variants] == ["scripted:slow", "scripted:quick"]
    assert [facts(each) for each in again.variants] == [facts(each) for each in run.variants]
    assert (again.cost, again.seconds, again.html) == (run.cost, run.seconds, run.html)
    with pytest.raises(CassetteError, match="2 variants, not 1"):
        await play(tape)
