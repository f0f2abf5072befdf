"""What a model takes is read from the table of families."""

import pytest

from agent_nb._base.constants import EFFORTS
from agent_nb.providers import model
from agent_nb.providers.models import nearest_effort
from agent_nb.providers.vendors import VENDORS
from tests.support.wire.cases import ask
from tests.support.wire.rules import Asked, first_refusal


@pytest.mark.parametrize("effort", EFFORTS)
def test_an_accepted_effort_is_sent_as_it_is(effort: str):
    assert nearest_effort(effort, EFFORTS) == effort


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        (("low", "medium", "high", "xhigh", "max"), "low low low medium high xhigh max"),
        (("minimal", "low", "medium", "high"), "minimal minimal low medium high high high"),
        (("low", "high", "max"), "low low low high high max max"),
        (("none", "high"), "none none high high high high high"),
        (("medium",), "medium medium medium medium medium medium medium"),
    ],
    ids=str,
)
def test_other_efforts_become_the_nearest_and_the_higher_of_two(accepted: tuple[str, ...], expected: str):
    assert [nearest_effort(effort, accepted) for effort in EFFORTS] == expected.split()


@pytest.mark.parametrize(
    ("name", "thinking"),
    [
        ("claude-opus-5-5", "adaptive"),
        ("claude-opus-4-6", "adaptive"),
        ("claude-sonnet-4.7", "adaptive"),
        ("claude-opus-40", "adaptive"),
        ("gateway-4-5", ""),
        ("claude-opus-4-5-20251101", "budget"),
        ("claude-opus-4-20250514", "budget"),
        ("claude-4-sonnet", "budget"),
        ("anthropic/claude-3.7-sonnet", "budget"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", ""),
        ("claude-instant-1.2", ""),
        ("claude-3-opus-20240229", ""),
    ],
)
def test_claude_thinks_by_its_version(name: str, thinking: str):
    assert VENDORS["anthropic"].family(name).thinking == thinking


OPENAI_MODELS = [
    "gpt-6.1-sol",
    "gpt-6-astra",
    "gpt-6-sol",
    "gpt-6.1-terra",
    "gpt-5.6-sol",
    "gpt-5.5",
    "gpt-5.4-mini",
    "gpt-5.2",
    "gpt-5.2-pro",
    "gpt-5.1",
    "gpt-5.1-codex",
    "gpt-5.1-codex-max",
    "gpt-5.3-codex",
    "gpt-5",
    "gpt-5-mini-2025-08-07",
    "gpt-5-pro",
    "gpt-5-codex",
    "gpt-5-chat-latest",
    "gpt-5.2-chat-latest",
    "o3",
    "o4-mini",
    "o3-mini",
    "o1",
    "o3-deep-research",
    "gpt-4.1",
    "gpt-4o-mini",
    "gpt-4-turbo",
    "gpt-3.5-turbo",
    "chatgpt-4o-latest",
    "ft:gpt-4o-mini:me",
    "gpt-oss-120b",
    "gpt-7",
    "some-deployment",
]


@pytest.mark.parametrize("effort", [None, *EFFORTS])
@pytest.mark.parametrize("name", OPENAI_MODELS)
def test_openai_accepts_every_effort_of_every_model(name: str, effort: str | None):
    provider = model(f"openai:{name}", api_key="k", effort=effort)
    assert first_refusal("responses", Asked(name, provider.body(ask()))) is None


@pytest.mark.parametrize(
    ("name", "effort"),
    [("gpt-6.1-sol", "low"), ("gpt-5.6", "none"), ("o3", "low"), ("openai/gpt-5", "minimal")],
)
def test_openai_models_get_the_nearest_effort_to_none(name: str, effort: str):
    body = model(f"openai:{name}", api_key="k", effort="none").body(ask())
    assert body["reasoning"]["effort"] == effort
    assert body["include"] == ["reasoning.encrypted_content"]


@pytest.mark.parametrize("name", ["gpt-4.1", "gpt-5-chat-latest", "gpt-7", "some-deployment"])
def test_models_that_do_not_reason_or_are_unknown_get_nothing_optional(name: str):
    body = model(f"openai:{name}", api_key="k", effort="high").body(ask())
    assert not {"reasoning", "include"} & body.keys()


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("gemini-4-argon", "low medium high"),
        ("gemini-3.8-flash", "low medium high"),
        ("gemini-flash-latest", "low medium high"),
        ("gemini-3.1-pro-preview", "low medium high"),
        ("gemini-3-pro-preview", "low high"),
        ("gemini-3.6-flash", "minimal low medium high"),
        ("gemini-3.7-flash-lite", "minimal low medium high"),
        ("gemma-4-31b", "minimal high"),
        ("gemini-2.5-flash", ""),
        ("gemini-2.0-flash", ""),
        ("gemini-3-pro-image", ""),
        ("gemini-nano-banana-2.1", ""),
        ("gemini-9-neon", ""),
        ("my-model", ""),
    ],
)
def test_gemini_takes_the_levels_of_its_family(name: str, levels: str):
    assert VENDORS["gemini"].family(name).efforts == tuple(levels.split())


@pytest.mark.parametrize(
    ("name", "budgets"),
    [
        ("gemini-2.5-pro", (128, 32_768)),
        ("gemini-2.5-flash", (0, 24_576)),
        ("gemini-2.5-flash-lite", (0, 24_576)),
        ("gemini-2.5-flash-image", None),
        ("gemini-4-argon", None),
    ],
)
def test_only_gemini_2_5_takes_a_budget(name: str, budgets: tuple[int, int] | None):
    assert VENDORS["gemini"].family(name).budgets == budgets
