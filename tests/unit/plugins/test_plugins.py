"""Plugins: what they add, what they cannot do, and that one that is broken takes nothing else down."""

import subprocess
import sys

import pytest

from agent_nb import Agent, register, tool
from agent_nb import plugins as seam
from agent_nb.core.errors import ConfigError
from agent_nb.plugins import Command, LoadedPlugin, Plugin, Reaction, Rules, Vendor
from agent_nb.providers.vendors import VENDORS

DEMO = "%%agent hero -m demo: --pace 0{options}\nA form"


@pytest.fixture(autouse=True)
def clean():
    """Removes what a test has registered."""
    before = list(seam.plugins())
    yield
    for loaded in [each for each in seam.plugins() if each not in before]:
        seam._remove(loaded)
    seam.plugins()[:] = before


def with_rules(**members) -> Plugin:
    """A plugin whose rules have these members."""
    rules = type("Some", (Rules,), members)()
    return type("Strict", (Plugin,), {"rules": lambda self, cell: rules})()


@tool
def forecast(city: str) -> str:
    """The weather in a city."""
    return "sunny"


class Weather(Plugin):
    def vendors(self):
        return [Vendor(name="breeze", title="Breeze", apis=("demo",), price_id="free")]

    def tools(self):
        return {"weather": [forecast]}

    def commands(self):
        complete = lambda notebook, before: [("Lyon", "a city")]  # noqa: E731
        return [Command("forecast CITY", "The weather.", lambda notebook, rest: f"{rest}: sunny", complete)]


def test_everything_that_a_plugin_adds_can_be_used(shell):
    register(Weather())
    assert "sunny" in shell.run("%agent forecast Lyon").stdout
    assert [each.text for each in shell.complete("%agent forecast ")] == ["Lyon"]
    assert "-t weather" in repr(shell.run("%agent tools").displays)
    for name in ("weather", "forecast"):
        assert "forecast" in shell.run(DEMO.format(options=f" -t {name} --dry-run")).stdout
    assert Agent("breeze:light").model
    assert "vendor breeze, tool weather, command forecast" in repr(shell.run("%agent plugins").displays)


ASKED_MEANWHILE = """
import sys, threading
from agent_nb import plugins as seam

names = []
other = threading.Thread(target=lambda: names.extend(each.name for each in seam.plugins()))

class Finder:
    def find_spec(self, name, *rest):
        if name == "agent_nb.classroom.plugin":
            other.start()
            other.join(0.5)  # long enough for an answer that does not wait

sys.meta_path.insert(0, Finder())
seam.plugins()
other.join()
print(names)
"""


def test_who_asks_while_plugins_are_loaded_waits_for_all_of_them():
    command = [sys.executable, "-c", ASKED_MEANWHILE]
    assert "lab" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_registering_again_replaces(shell):
    register(Weather())
    register(Weather())
    assert [each.name for each in seam.plugins()].count("Weather") == 1


@pytest.mark.parametrize(
    ("method", "added", "message"),
    [
        ("vendors", [Vendor(name="anthropic", title="Mine", price_id="free")], "vendor `anthropic`"),
        ("tools", {"files": [forecast]}, "tool `files`"),
    ],
)
def test_a_name_of_ours_is_refused(method, added, message):
    claims = type("Claims", (Plugin,), {method: lambda self: added})
    with pytest.raises(ConfigError, match=f"Both agent_nb and Claims add the {message}"):
        register(claims())
    assert VENDORS["anthropic"].title == "Anthropic"


def test_two_plugins_with_one_name_are_both_named():
    register(Weather())
    with pytest.raises(ConfigError, match="Both Weather and Other add the vendor `breeze`"):
        register(Weather(), "Other")
    assert "Other" not in [each.name for each in seam.plugins()]


def test_a_command_of_ours_is_kept(shell):
    class Claims(Plugin):
        def commands(self):
            return [Command("runs", "Mine.", lambda notebook, rest: "mine")]

    try:
        register(Claims())
    except ConfigError as error:
        assert "command `runs`" in str(error)  # noqa: PT017 - which comes first depends on the tests before
    assert "mine" not in shell.run("%agent runs").stdout


@pytest.mark.parametrize(
    ("members", "options", "message"),
    [
        ({"options": lambda self, options: type(options)(network=True)}, "", "changes --network"),
        ({"options": lambda self, options: type(options)(tools=("kernel",))}, "", "changes -t"),
        ({"options": lambda self, options: type(options)(approve=("auto",))}, "", "changes --approve"),
        ({"options": lambda self, options: type(options)(data="all")}, "", "changes --data"),
        ({"options": lambda self, options: type(options)(bind="key")}, "", "changes --bind"),
        ({"options": lambda self, options: type(options)()}, " --budget 1", "changes --budget"),
        ({"options": lambda self, options: type(options)(steps=99)}, "", "changes --steps"),
    ],
)
def test_rules_cannot_loosen(shell, members, options, message):
    register(with_rules(**members))
    refused = shell.run(DEMO.format(options=options))
    assert not refused.ok
    assert message in refused.stderr


def test_rules_tighten(shell):
    from agent_nb import Limits

    seen = []

    def limits(self, limits, models):
        return Limits(steps=500, seconds=3)

    members = {
        "approve": "deny",
        "without_tools": ("delete_file",),
        "limits": limits,
        "notes": lambda self: ["Read this first."],
        "end": lambda self, run: seen.append(run.name) or ["Noted."],
    }
    register(with_rules(**members))
    cell = shell.run(DEMO.format(options=" --steps 7 --approve auto"))
    settings = shell.names["hero"].settings
    assert (settings["approve"], settings["steps"], settings["seconds"]) == ("deny", 7, 3)
    assert "delete_file" not in settings["tools"]
    assert "Read this first." in cell.stdout
    assert "Noted." in cell.stdout
    assert seen == ["hero"]


def test_rules_can_end_a_run(shell):
    def event(self, run_id, event):
        return Reaction("That is enough.", "budget") if type(event).__name__ == "FileDelta" else None

    register(with_rules(event=event))
    cell = shell.run(DEMO.format(options=""))
    assert "That is enough." in cell.stdout
    assert shell.names["hero"].reason == "budget"


def test_a_broken_plugin_is_one_line_unless_it_has_rules(shell):
    seam.plugins().append(LoadedPlugin("odd", "odd-package", has_rules=False, problem="ImportError: no."))
    assert shell.run(DEMO.format(options="")).ok
    assert "ImportError: no." in repr(shell.run("%agent plugins").displays)
    seam.plugins().append(
        LoadedPlugin("school", "school-package", has_rules=True, problem="ImportError: no.")
    )
    refused = shell.run(DEMO.format(options=""))
    assert not refused.ok
    assert "`%agent plugins off school` runs cells without it" in refused.stderr
    assert "is loaded" in shell.run("%agent plugins off lab").stderr
    assert shell.run("%agent plugins off school").ok
    assert shell.run(DEMO.format(options="")).ok


def test_rules_need_their_own_group():
    loaded = LoadedPlugin("weak", "weak-package", has_rules=False)
    with pytest.raises(ConfigError, match=r"belongs in the group `agent_nb\.rules`"):
        seam._add(loaded, with_rules())
