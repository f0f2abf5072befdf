"""A cassette of a run whose conversation was compacted."""

from dataclasses import replace

import pytest

from agent_nb import Agent, replay
from agent_nb.errors import CassetteError, ProviderError
from agent_nb.events import ConversationCompacted
from agent_nb.providers.scripted import ScriptedProvider, fail, text, usage
from agent_nb.run import Run
from tests.support.cassettes import PROMPT, facts
from tests.support.scripts import of, write

PAGE = "<p>bread</p>\n" * 2_000
TOO_LONG = fail(ProviderError("Too long for it.", too_long=True))


async def earlier() -> Run:
    with ScriptedProvider([[write(content=PAGE)], [text("Done.")]]) as provider:
        return await Agent(provider).run("A page")


@pytest.mark.parametrize(
    ("turns", "window", "compact", "reason"),
    [
        (
            [[write(content=PAGE + "a"), usage(input=8_000)], [write(content=PAGE)], [text("Blue.")]],
            9_000,
            False,
            "end_turn",
        ),
        ([[text("Blue.")]], None, True, "end_turn"),
        ([[text("Hm."), TOO_LONG], [TOO_LONG]], None, False, "failed"),
    ],
    ids=["full twice", "asked", "refused twice"],
)
async def test_a_compacted_run_plays(tmp_path, turns, window, compact, reason):
    base, path = await earlier(), tmp_path / "blue.run.jsonl"
    with ScriptedProvider(turns, window=window) as provider:
        agent = Agent(provider)
        agent = agent.compacting() if compact else agent
        run = await agent.run(PROMPT, base=base)
    assert run.reason == reason
    run.save(path)
    player = Agent(replay(path))
    again = await (player.compacting() if compact else player).run(PROMPT, base=base)
    assert of(again, ConversationCompacted)
    assert facts(again) == facts(run)
    assert (again.messages, again.replaced, again.error) == (run.messages, run.replaced, run.error)


async def test_a_cassette_of_the_whole_conversation_is_not_for_a_compacted_one(tmp_path):
    base, path = await earlier(), tmp_path / "blue.run.jsonl"
    with ScriptedProvider([[text("Blue.")]]) as provider:
        await Agent(provider).recording(path).run(PROMPT, base=base)
    with pytest.raises(CassetteError, match="recorded with no `--compact`"):
        await Agent(replay(path)).compacting().run(PROMPT, base=base)


async def test_the_wording_of_notes_is_no_part_of_what_must_match():
    """It may change between releases, and cassettes outlive those."""
    with ScriptedProvider([[text("Blue.")]]) as provider:
        base = await Agent(provider).compacting().run("In blue", base=await earlier())
    [call] = base.messages[1].tool_calls
    assert "left out; read it with read_file)" in call.arguments
    other = replace(call, arguments=call.arguments.replace("read_file", "another_tool"))
    messages = (base.messages[0], replace(base.messages[1], parts=(other,)), *base.messages[2:])
    agent = Agent(ScriptedProvider([]))
    now, then = base, replace(base, messages=messages)
    assert agent.prepare(PROMPT, base=now).fingerprint() == agent.prepare(PROMPT, base=then).fingerprint()
    assert now.messages != then.messages
