"""Tab completion on `%%agent` and `%agent` lines."""

from dataclasses import replace

import pytest

from agent_nb import tool
from agent_nb.notebook.magic.commands import COMMANDS
from agent_nb.notebook.magic.names import bind
from agent_nb.notebook.magic.options import OPTIONS
from agent_nb.notebook.magic.store import RunStore
from tests.support.shells import quick_run, start_shell


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    home = tmp_path_factory.mktemp("shell")
    with start_shell(home) as shell:
        run = quick_run()
        shell.names.update(hero=run, heroic=3, _hidden=run, heat=tool(lambda: "warm"))
        (home / "cassettes").mkdir()
        for name in ("hero.jsonl", "villain.jsonl", "notes.txt"):
            (home / "cassettes" / name).touch()
        for name in ("villain", "villain", "city"):
            RunStore(home).save(replace(run, name=name))
        bind(shell.session, replace(run, name="hero"))
        yield shell


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%%agent --bud", ["--budget"]),
        ("%%agent hero --re", ["--record", "--replay"]),
        ("%%agent hero --from he", ["hero"]),
        ("%%agent hero -t he", ["heat"]),
        ("%%agent hero -w he", ["heat", "hero", "heroic"]),
        ("%%agent hero --effort m", ["max", "medium", "minimal"]),
        ("%%agent hero --approve ", ["ask", "auto", "deny"]),
        ("%%agent hero --cassette ", ["cassettes/hero.jsonl", "cassettes/villain.jsonl"]),
        ("%%agent hero -m de", ["deepseek:", "demo:"]),
        ("%agent co", ["config", "console", "cost"]),
        ("%agent load vi", ["villain"]),
        ("%agent undo he", ["hero"]),
        ("%agent console he", ["hero"]),
        ("%agent log ", ["debug", "off", "on"]),
    ],
)
def test_tab_offers_matching_values(shell, line, offered):
    assert [match.partition("deepseek:")[1] or match for match in sorted(shell.complete(line))] == offered


def test_every_command_is_offered(shell):
    assert set(shell.complete("%agent ")) == set(COMMANDS)


def test_every_option_is_offered(shell):
    known = {flag for option in OPTIONS.values() for flag in option.flags}
    assert {match for match in shell.complete("%%agent hero --") if match.startswith("--")} == {
        flag for flag in known if flag.startswith("--")
    }


def test_completion_follows_the_configured_name(shell):
    shell.run("%config AgentMagics.magic_name = 'robot'")
    try:
        assert shell.complete("%%robot hero --bud") == ["--budget"]
        assert sorted(shell.complete("%robot co")) == ["config", "console", "cost"]
        assert shell.complete("%%agent hero --bud") == []
    finally:
        shell.run("%config AgentMagics.magic_name = 'agent'")


def test_other_magics_are_left_alone(shell):
    assert "%%timeit" in shell.complete("%%timei")
    assert shell.complete("%%timeit --bud") == []
