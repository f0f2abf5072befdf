"""How long a vendor may send nothing: long enough for a model that thinks, and any byte counts."""

import asyncio

import pytest

from agent_nb import model
from agent_nb.core.errors import ConfigError
from tests.support.wire import Comment, Pause, Raw, Say, WireServer, reply
from tests.support.wire.cases import CASE, KEY, turn_of
from tests.support.wire.framing import sse


@pytest.mark.parametrize(
    ("name", "effort", "seconds"),
    [
        ("openai:gpt-6.1-sol", None, 300),
        ("openai:gpt-6.1-sol", "medium", 300),
        ("openai:gpt-6.1-sol", "high", 900),
        ("anthropic:claude-opus-5-5", "xhigh", 900),
        ("gemini:gemini-4-argon", "max", 900),
        ("openrouter:some/model", "none", 300),
        ("ollama:qwen3", None, 600),
        ("ollama:qwen3", "high", 900),
    ],
)
def test_a_model_that_thinks_hard_may_be_silent_for_longer(name: str, effort: str | None, seconds: float):
    assert model(name, api_key=KEY, effort=effort).silence == seconds
    assert model(name, api_key=KEY, effort=effort, silence=42).silence == 42


@pytest.mark.parametrize("silence", [0, -1, "long", True, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["openai:gpt-6.1-sol", "demo:"])
def test_a_silence_that_is_no_time_is_refused(name: str, silence):
    with pytest.raises(ConfigError, match="seconds"):
        model(name, silence=silence, **({} if name == "demo:" else {"api_key": KEY}))


def test_a_model_without_a_server_takes_it_too():
    assert model("demo:", silence=42).name.startswith("demo:")


SIGNS = [
    ("chat", Comment("OPENROUTER PROCESSING")),
    ("responses", Comment("keep-alive")),
    ("responses", Raw(sse({"type": "keepalive", "sequence_number": 3}, "keepalive"))),
    ("anthropic_messages", Raw(sse({"type": "ping"}, "ping"))),
]


async def test_a_comment_or_a_ping_is_a_sign_of_life():
    """All at once, because each takes five seconds."""

    async def answer(protocol: str, sign: Comment | Raw) -> str:
        async with WireServer() as server:
            server.plan(reply(*[Pause(1), sign] * 5, Say("At last.")))
            return (await turn_of(CASE[protocol].provider(server, silence=4))).message.text

    answers = await asyncio.gather(*(answer(*each) for each in SIGNS))
    assert answers == ["At last."] * len(SIGNS)
