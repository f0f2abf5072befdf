"""Any script survives the way through a file; any pace survives being written."""

import asyncio
import json
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Agent
from agent_nb.cassette.timing import read_pace, write_pace
from agent_nb.errors import ProviderError
from agent_nb.providers.scripted import ScriptedProvider, call, fail, stop, text, think, usage, wait
from tests.support.cassettes import PROMPT, facts, play, record

words = st.text(max_size=60)
sizes = st.none() | st.integers(1, 7)
arguments = st.one_of(
    words,
    st.fixed_dictionaries({"path": st.sampled_from(["a.html", "b/c.css", "../x"]), "content": words}).map(
        json.dumps
    ),
    st.fixed_dictionaries({"path": st.just("a.html"), "old": words, "new": words}).map(json.dumps),
)
spoken = st.one_of(
    st.builds(lambda said, size: text(said, fragment=size), words, sizes),
    st.builds(lambda said, size: think(said, fragment=size), words, sizes),
    st.builds(lambda seconds: wait(seconds / 1000), st.integers(0, 90_000)),
    st.builds(lambda sent, got: usage(input=sent, output=got), st.integers(0, 9999), st.integers(0, 9999)),
)
calling = st.builds(
    lambda name, written, call_id, size: call(name, written, id=call_id, fragment=size),
    st.sampled_from(["create_file", "edit_file", "list_files", "nope"]),
    arguments,
    st.sampled_from(["", "call", "call#2"]),
    sizes,
)
broken = st.builds(
    lambda seconds: fail(ProviderError("Cut.", retryable=True, retry_after=seconds)),
    st.none() | st.floats(0, 60, allow_nan=False),
)


@st.composite
def scripts(draw):
    """Turns as a model might speak them, some of them only at the second try."""
    turns = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            turns.append([*draw(st.lists(spoken | calling, max_size=3)), draw(broken)])
        turns.append(
            [*draw(st.lists(spoken, max_size=3)), draw(calling), *draw(st.lists(spoken, max_size=2))]
        )
    ending = draw(st.sampled_from(["end_turn", "max_tokens", "refusal"]))
    return [*turns, [*draw(st.lists(spoken, max_size=4)), stop(ending)]]


@given(scripts())
def test_any_script_survives_the_file(turns):
    async def scenario(path: Path):
        return await record(path, *turns), await play(path)

    with tempfile.TemporaryDirectory() as folder:
        run, again = asyncio.run(scenario(Path(folder) / "tape.jsonl"))
    assert facts(again) == facts(run)
    assert (again.messages, again.usage, again.seconds) == (run.messages, run.usage, run.seconds)
    assert dict(again.files) == dict(run.files)


@given(scripts(), st.integers(2, 60), st.sampled_from(["stopped", "interrupted", "max_seconds"]))
def test_a_run_cut_anywhere_survives_the_file(turns, place, reason):
    async def scenario(path: Path):
        handle = Agent(ScriptedProvider(turns)).recording(path, force=True).start(PROMPT)
        handle.subscribe(lambda event: handle.stop(reason) if event.seq == place else None)
        run = await handle
        return run, (await play(path) if path.exists() else None), handle.recorded

    with tempfile.TemporaryDirectory() as folder:
        run, again, told = asyncio.run(scenario(Path(folder) / "tape.jsonl"))
    if again is None:
        assert "before the model was asked" in told
        return
    assert facts(again) == facts(run)
    assert (again.messages, again.usage, again.seconds) == (run.messages, run.usage, run.seconds)
    assert dict(again.files) == dict(run.files)


gaps = st.one_of(st.just(0), st.integers(-3, 100_000), st.integers(1, 99).map(lambda n: n + 0.5))


@given(st.lists(st.tuples(st.text("ab", max_size=30), gaps), min_size=1, max_size=80))
def test_any_pace_survives_being_written(fragments):
    whole = "".join(text for text, _ in fragments)
    pace = write_pace([(len(text), gap) for text, gap in fragments], len(whole))
    assert list(read_pace(pace, whole)) == fragments
