"""Limits are checked when they are set."""

import math

import pytest

from agent_nb import Agent, Limits
from agent_nb.core.errors import ConfigError
from agent_nb.providers.scripted import ScriptedProvider, text


@pytest.mark.parametrize(
    "limits",
    [
        {"steps": 0},
        {"steps": None},
        {"steps": 2.5},
        {"steps": True},
        {"steps": "many"},
        {"seconds": -1},
        {"seconds": math.nan},
        {"seconds": "10"},
        {"usd": 0},
    ],
    ids=str,
)
def test_a_limit_is_a_number_above_zero(limits):
    (name,) = limits
    with pytest.raises(ConfigError, match=f"The limit '{name}' must be .* above 0, not "):
        Limits(**limits)


def test_limits_may_be_left_open():
    assert Limits(seconds=0.5, usd=1) == Limits(steps=20, seconds=0.5, usd=1.0)
    assert (Limits().seconds, Limits().usd) == (None, None)


async def test_a_run_tells_its_settings():
    with ScriptedProvider([[text("ok")]]) as provider:
        run = await Agent(provider, tools=[], limits=Limits(steps=3), approve="deny").run("go")
    settings = {name: run.settings[name] for name in ("steps", "seconds", "usd", "tools", "approve")}
    assert settings == {"steps": 3, "seconds": None, "usd": None, "tools": [], "approve": "deny"}
