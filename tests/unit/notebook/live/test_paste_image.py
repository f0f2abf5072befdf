"""The command of the page that saves a pasted image beside the notebook."""

import base64
import io
from dataclasses import replace

import PIL.Image
import pytest

from agent_nb import Agent
from agent_nb.providers.scripted import ScriptedProvider, text
from tests.support.scripts import run_script
from tests.unit.images.test_pasted import PNG


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(desk, data="all"):
    handle = Agent(ScriptedProvider([[text("Done.")]])).replace(data=data).start("Do it.")
    return desk.show(handle, "hero-1"), handle


async def test_it_is_saved_beside_the_notebook_also_after_the_run(desk, folder):
    shown, handle = start(desk)
    await handle
    for number in (1, 2):
        answer = await desk.answer("paste_image", run_id=shown.id, data=PNG)
        assert answer["ok"]
        assert answer["path"] == f"images/hero-{number}.png"
        assert PIL.Image.open(io.BytesIO(base64.b64decode(answer["thumbnail"]))).size == (40, 30)
    assert sorted(file.name for file in (folder / "images").iterdir()) == ["hero-1.png", "hero-2.png"]


async def test_no_damaged_or_forged_message_writes_a_file(desk, folder):
    shown, handle = start(desk)
    await handle
    valid = {"run_id": shown.id, "data": PNG}
    forged = [
        {"run_id": shown.id},
        *({**valid, "data": data} for data in (None, 1, [PNG], {"data": PNG}, True)),
        *({**valid, field: [1]} for field in ("client", "variant", "run_id", "key")),
        {**valid, "variant": 7},
        {"run_id": "r", "data": PNG},
        {"key": "other", "data": PNG},
    ]
    for message in forged:
        answer = desk.command("paste_image", **message)
        assert answer is not None, message
        assert not answer["ok"]
        assert answer["error"].endswith(".")
    for data in ("", "AAAA", "\ud800"):
        assert not (await desk.answer("paste_image", run_id=shown.id, data=data))["ok"]
    assert [*folder.iterdir()] == []


async def test_below_a_run_that_was_loaded_or_replayed_none_is_saved(desk, folder):
    loaded = desk.hub.adopt(await run_script([[text("Done.")]]))
    shown, handle = start(desk)
    await handle
    shown.stream.meta = replace(shown.stream.meta, reviewable=False)
    for key in (loaded, shown.key):
        assert "loaded or replayed" in desk.command("paste_image", key=key, data=PNG)["error"]
    assert [*folder.iterdir()] == []


async def test_where_no_values_are_sent_none_is_saved(desk, folder):
    shown, handle = start(desk, data="schema")
    await handle
    assert "`--data schema`" in desk.command("paste_image", run_id=shown.id, data=PNG)["error"]
    assert [*folder.iterdir()] == []
