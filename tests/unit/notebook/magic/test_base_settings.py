"""The settings of a run that a cell continues: they can only make the user's own stricter, also in a hostile file."""

from dataclasses import replace

import pytest

from agent_nb import Agent, Limits, load
from agent_nb.core.errors import SavedRunError
from agent_nb.core.run_settings import SETTINGS
from agent_nb.notebook.magic.plan import make_plan
from agent_nb.providers.scripted import ScriptedProvider
from tests.support.shells import quick_run

CONFIG = {"data": "schema", "approve": "deny", "steps": 3, "seconds": 9.0, "budget": 0.1, "looks": 0}
LAX = {
    "data": "all",
    "approve": "auto",
    "network": True,
    "tools": ["run_python", "fetch_image"],
    "bind": {"key": "str"},
    "looks": 99,
    "steps": 10**6,
    "seconds": None,
    "usd": None,
}
STRICT = [name for name, row in SETTINGS.items() if row.stricter]


async def settings_of(shell, line: str):
    """The settings of the run that a cell with this line would start."""
    plan = await make_plan(shell.session, shell.options(f"-m demo: {line}"), "A form", watched=False)
    return plan.prepared[0].settings


def base_with(**settings):
    """A run with these settings and files, and no conversation."""
    return replace(quick_run(), messages=(), settings={**quick_run().settings, **settings})


@pytest.mark.parametrize("name", STRICT)
async def test_a_laxer_base_run_loosens_nothing(shell, name):
    for trait, value in CONFIG.items():
        setattr(shell.magics, trait, value)
    expected = (await settings_of(shell, "")).value(name)
    shell.names |= {"key": "k", "hero": base_with(**LAX)}
    for line in ("--from hero", "hero -c", "--from hero.at(1)"):
        assert (await settings_of(shell, line)).value(name) == expected
    agent = Agent(ScriptedProvider([]), tools=[], approve="deny", limits=Limits(steps=3)).with_data("schema")
    runs = [agent.prepare("go", base=base) for base in (None, shell.names["hero"])]
    assert len({str(run.settings.value(name)) for run in runs}) == 1


async def test_a_stricter_base_run_tightens_unless_the_cell_says_otherwise(shell):
    shell.names["hero"] = base = base_with(data="schema")
    assert (await settings_of(shell, "--from hero")).data == "schema"
    assert (await settings_of(shell, "--from hero --data all")).data == ""
    agent = Agent(ScriptedProvider([]))
    assert agent.prepare("go", base=base).settings.data == "schema"
    assert agent.with_data("all").prepare("go", base=base).settings.data == ""


async def test_the_defaults_of_an_earlier_run_do_not_replace_a_later_config(shell):
    shell.names["hero"] = base_with(steps=1, approve="deny", tools=[])
    shell.magics.approve, shell.magics.steps = "auto", 50
    settings = await settings_of(shell, "--from hero")
    assert (settings.approve, settings.limits.steps) == ("auto", 50)
    assert "create_file" in settings.tools


def test_a_run_file_with_another_word_for_data_is_refused(tmp_path):
    file = base_with(data="all").save(tmp_path / "hero.run.jsonl")
    with pytest.raises(SavedRunError, match="`data` is 'all', not one of schema"):
        load(file)
