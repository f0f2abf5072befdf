"""Runs on disk while they go: what a killed kernel leaves, the secrets that are not in it, and disks that fail."""

import asyncio
import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from agent_nb import Agent, Run, load, replay
from agent_nb._base.secrets import MASK, register
from agent_nb.core.errors import CassetteError
from agent_nb.engine import saving
from agent_nb.engine.handle import Handle
from agent_nb.engine.saving import Saving
from agent_nb.engine.start import VariantsHandle, start_variants
from agent_nb.providers.scripted import ScriptedProvider, pause, text, think, wait
from agent_nb.render import FORMS
from agent_nb.run.run_reader import KERNEL_ENDED
from agent_nb.run.store import RunStore
from tests.support.scripts import PAGE, write

ASKED = "Q7-in-the-prompt-Z1"
SLOW = "A loaf of bread and a roll. " * 40


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(saving, "INTERVAL", 0.02)


@pytest.fixture
def store(tmp_path) -> RunStore:
    return RunStore(tmp_path)


def start(store: RunStore, *turns, variants: int = 1, **settings) -> tuple[Handle, Saving, list[str]]:
    warnings = list[str]()
    prepared = [
        Agent(ScriptedProvider(list(turns)), **settings).prepare(f"A page, {ASKED}") for _ in range(variants)
    ]
    handles = start_variants(prepared)
    handle = handles[0] if variants == 1 else VariantsHandle(handles)
    return handle, Saving(handle, store, warnings.append), warnings


async def part_with(store: RunStore, words: str) -> Path:
    """The file of the run in progress, once it has these words."""
    while True:
        for path in store.folder.glob("*.part.run.jsonl"):
            if words in path.read_text():
                return path
        await asyncio.sleep(0.01)


async def finish(handle: Handle, written: Saving, store: RunStore) -> Run:
    run = await handle
    await written.end()
    return load(store.save(run))


async def test_a_run_is_on_disk_while_it_goes_and_then_whole(store):
    more = asyncio.Event()
    turns = [[think("So."), write()], [text(SLOW, fragment=7), pause(more), text("The end.")]]
    handle, written, _ = start(store, *turns)
    part = load(await part_with(store, "A loaf"))
    assert (part.reason, part.error, part.id) == ("interrupted", KERNEL_ENDED, handle.id)
    assert part.files == {"index.html": PAGE}
    assert SLOW.startswith(part.text)
    assert len(SLOW) - 210 < len(part.text) <= len(SLOW) - 200
    assert part.messages[:3] == tuple(handle.runs[0].conversation.messages[:3])
    assert not store.rows()
    more.set()
    assert await finish(handle, written, store) == handle.result
    assert [row["reason"] for row in store.rows()] == ["end_turn"]


async def test_variants_are_in_one_file(store):
    turns = [[write()], [text(SLOW, fragment=50), pause()]]
    handle, written, _ = start(store, *turns, variants=3)
    part = load(await part_with(store, '"variant":2,"text":"A loaf'))
    handle.stop()
    whole = await finish(handle, written, store)
    for one, other in zip(part.variants, whole.variants, strict=True):
        assert (one.variant, one.reason, one.files) == (other.variant, "interrupted", other.files)
        assert one.messages[:3] == other.messages[:3]


async def test_no_secret_is_on_disk_not_even_its_start_nor_one_that_is_known_later(store):
    key, later = "x9Y-planted-" + "k3" * 150, "Q7-known-only-later-Z1"
    register(key)
    gates = [asyncio.Event(), asyncio.Event()]
    turn = [
        text(f"{SLOW}{key[:150]}", fragment=11),
        pause(gates[0]),
        text(key[150:], fragment=11),
        text(f" {later} "),
        text(SLOW, fragment=11),
        pause(gates[1]),
        text(SLOW),
        pause(),
    ]
    handle, written, _ = start(store, turn)
    assert "x9Y" not in (await part_with(store, "A loaf")).read_text()
    gates[0].set()
    found = (await part_with(store, later)).read_text()
    assert MASK in found
    assert "x9Y" not in found
    assert "k3k3" not in found
    register(later)
    register(ASKED)
    gates[1].set()
    part = await part_with(store, f'" {MASK} "')
    assert later not in part.read_text()
    assert ASKED not in part.read_text()
    assert load(part).text.startswith(f"{SLOW}{MASK} {MASK} A loaf")
    handle.stop()
    await finish(handle, written, store)


async def test_a_disk_that_fails_ends_the_writing_and_not_the_run(store):
    store.root.write_text("in the way")
    handle, written, warnings = start(store, [write(), wait(0.1)], [text("Done."), wait(0.1)])
    run = await handle
    await written.end()
    assert run.text == "Done."
    assert warnings == ["The run is not saved while it goes: File exists."]


async def test_a_run_in_progress_is_not_pruned_and_a_dead_one_counts(store, monkeypatch):
    handle, written, _ = start(store, [text(SLOW, fragment=9), pause()])
    part = await part_with(store, "A loaf")
    monkeypatch.setattr("agent_nb.run.store.MAX_RUNS", 1)
    done = await Agent(ScriptedProvider([[text("ok")]])).run("x")
    store.save(done)
    assert part.exists()
    dead = part.with_name("000001-gone-1234.part.run.jsonl")
    dead.write_text(part.read_text().replace(f'"pid":{os.getpid()}', '"pid":0'))
    assert [row["reason"] for row in store.rows()] == ["interrupted", "end_turn"]
    store.save(replace(done, id="next"))
    assert part.exists()
    assert not dead.exists()
    handle.stop()
    await finish(handle, written, store)


async def test_a_file_that_is_cut_anywhere_loads_as_interrupted_and_never_replays(store):
    handle, written, _ = start(
        store, [think("So.", fragment=2), write(fragment=9)], [text(SLOW, fragment=9)], variants=2
    )
    await handle
    await written.end()
    data = store.save(handle.result).read_bytes()
    file = store.root / "cut.run.jsonl"
    chance, head = random.Random(1), data.index(b'"seq":1') + 300
    for place in (*(chance.randrange(head, len(data) - 1) for _ in range(40)), data.rindex(b"\n{")):
        file.write_bytes(data[:place])
        run = load(file)
        assert (run.reason, run.error) == ("interrupted", KERNEL_ENDED)
        assert load(run.save(store.root / f"{place}.run.jsonl")) == run
        with pytest.raises(CassetteError, match="the end of the run is missing"):
            replay(file)
    for form in FORMS:
        assert KERNEL_ENDED in form.render(run)
