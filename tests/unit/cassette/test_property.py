"""Any script survives the way through a file."""

import asyncio
import json
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Toolbox, load, tool
from agent_nb._base.secrets import mask, register
from agent_nb._base.text import change_texts, whole_text
from agent_nb._base.wire import to_wire
from agent_nb.core.errors import ProviderError
from agent_nb.providers.scripted import call, fail, stop, text, think, usage, wait
from tests.support.cassettes import PROMPT, facts, play, record
from tests.support.scripts import run_script

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
        run, again = asyncio.run(scenario(Path(folder) / "tape.run.jsonl"))
    assert facts(again) == facts(run)
    assert (again.messages, again.usage, again.seconds) == (run.messages, run.usage, run.seconds)
    assert dict(again.files) == dict(run.files)


KEY = "sk-proj-" + "aB3_" * 10
secrets = st.sampled_from([KEY, "a\ud83d", "\ude00b", "\u2028", "$", "x" * 200, '{"$": 1}'])
awkward = st.lists(words | secrets, max_size=6).map("".join)


@st.composite
def awkward_scripts(draw):
    """Turns with secrets, half characters and texts that are repeated, in pieces of any size."""
    said = draw(st.lists(awkward, min_size=2, max_size=4))
    turns = [
        [
            text(draw(st.sampled_from(said)), fragment=draw(sizes)),
            call("create_file", {"path": "a.html", "content": one}, fragment=draw(sizes)),
            call("edit_file", {"path": "a.html", "old": one, "new": draw(st.sampled_from(said))}),
            call("tell", {"what": {"$": one, "more": [one]}}),
        ]
        for one in said
    ]
    return [*turns, [text("".join(said), fragment=draw(sizes))]]


@given(awkward_scripts())
def test_what_is_saved_is_the_run_without_its_secrets(turns):
    @tool
    def tell(what: dict) -> str:
        """Tells."""
        return f"It is {what['$']}, {what['$']}."

    register(KEY)  # after any letter its shape would not be recognised

    async def scenario(path: Path) -> None:
        run = await run_script(*turns, prompt=PROMPT, tools=[*Toolbox.default(), tell])
        loaded = load(run.save(path))
        assert KEY not in path.read_text()
        assert [event.type for event in loaded.events] == [event.type for event in run.events]
        assert dict(loaded.files) == {name: shown(content) for name, content in run.files.items()}
        for before, after in zip(run.messages, loaded.messages, strict=True):
            assert json.loads(json.dumps(to_wire(after))) == change_texts(to_wire(before), shown)
        again = load(loaded.save(path))
        # A mask can set free what follows it to be recognised as a key of its own.
        if change_texts(to_wire(loaded), shown) == to_wire(loaded):
            assert again == loaded
        if change_texts(to_wire(run), shown) == to_wire(run):
            assert loaded == run

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder) / "tape.run.jsonl"))


def shown(content):
    return mask(whole_text(content)) if isinstance(content, str) else content
