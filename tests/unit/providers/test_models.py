"""What a model takes is read from the table of families."""

import typing
from typing import Any

import pytest

from agent_nb._base.constants import EFFORTS
from agent_nb.providers import model
from agent_nb.providers.models import Family
from agent_nb.providers.vendors import VENDORS
from tests.support.wire.cases import ask
from tests.support.wire.rules import Asked, first_refusal, listed_models
from tests.support.wire.rules.listed_models import OPENAI_EFFORTS


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
    assert [Family(efforts=accepted).effort(effort) for effort in EFFORTS] == expected.split()


@pytest.mark.parametrize(
    ("name", "thinking"),
    [
        ("claude-opus-5-5", "adaptive"),
        ("claude-sonnet-5", "adaptive"),
        ("claude-opus-4-6", "adaptive"),
        ("claude-sonnet-4.7", "adaptive"),
        ("claude-opus-40", "adaptive"),
        ("gateway-4-5", None),
        ("claude-opus-4-5-20251101", "enabled"),
        ("claude-opus-4-20250514", "enabled"),
        ("claude-4-sonnet", "enabled"),
        ("anthropic/claude-3.7-sonnet", "enabled"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", None),
        ("claude-instant-1.2", None),
        ("claude-3-opus-20240229", None),
    ],
)
def test_claude_thinks_by_its_version(name: str, thinking: str | None):
    body = model(f"anthropic:{name}", api_key="k", effort="high").body(ask())
    assert body.get("thinking", {}).get("type") == thinking
    assert thinking or "output_config" not in body


LISTED = [name for names in OPENAI_EFFORTS.values() for name in names]


def names_in(literal: Any) -> set[str]:
    """The strings of a type such as `Union[Literal["a"], str]`."""
    found = typing.get_args(literal)
    return {each for each in found if isinstance(each, str)}.union(*map(names_in, found)) if found else set()


@pytest.mark.wide  # a release of an SDK can make it fail
def test_the_lists_of_models_have_all_that_the_sdks_name():
    import anthropic.types
    from google.genai._gaos.types.interactions.model import Model as GeminiModel
    from openai.types.shared import ResponsesModel

    openai = {name for name in names_in(ResponsesModel) if "audio" not in name}
    assert openai <= {*LISTED, *listed_models.OPENAI_UNKNOWN}
    claude = names_in(anthropic.types.Model)
    assert claude <= {*listed_models.EVERY_CLAUDE, *listed_models.CLAUDE_UNKNOWN}
    known = {*GEMINI, *OTHERS}
    other = names_in(GeminiModel) - known
    assert not [name for name in other if not any(part in name for part in listed_models.GEMINI_UNKNOWN)]


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


GEMINI = {name: levels for levels, names in listed_models.GEMINI_LEVELS.items() for name in names}
OTHERS = (*listed_models.GEMINI_2_5, *listed_models.GEMINI_WITHOUT_THINKING, "gemini-9-neon", "my-model")


@pytest.mark.parametrize(("name", "levels"), [*GEMINI.items(), *((name, "") for name in OTHERS)])
def test_gemini_takes_the_levels_of_its_family(name: str, levels: str):
    assert VENDORS["gemini"].family(name).efforts == tuple(levels.split())


@pytest.mark.parametrize(
    ("vendor", "protocol", "name"),
    [
        *(("openai", "responses", name) for name in (*LISTED, "gpt-7", "some-deployment")),
        *(("anthropic", "anthropic_messages", name) for name in listed_models.EVERY_CLAUDE),
        *(("gemini", "interactions", name) for name in (*GEMINI, *OTHERS)),
        *(("gemini", "generate_content", name) for name in (*GEMINI, *OTHERS)),
    ],
)
def test_no_model_refuses_an_effort(vendor: str, protocol: str, name: str):
    for effort in (None, *EFFORTS):
        body = model(f"{vendor}:{name}", api=protocol, api_key="k", effort=effort).body(ask())
        if protocol == "generate_content":
            thinking = body["config"].get("thinking_config")
            body = {"contents": body["contents"], "generationConfig": {"thinkingConfig": thinking}}
        assert first_refusal(protocol, Asked(name, body)) is None
