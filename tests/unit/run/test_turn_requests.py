"""The request of each turn, reconstructed from the run."""

import json

import pytest
from PIL.Image import new as new_image

from agent_nb import Agent, Limits, load
from agent_nb._base.secrets import MASK, register
from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import Image
from agent_nb.providers.scripted import ScriptedProvider, call, text
from agent_nb.run.turn_requests import shortened
from tests.support.scripts import run_script, write


def roles(request):
    return [message["role"] for message in request["messages"]]


async def test_each_turn_tells_what_was_sent():
    with ScriptedProvider([[write()], [call("list_files", {})], [text("Done.")]]) as provider:
        run = await Agent(provider, limits=Limits(steps=3)).run("go")
    for step, sent in enumerate(provider.requests, 1):
        request = run.request(step)
        assert roles(request) == [message.role for message in sent.messages]
        assert [tool["name"] for tool in request["tools"]] == [tool.name for tool in sent.tools]
        assert request["system"] == sent.system
    assert roles(run.request(3)) == ["user", "assistant", "tool", "assistant", "tool", "user"]
    assert run.request(2)["messages"][1]["parts"][0]["name"] == "create_file"


async def test_a_loaded_run_tells_its_history_too(tmp_path):
    first = await run_script([write()], [text("Done.")])
    with ScriptedProvider([[text("More.")]]) as provider:
        run = await Agent(provider).run("more", base=first)
    request = load(run.save(tmp_path / "run.json")).request(1)
    assert request == run.request(1)
    assert roles(request) == [message.role for message in provider.requests[0].messages]
    assert len(request["messages"]) == 5


async def test_images_are_described_by_their_size():
    run = await run_script([text("Nice.")], prompt="look", images=[new_image("RGB", (64, 64))])
    image = next(part for part in run.messages[0].parts if isinstance(part, Image))
    parts = run.request(1)["messages"][0]["parts"]
    assert {"type": "image", "name": image.name, "data": f"image/png, {len(image.data):,} bytes"} in parts
    assert len(json.dumps([part for part in parts if part["type"] == "image"])) < 200


async def test_secrets_are_masked_in_a_request():
    register("a-very-secret-value-7")
    run = await run_script([text("ok")], prompt="use a-very-secret-value-7 and sk-ant-0123456789abcdef01")
    request = json.dumps(run.request(1), ensure_ascii=False)
    assert "a-very-secret-value-7" not in request
    assert "0123456789abcdef" not in request
    assert request.count(MASK) == 2


@pytest.mark.parametrize("step", [0, 3, "2"])
async def test_a_turn_that_never_was_is_refused(step):
    run = await run_script([write()], [text("Done.")])
    with pytest.raises(ConfigError, match=r"no turn .*; this run has 1 to 2"):
        run.request(step)


def test_long_texts_say_what_is_missing():
    cut = shortened({"messages": [{"text": "x" * 30}], "step": 3}, limit=10)
    assert cut == {"messages": [{"text": "x" * 10 + "… (20 more characters)"}], "step": 3}
