"""Every refusal of a lab names the rule and the file."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_nb.classroom.rules import read_lab
from agent_nb.core.errors import ConfigError
from agent_nb.tools import Toolbox

KERNEL = {"kernel": ("list_variables", "describe_variable", "run_python")}


def rules(text: str):
    return read_lab(Path("lab.toml"), f"[lab]\n{text}".encode())


def refused(rule: str):
    return pytest.raises(ConfigError, match=rf"\(`{rule}` in lab\.toml\)$")


def test_the_times_are_those_of_the_file_and_the_clock_is_named():
    lab = rules("open = 2026-11-01T08:00:00+01:00\nclose = 2026-12-01T18:00:00+01:00")
    with refused("open") as early:
        lab.check_open(datetime(2026, 11, 1, 6, 59, tzinfo=UTC))
    assert "opens at 2026-11-01 08:00+01:00; the clock here shows 2026-11-01 07:59+01:00." in str(early.value)
    lab.check_open(datetime(2026, 11, 1, 7, tzinfo=UTC))
    lab.check_open(datetime(2026, 12, 1, 16, 59, tzinfo=UTC))
    with refused("close") as late:
        lab.check_open(datetime(2026, 12, 1, 17, tzinfo=UTC))
    assert "closed at 2026-12-01 18:00+01:00; the clock here shows 2026-12-01 18:00+01:00." in str(late.value)


def test_tools_by_name_and_by_group():
    lab = rules('tools = ["files", "check_preview", "mcp:weather", "run_python"]')
    lab.check_tools(["mcp:weather", "mcp:weather/get", "run_python"], KERNEL)
    for name in ("kernel", "list_variables", "mcp:mail", "mcp:weatherman", "my_own"):
        with refused("tools"):
            lab.check_tools([name], KERNEL)
    rules('tools = ["kernel"]').check_tools(["run_python", "kernel"], KERNEL)
    left = {tool.name for tool in Toolbox.default().without(lab.left_out())}
    assert {"create_file", "read_file", "check_preview"} <= left
    assert not left & {"generate_images", "retrieve_option"}
    assert not list(Toolbox.default().without(rules("tools = []").left_out()))
    assert not rules("").left_out()
