"""The tables and messages of `%agent models | tools | runs | ...`."""

import logging
from dataclasses import replace

import pytest

from agent_nb import Agent, load, replay, tool
from agent_nb.acp.known import AGENTS
from agent_nb.engine.cost import SESSION
from agent_nb.providers.scripted import ScriptedProvider, text, usage
from agent_nb.providers.vendors import VENDORS
from agent_nb.run.store import RunStore
from agent_nb.tools import Toolbox
from tests.support.shells import quick_run


def table_of(shell, command: str) -> str:
    """The one table a command shows, as text."""
    cell = shell.run(f"%agent {command}")
    assert cell.ok, cell.stderr
    (table,) = cell.displays
    assert set(table) == {"text/plain", "text/html"}
    return table["text/plain"]


def row(table: str, name: str) -> str:
    return next(line for line in table.splitlines() if line.split()[0] == name)


def test_models_are_listed_with_their_key_variables(shell, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    table = table_of(shell, "models")
    openai, anthropic = (
        next(line for line in table.splitlines() if line.startswith(v)) for v in ("openai:", "anthropic:")
    )
    assert " ready " in openai
    assert "set ANTHROPIC_API_KEY" in anthropic
    assert len(table.splitlines()) == 1 + len(VENDORS) + len(AGENTS)
    assert "sk-test" not in table


@pytest.mark.parametrize(
    ("settings", "default", "reason"),
    [
        ({}, "demo:", "because no key is set"),
        ({"GOOGLE_API_KEY": "AIza-test"}, "gemini:gemini-4-argon", "the first with a key"),
        ({"AGENT_NB_MODEL": "ollama"}, "ollama:qwen3", "which AGENT_NB_MODEL sets"),
        ({"AGENT_NB_MODEL": "openai:gpt-4o"}, "openai:gpt-4o", "which AGENT_NB_MODEL sets"),
        ({"configured": "'openai'"}, "openai:gpt-6.1-sol", "which `%config AgentMagics.model` sets"),
    ],
)
def test_the_default_model_is_marked(shell, monkeypatch, settings, default, reason):
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)
    shell.run("%config AgentMagics.model = " + settings.get("configured", "''"))
    table = table_of(shell, "models")
    marked = [line.split()[0] for line in table.splitlines()[:-1] if "  default" in line]
    assert marked == [default] * (default != "openai:gpt-4o")
    assert table.endswith(f"\nCells that name no model use {default}, {reason}.")


def test_a_configured_model_of_no_vendor_is_named(shell):
    shell.run("%config AgentMagics.model = 'opnai:x'")
    assert "'opnai'" in table_of(shell, "models").splitlines()[-1]


def test_the_users_tools_are_listed(shell):
    @tool(approval="ask")
    def launch(where: str) -> str:
        """Launches a rocket.

        Slowly.
        """
        return where

    shell.names["launch"] = launch
    table = table_of(shell, "tools")
    assert "-t launch" in row(table, "launch")
    assert " ask " in row(table, "launch")
    assert row(table, "launch").endswith("Launches a rocket.")
    assert "always" in row(table, "create_file")
    assert {line.split()[0] for line in table.splitlines()[1:]} >= {each.name for each in Toolbox.default()}


def test_a_listed_run_can_be_loaded(shell, tmp_path, monkeypatch):
    assert table_of(shell, "runs").startswith("No saved runs in ")
    for prompt in ("A form", "A game"):
        shell.run(f"%%agent hero -m demo: --pace 0 --plain\n{prompt}")
    calls = [line.split("  ")[-1].strip() for line in table_of(shell, "runs").splitlines()[1:]]
    assert calls[1] == "%agent load hero"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for call, prompt in zip(calls, ("A form", "A game"), strict=True):
        assert shell.run(f"hero = None\n{call}").ok
        assert shell.names["hero"].prompt == prompt


def test_only_the_last_twenty_runs_are_listed(shell, tmp_path):
    run = quick_run()
    for number in range(22):
        RunStore(tmp_path).save(replace(run, name=f"run{number}", id=str(number)))
    names = [line.split()[0] for line in table_of(shell, "runs").splitlines()[1:]]
    assert names == [f"run{number}" for number in range(2, 22)]


@pytest.fixture
def fresh_session_costs():
    SESSION.clear()
    yield
    SESSION.clear()


def test_cost_counts_each_cell_once(shell, fresh_session_costs):
    assert table_of(shell, "cost") == "No runs yet."
    for _ in range(3):
        assert shell.run("%%agent hero -m demo: --pace 0 --plain\nA form").ok
    shell.names["same"] = shell.names["hero"]
    quick_run()
    assert row(table_of(shell, "cost"), "demo:").split()[1] == "4"


def test_variants_are_counted_by_their_models(shell, fresh_session_costs):
    assert shell.run("%%agent hero -n 3 -m demo: -m demo:shop --pace 0 --plain\nA form").ok
    table = table_of(shell, "cost")
    assert [row(table, name).split()[1] for name in ("demo:", "demo:shop")] == ["3", "3"]
    assert table.endswith("Total in this session: $0.0000.")


def test_loaded_and_replayed_runs_cost_nothing(shell, fresh_session_costs, tmp_path):
    paid = ScriptedProvider([[text("done"), usage(input=1_000_000)]] * 2, name="anthropic:claude-opus-5-5")
    run = Agent(paid).recording(tmp_path / "a.jsonl").run_sync("go")
    before = table_of(shell, "cost")
    assert before.endswith(f"Total in this session: ${run.cost:.4f}.")
    shell.names["again"] = load(run.save(tmp_path / "a.json"))
    assert table_of(shell, "cost") == before
    Agent(replay(tmp_path / "a.jsonl")).run_sync("go")
    after = table_of(shell, "cost")
    assert row(after, run.model).split()[1] == "1"
    assert row(after, run.model).endswith(f"1, ${run.cost:.4f} when recorded")
    assert after.endswith(f"Total in this session: ${run.cost:.4f}.")


def test_an_unknown_price_is_reported(shell, fresh_session_costs):
    SESSION.add(replace(quick_run(), model="ollama:qwen3", cost=None))
    table = table_of(shell, "cost")
    assert row(table, "ollama:qwen3").endswith("not known")
    assert table.endswith("Total in this session: $0.0000. Some prices are not known.")


def test_config_lists_every_default(shell):
    shell.run("%config AgentMagics.steps = 7")
    table = table_of(shell, "config")
    assert row(table, "steps").split()[1] == "7"
    assert {line.split()[0] for line in table.splitlines()[1:-1]} == set(shell.magics.traits(config=True))


@pytest.mark.parametrize(
    ("word", "level"), [("on", logging.INFO), ("debug", logging.DEBUG), ("off", logging.WARNING), ("", 20)]
)
def test_the_log_level_can_be_set(shell, word, level):
    log = logging.getLogger("agent_nb")
    handlers, before = list(log.handlers), log.level
    try:
        assert f"is {word or 'on'}" in shell.run(f"%agent log {word}").stdout
        shell.run(f"%agent log {word}")
        assert log.level == level
        assert len(log.handlers) == max(1, len(handlers))
    finally:
        log.handlers[:] = handlers
        log.setLevel(before)


def test_a_run_is_exported_beside_the_notebook_or_where_one_says(shell, tmp_path):
    run = shell.names["hero"] = quick_run()
    shown = shell.run("%agent export hero '<a b>.html'").displays[0]
    assert "It replays hero in any browser" in shown["text/plain"]
    assert '<a href="%3Ca%20b%3E.html"' in shown["text/html"]
    assert "/&lt;a b&gt;.html</a>" in shown["text/html"]
    assert shell.run(f"%agent export hero '{tmp_path}/a b.html'").ok
    assert (tmp_path / "a b.html").read_bytes() == run.to_replay(tmp_path / "x.html").read_bytes()
    assert shell.run(f"%agent export hero {tmp_path}/hero.md").ok
    assert (tmp_path / "hero.md").read_text(encoding="utf-8") == run.to_markdown()
    assert "end in .html, .md, .txt" in shell.run(f"%agent export hero {tmp_path}/hero.pdf").stderr
    assert shell.run(f"%agent export hero {tmp_path}/hero.md").ok
    for name in ("README.md", "notes.txt", "own.html"):
        (tmp_path / name).write_text("mine")
        assert "was not written by a run" in shell.run(f"%agent export hero {tmp_path}/{name}").stderr
        assert (tmp_path / name).read_text() == "mine"
    (tmp_path / "folder.md").mkdir()
    cell = shell.run(f"%agent export hero {tmp_path}/folder.md")
    assert not cell.ok
    assert "cannot be written" in cell.stderr


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("modls", "There is no command 'modls'. Did you mean `%agent models`?"),
        ("xyzzy", "The commands are models, tools, mcp, lend, use, runs"),
        ("make me a page", "Write a prompt in a cell, below a %%agent line."),
        ("tool for sale", "Write a prompt in a cell, below a %%agent line."),
        ("tools please", "`%agent tools` takes no arguments: remove 'please'."),
        ("load", "Name a saved run, such as `%agent load hero`; `%agent runs` lists them."),
        ("load nothing", "There is no saved run 'nothing'. `%agent runs` lists them."),
        ("undo", "Name the run to restore, such as `%agent undo hero`."),
        ("undo hero", "There is no earlier run of `hero` in this session. `%agent runs` lists saved runs."),
        ("export", "Name one run, such as `%agent export hero`."),
        ("export nothing", "`nothing` is not a finished run. `%agent load NAME` loads a saved one."),
        ("log loud", "takes on, debug or off, not 'loud'"),
    ],
)
def test_a_wrong_command_is_an_error_of_one_line(shell, command, says):
    cell = shell.run(f"%agent {command}")
    assert not cell.ok
    assert says in cell.stderr
    assert cell.stderr.count("\n") == 1


def test_help_shows_options_and_commands(shell):
    shown = shell.run("%agent help").stdout
    assert shown.startswith("%%agent [NAME] [OPTION]...")
    assert "%agent export NAME [PATH]" in shown
    assert shell.run("%agent").stdout == shown
