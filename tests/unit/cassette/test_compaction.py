"""A cassette of a run whose conversation was compacted."""

from dataclasses import replace

import pytest

from agent_nb import Agent, replay
from agent_nb.core.errors import CassetteError
from agent_nb.providers.scripted import ScriptedProvider, text
from agent_nb.run import Run
from tests.support.cassettes import PROMPT
from tests.support.scripts import run_script, write

PAGE = "<p>bread</p>\n" * 2_000


async def earlier() -> Run:
    return await run_script([write(content=PAGE)], [text("Done.")])


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
