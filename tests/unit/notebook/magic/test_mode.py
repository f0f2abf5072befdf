"""How options, the environment and the cassette on disk decide whether a cell asks, records or replays."""

import shutil

import pytest

from agent_nb import Agent, model
from agent_nb._base.constants import MODE_VARIABLE
from agent_nb.core.errors import AgentError
from agent_nb.notebook.cassette_choice import choose_cassette
from agent_nb.notebook.magic.cell_rules import CellRules
from agent_nb.notebook.magic.model_choice import ModelChoice
from agent_nb.notebook.magic.plan import make_plan
from tests.support.shells import quick_run

PROMPT = "A form"


@pytest.fixture(scope="module")
def tape(tmp_path_factory):
    """A cassette of the demo."""
    path = tmp_path_factory.mktemp("tape") / "hero.run.jsonl"
    Agent(model("demo:", pace=0)).recording(path).run_sync(PROMPT)
    return path


@pytest.fixture
def recorded(shell, tmp_path, tape):
    """Puts the cassette where a cell called `hero` looks for it."""
    (tmp_path / "cassettes").mkdir()
    shutil.copy(tape, tmp_path / "cassettes" / "hero.run.jsonl")


def choose(shell, line: str, base=None):
    options = shell.options(line)
    models = ModelChoice.of(shell.session, options.models, CellRules())
    return choose_cassette(options, base, models.recorded)


@pytest.mark.parametrize(
    ("line", "variable", "wanted"),
    [
        ("hero", "", "auto"),
        ("hero --record", "", "record"),
        ("hero --replay", "", "replay"),
        ("hero --replay off", "", "live"),
        ("hero", "record", "record"),
        ("", "record", "live"),
        ("hero", "live", "live"),
        ("hero", " Replay ", "auto"),
        ("hero --replay", "replay", "replay"),
        ("hero --replay", "live", "replay"),
        ("hero --replay off -m demo:", "replay", "live"),
        ("-m replay:tapes/x.jsonl", "", "replay"),
    ],
)
def test_options_win_over_the_environment(shell, monkeypatch, line, variable, wanted):
    monkeypatch.setenv(MODE_VARIABLE, variable)
    assert choose(shell, line).mode == wanted


@pytest.mark.parametrize(
    ("line", "variable", "says"),
    [
        ("hero --record --replay", "", "Use only one of --record and --replay"),
        ("--record", "", "--record needs a name"),
        (
            "hero --replay=other",
            "",
            "--replay takes a path, such as `--replay cassettes/hero.run.jsonl`, or `off`.",
        ),
        ("hero -m replay:", "", "Name the cassette to play"),
        ("hero -m replay:x.jsonl --record", "", "Leave out --record"),
        ("hero -m replay:x.jsonl -m demo:", "", "Leave out the other -m"),
        ("hero -m replay:x.jsonl -n 3", "", "Leave out -n"),
        ("hero -m replay:x.jsonl --replay y.jsonl", "", "Leave out --replay"),
        ("hero", "sometimes", "AGENT_NB_MODE is 'sometimes'. Set it to record, replay or live."),
        ("hero --replay off", "replay", "allows no network access. Leave out --replay off"),
    ],
)
def test_a_contradiction_is_refused(shell, monkeypatch, line, variable, says):
    monkeypatch.setenv(MODE_VARIABLE, variable)
    with pytest.raises(AgentError) as caught:
        choose(shell, line)
    assert says in str(caught.value)


def test_the_cassette_is_named_after_the_run(shell):
    assert choose(shell, "hero").path == "cassettes/hero.run.jsonl"
    assert choose(shell, "hero --record tapes/x").path == "tapes/x"
    assert choose(shell, "hero --replay x.jsonl").path == "x.jsonl"
    assert choose(shell, "--replay hero").path == "cassettes/hero.run.jsonl"
    assert choose(shell, "-m replay:tapes/x.jsonl").path == "tapes/x.jsonl"


def test_a_cell_that_continues_has_its_own_cassette(shell):
    first = quick_run()
    assert first.name == "run"
    assert choose(shell, "run -c", first).path == "cassettes/run-2.run.jsonl"
    assert choose(shell, "other --from run", first).path == "cassettes/other.run.jsonl"
    third = Agent(model("demo:", pace=0)).run_sync("Make it blue", base=first)
    assert choose(shell, "run -c", third).path == "cassettes/run-3.run.jsonl"


def test_the_model_is_read_from_option_config_and_environment(shell, monkeypatch):
    assert choose(shell, "hero").models == ()
    monkeypatch.setenv("AGENT_NB_MODEL", "openai:a")
    assert choose(shell, "hero").models == ("openai:a",)
    shell.magics.model = "openai:b"
    assert choose(shell, "hero").models == ("openai:b",)
    assert choose(shell, "hero -m openai:c").models == ("openai:c",)


async def plan(shell, line: str, prompt: str = PROMPT):
    return await make_plan(shell.session, shell.options(line), prompt, watched=False)


@pytest.mark.parametrize(
    ("line", "plays"),
    [
        ("hero", True),
        ("hero --replay", True),
        ("hero --replay off", False),
        ("hero --record", False),
        ("x", False),
    ],
)
async def test_an_existing_cassette_plays(shell, recorded, line, plays):
    assert (await plan(shell, line)).replays is plays


async def test_a_replay_without_a_cassette_is_refused(shell):
    with pytest.raises(AgentError) as caught:
        await plan(shell, "hero --replay")
    assert str(caught.value) == "There is no cassette 'cassettes/hero.run.jsonl'. `--record` writes one."


async def test_a_damaged_cassette_never_plays(shell, recorded, tmp_path):
    (tmp_path / "cassettes" / "hero.run.jsonl").write_text("not a cassette\n")
    with pytest.raises(AgentError, match="--replay off"):
        await plan(shell, "hero")
    assert not (await plan(shell, "hero -m demo:")).replays


async def test_a_mismatch_says_what_differs(shell, recorded):
    with pytest.raises(AgentError) as caught:
        await plan(shell, "hero", "A game")
    assert "'cassettes/hero.run.jsonl' was recorded with" in str(caught.value)
    assert "prompt" in str(caught.value)
    with pytest.raises(AgentError, match="demo"):
        await plan(shell, "hero -m openai:gpt-6-sol")
    assert not (await plan(shell, "hero -m demo:", "A game")).replays


async def test_offline_asks_no_model(shell, monkeypatch):
    monkeypatch.setenv(MODE_VARIABLE, "replay")
    assert [run.provider.name for run in (await plan(shell, "hero -m demo:")).prepared] == ["demo:"]
    with pytest.raises(AgentError, match=r"no cassette 'cassettes/hero.run.jsonl' for 'openai:gpt-6-sol'"):
        await plan(shell, "hero -m openai:gpt-6-sol")
