"""What a model takes is read from the table of families."""

import pytest

from agent_nb._base.constants import EFFORTS
from agent_nb.providers.models import nearest_effort
from agent_nb.providers.vendors import VENDORS


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
        ("gateway-4-5", "adaptive"),
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


@pytest.mark.parametrize(
    ("name", "takes_effort"),
    [("gpt-4.1", False), ("chatgpt-4o-latest", False), ("gpt-5", True), ("o3", True), ("my-gpt-4", True)],
)
def test_older_openai_models_take_no_effort(name: str, takes_effort: bool):
    assert bool(VENDORS["openai"].family(name).efforts) == takes_effort
