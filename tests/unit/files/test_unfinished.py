"""What a run leaves of files that the model was still writing when it ended."""

import asyncio
import html

import agent_nb
from agent_nb import Agent, Run, RunHandle, replay
from agent_nb.core.events import FileChanged, FileDelta, ToolArgsDelta, ToolFinished
from agent_nb.providers.scripted import ScriptedProvider, call, stall, text
from agent_nb.render.summary import ready_line
from agent_nb.tools.file_tools import FILE_TOOLS
from tests.support.scripts import PAGE, stop_at, wait_for_ever, write

CUT = '{"path": "index.html", "content": "<h1>Bre'


async def stopped_while_rewriting() -> Run:
    cut = call("create_file", '{"path": "index.html", "content": "<h1>New', fragment=4)
    handle = Agent(ScriptedProvider([[write()], [cut, stall()]])).start("go")
    return await stopped_at(handle, "<h1>New")


async def stopped_at(handle: RunHandle, text: str) -> Run:
    """Stops the run when this much of a file has arrived."""
    written = ""
    async for event in handle:
        if isinstance(event, FileDelta):
            written = event.text if event.offset == 0 else written + event.text
        if written == text:
            break
    handle.stop()
    return await handle


async def test_stop_during_a_rewrite_keeps_the_page_and_offers_the_unfinished_text():
    run = await stopped_while_rewriting()
    assert (run.html, run.unfinished) == (PAGE, {"index.html": "<h1>New"})
    kept = run.with_files(run.unfinished)
    assert (kept.html, kept.unfinished) == ("<h1>New", {})


async def test_every_form_says_what_was_not_kept():
    run = await stopped_while_rewriting()
    note = 'unfinished and not kept: <code>run.unfinished["index.html"]</code>'
    assert note in html.unescape(run.to_html())
    assert 'run.unfinished["index.html"]' in run.to_markdown()
    assert "index.html, unfinished, not kept" in run._repr_mimebundle_()["text/plain"]
    assert 'run.unfinished["index.html"]' in ready_line(run, "files")


async def test_a_first_version_that_was_cut_off_is_called_unfinished():
    handle = Agent(ScriptedProvider([[call("create_file", CUT, fragment=4), stall()]])).start("go")
    run = await stopped_at(handle, "<h1>Bre")
    assert (run.html, run.unfinished) == ("<h1>Bre", {})
    assert "`index.html` is unfinished" in ready_line(run, "files")
    assert "index.html (unfinished)" in repr(run)
    assert ">7 bytes, unfinished</td>" in run.files._repr_html_()


async def test_a_file_stays_unfinished_until_its_next_version(tmp_path):
    turns = [[call("create_file", CUT, fragment=4), stall()], [text("OK")], [write()], [text("Done.")]]
    agent = Agent(ScriptedProvider(turns))
    first = await stopped_at(agent.start("go"), "<h1>Bre")
    loaded = agent_nb.load(first.save(tmp_path / "first.run.jsonl"))
    replayed = await Agent(replay(tmp_path / "first.run.jsonl")).run("go")
    second = await agent.run("go on", base=loaded)
    for run in (loaded, replayed, second, agent_nb.load(second.save(tmp_path / "second.run.jsonl"))):
        assert "index.html, 7 bytes, unfinished" in run._repr_mimebundle_()["text/plain"]
        assert [event.unfinished for event in run.events.of(FileChanged)] == [True]
    third = await agent.run("go on", base=second)
    for whole in (third, second.with_files({"index.html": PAGE})):
        assert (whole.html, [*whole.files.unfinished]) == (PAGE, [])


async def test_a_run_that_sends_no_values_sends_the_end_of_its_file():
    provider = ScriptedProvider([[call("create_file", CUT, fragment=4), stall()], [text("OK")]])
    agent = Agent(provider).with_data("schema")
    first = await stopped_at(agent.start("go"), "<h1>Bre")
    await agent.run("go on", base=first)
    assert "```html\n<h1>Bre\n```\n(cut here)" in provider.requests[-1].messages[-1].text


async def test_a_run_that_sends_no_values_sends_the_end_of_its_code():
    half = call("run_python", '{"code": "sales.\\u00', fragment=4)
    provider = ScriptedProvider([[half, stall()], [text("OK")]])
    agent = Agent(provider, tools=[*FILE_TOOLS, wait_for_ever]).with_data("schema")
    first = agent.start("go")
    async for event in first:
        if isinstance(event, ToolArgsDelta) and event.text.endswith("00"):
            first.stop()
    await agent.run("go on", base=await first)
    assert "```\nsales.\n```\n(cut here)" in provider.requests[-1].messages[-1].text


async def test_a_whole_file_that_waited_for_approval_is_not_called_cut():
    provider = ScriptedProvider([[write()], [text("OK")]])
    first = Agent(provider, approve={"create_file": "ask"}).start("go")

    async def stop(request):
        first.stop()
        await asyncio.Event().wait()

    first.approve_with(stop)
    await Agent(provider).run("go on", base=await first)
    told = provider.requests[-1].messages[-1].text
    assert (
        f"wrote `index.html`, but the call was not run. `index.html` has what you had written: {len(PAGE)}"
        in told
    )
    assert "cut" not in told


async def test_a_refused_call_leaves_nothing_unfinished():
    provider = ScriptedProvider([[write("../a.html", id="refused"), call("wait_for_ever")]])
    handle = Agent(provider, tools=[*FILE_TOOLS, wait_for_ever]).start("go")
    run = await stop_at(handle, ToolFinished)
    assert run.tool_uses[0].result.code == "FAILED"
    assert (dict(run.files), run.unfinished) == ({}, {})
