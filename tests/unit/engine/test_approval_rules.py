"""Approval rules by tool name."""

import re
from dataclasses import replace

import pytest

from agent_nb import Agent, ConfigError, tool
from agent_nb.core.events import ApprovalRequested
from agent_nb.engine.approval import ApprovalRules
from agent_nb.providers.scripted import ScriptedProvider, call, text
from tests.support.scripts import of, run_script


@tool
def get_weather(place: str) -> str:
    """Looks."""
    return f"sunny in {place}"


@tool(approval="ask")
def get_money(euros: int) -> str:
    """Takes."""
    return f"{euros} euros"


SERVED = replace(get_money, origin="mcp:bank/get_money")
TOOLS = [get_weather, get_money]


@pytest.mark.parametrize(
    ("rules", "weather", "money"),
    [
        ({}, None, "ask"),
        ({"get_weather": "ask"}, "ask", "ask"),
        ({"get_*": "auto"}, "auto", "auto"),
        ({"get_*": "deny", "get_m*": "ask", "get_money": "auto"}, "deny", "auto"),
        ({"get_money": "auto", "get_m*": "ask", "*": "deny"}, "deny", "auto"),
        ({"mcp:*": "deny"}, None, "ask"),
    ],
)
def test_the_most_specific_name_wins(rules, weather, money):
    found = ApprovalRules(by_name=rules)
    assert found.rule_by_name(get_weather) == weather
    assert found.covers(get_weather) is (weather is not None)
    assert found.rule(get_money) == money


@pytest.mark.parametrize("name", ["mcp:*", "mcp:bank", "mcp:bank/*", "mcp:b?nk/get_money"])
def test_tools_of_a_server_go_by_their_server(name):
    rules = ApprovalRules(by_name={name: "deny"})
    assert rules.rule(SERVED) == "deny"
    assert rules.rule_by_name(get_money) is None


@pytest.mark.parametrize(
    ("approve", "message"),
    [
        (
            {"get_wether": "ask"},
            "`approve` names 'get_wether', which matches no tool of this agent. Its tools: get_weather, get_money.",
        ),
        (
            {"get_money": "maybe"},
            "`approve['get_money']` is 'ask', 'auto', 'deny' or a function, not 'maybe'.",
        ),
        ("maybe", "`approve` is 'ask', 'auto', 'deny' or a function, not 'maybe'."),
        (None, "'ask', 'auto', 'deny' or a function"),
        (True, "'ask', 'auto', 'deny' or a function"),
        ({3: "ask"}, "`approve` names 3, which matches no tool"),
    ],
)
def test_a_mistake_in_the_rules_names_the_remedy(approve, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        Agent(ScriptedProvider([]), tools=TOOLS, approve=approve)


async def test_a_rule_holds_for_a_tool_that_would_not_ask():
    turn = [call("get_weather", {"place": "Lyon"}), call("get_money", {"euros": 3})]
    approve = {
        "get_weather": lambda asked, args: args["place"] != "Lyon",
        "get_money": "auto",
        "mcp:*": "ask",
    }
    run = await run_script(turn, [text("ok")], tools=TOOLS, approve=approve)
    assert [use.result.code for use in run.tool_uses] == ["DENIED", None]
    assert [event.name for event in of(run, ApprovalRequested)] == ["get_weather"]
    assert run.settings["approve"] == "get_weather=function, get_money=auto, mcp:*=ask"
