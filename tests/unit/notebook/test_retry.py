"""The cells that the page offers after a failed run."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent_nb import Agent, Run, load, model, replay
from agent_nb.notebook.live.live_run import LiveRun
from agent_nb.notebook.retry_cells import MAX_CELL, repeats, retry_cells, with_model
from agent_nb.notebook.views.views import view_for
from tests.support.shells import quick_run
from tests.support.wire import WireServer, problem


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%%agent", "%%agent -m demo:"),
        ("%%agent hero", "%%agent -m demo: hero"),
        ("%%agent hero -m openai:gpt -n 2", "%%agent hero -m demo: -n 2"),
        ("%%agent hero -m a:b --model c:d --model=e:f", "%%agent hero -m demo:"),
        ("%%agent hero --check '-m x' in html", "%%agent -m demo: hero --check '-m x' in html"),
        ("%%time\n%%agent hero -m a:b", "%%time\n%%agent hero -m demo:"),
    ],
)
def test_another_model_replaces_those_of_the_cell(line, expected):
    assert with_model(f"{line}\nA page -m a:b", "demo:") == f"{expected}\nA page -m a:b"


def test_a_failed_run_offers_the_cell_as_written(shell, monkeypatch):
    cell = "%%agent hero -m anthropic:claude-opus-5-5\nA page with {{title}}"
    shell.names["title"] = "Bread"
    kept = []
    monkeypatch.setattr("agent_nb.notebook.magic.show_cell.view_for", _keeping(kept))
    with WireServer.in_thread() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-key")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url("anthropic_messages"))
        server.plan(problem(403, "Not for you"))
        shell.run(cell)
    ((handle, written),) = kept
    assert written == cell
    again, others = retry_cells(handle.result, written)
    assert again == cell
    assert others == ("%%agent hero -m openai:gpt-6.1-sol\nA page with {{title}}",)


async def test_an_unknown_model_offers_others_of_its_vendor(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key")
    cell = "%%agent hero -m anthropic:claude-opus-55\nA page"
    async with WireServer() as server:
        server.plan(problem(404, "model: claude-opus-55"))
        base_url = server.base_url("anthropic_messages")
        agent = Agent(model("anthropic:claude-opus-55", api_key="sk-ant-test-key", base_url=base_url))
        run = await agent.run("A page")
    assert retry_cells(run, cell)[1][0] == "%%agent hero -m anthropic:claude-opus-5-5\nA page"
    assert not any("-m openai:" in other or "-m demo:" in other for other in retry_cells(run, cell)[1])


def _keeping(kept: list):
    def keep(shell, handle, options, **more):
        kept.append((handle, more["cell"]))
        return view_for(shell, handle, options, **more)

    return keep


def test_nothing_is_offered_for_other_ends_or_cells_that_cannot_be_shown():
    run = quick_run()
    failed = replace(run, reason="failed", model="anthropic:claude-opus-5-5")
    assert retry_cells(run, "%%agent hero\nA page") == ("", ())
    for cell in (
        "",
        f"%%agent\n{'x' * MAX_CELL}",
        "%%agent\nUse sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345",
    ):
        assert retry_cells(failed, cell) == ("", ())
    assert retry_cells(failed, "%%agent\nA page")[0] == "%%agent\nA page"


LINE = (
    "look -m demo: -t kernel --tool=mcp:files --system 'Use our colours' --effort high --budget 0.20 --steps 8"
    " --seconds 90 --approve run_python=run --data schema --stack react --no-save --check '-t x' in text"
)
REPEATED = {
    "-t kernel": "kernel",
    "-t mcp:files": "mcp:files",
    '--system "Use our colours"': "system Use our colours",
    "--effort high": "effort high",
    "--budget 0.2": "$0.20",
    "--steps 8": "8 turns",
    "--seconds 90": "90 s",
    "--approve run_python=run": "approve run_python=run",
    "--data schema": "schema",
    "--stack react": "react",
}


def test_the_next_cell_repeats_the_options_that_it_would_not_have():
    for line in (LINE, " ".join(["next", *REPEATED])):
        options = repeats({"line": line}, is_own=True)
        assert {option.text: option.label for option in options} == REPEATED
        assert all(option.ticked for option in options)


STRANGE = (
    "look -m 'evil:x --approve auto' -m evil:model --bind df,api_key --system notes.md -t kernel"
    " -t 'kernel --approve auto' -t 'x` `--approve auto' --approve auto --data all --network"
    " --effort high --budget 0.2 --steps 8 --stack react"
)
OFFERED = {
    "-m evil:model": False,
    "--bind df,api_key": False,
    "-t kernel": False,
    "--stack react": True,
    "--effort high": True,
    "--system notes.md": False,
    "--budget 0.2": True,
    "--steps 8": True,
    "--approve auto": False,
    "--data all": False,
}


def loaded_run(folder: Path) -> Run:
    """A run with a line of someone else, from its file."""
    run = replace(quick_run(), name="look", model="evil:model", settings={"line": STRANGE})
    return load(run.save(folder / "look.run.jsonl"))


def test_what_a_run_of_someone_else_grants_is_offered_and_not_repeated(tmp_path):
    meta = LiveRun.finished(loaded_run(tmp_path), "k", print).stream.meta
    assert {option.text: option.ticked for option in meta.repeats} == OFFERED
    assert meta.default_model == ""  # the page would name the run's model


async def test_what_the_cell_of_a_replay_grants_is_offered_and_not_repeated(tmp_path):
    loaded_run(tmp_path)
    handle = Agent(replay(tmp_path / "look.run.jsonl")).start("A form")
    meta = LiveRun.following(handle, print).stream.meta
    assert {option.text: option.ticked for option in meta.repeats} == OFFERED
    assert meta.default_model == ""
    await handle


@pytest.mark.parametrize(
    "line", ["", "look", "look --steps none", "look 'open", 'look --system "a\nb"', "--nothing"]
)
def test_a_line_that_names_none_or_cannot_be_read_repeats_nothing(line):
    assert repeats({"line": line}, is_own=True) == ()


def test_a_run_keeps_the_line_of_its_cell_and_says_which_tools_the_next_one_lacks(shell):
    shell.run("%%agent look -m demo: -t kernel --pace 0\nA page about bread")
    assert shell.names["look"].settings["line"] == "look -m demo: -t kernel --pace 0"
    lacking = "`look` had the tools of `-t kernel`, and this cell does not."
    assert lacking in shell.run("%%agent other -m demo: --from look --pace 0\nMake it darker").stdout
    told = shell.run("%%agent other -m demo: --from look -t kernel --pace 0\nMake it darker")
    assert lacking not in told.stdout


def test_a_note_quotes_no_option_from_a_file(shell, tmp_path):
    shell.names["look"] = loaded_run(tmp_path)
    told = shell.run("%%agent other -m demo: --from look --pace 0\nMake it darker").stdout
    assert "`look` had the tools of `-t kernel`, and this cell does not." in told
    assert "--approve" not in told


def test_a_line_with_a_secret_is_not_kept(shell):
    shell.run("%%agent look -m demo: --pace 0 --system 'sk-ant-api03-0123456789abcdef0123456789'\nA page")
    assert "line" not in shell.names["look"].settings
