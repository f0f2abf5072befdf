"""Cassettes in a real kernel: recorded over a real socket, replayed without a key or a network."""

import pytest

from tests.kernel.test_unattended import quiet
from tests.support.kernels import start_kernel
from tests.support.wire import Call, Say, Think, Tokens, WireServer, problem, reply

__all__ = ["quiet"]

MODEL = "anthropic:claude-opus-5-5"
CELL = f"%%agent hero -m {MODEL}\nA page for a bakery"
PAGE = "<!doctype html>\n<h1>Pain</h1>\n"
SDKS = "[name for name in ('openai', 'anthropic', 'google.genai') if name in __import__('sys').modules]"
SHOWN = (
    "[(e.type, e.at) for e in hero.events], dict(hero.files), hero.text, hero.usage, hero.cost, hero.model,"
    " hero.messages, hero.key"
)


def plan(server: WireServer) -> None:
    server.plan(
        reply(
            Think("Warm colours."),
            Say("I write the page."),
            Call("create_file", {"path": "index.html", "content": PAGE}, id="call_a"),
            Tokens(input=900, output=400),
        ),
        reply(Say("The page is ready."), Tokens(input=1200, output=8)),
    )


def keyed(server: WireServer) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": "a-key-of-the-tests-1234",
        "ANTHROPIC_BASE_URL": server.base_url("anthropic_messages"),
    }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with the cassette of CELL, and what the recording kernel saw."""
    home = tmp_path_factory.mktemp("recorded")
    with WireServer.in_thread() as server, start_kernel(home, **keyed(server)) as kernel:
        plan(server)
        cell = kernel.run(CELL.replace("hero", "hero --record"))
        assert cell.status == "ok", cell.errors
        assert "Recorded in cassettes/hero.run.jsonl." in cell.stdout
        assert len(server.requests) == 2
        seen = kernel.value(SHOWN)
        replayed = kernel.run(CELL)
        assert replayed.status == "ok", replayed.errors
        assert len(server.requests) == 2
        assert kernel.value("hero.settings['replayed']") == "'cassettes/hero.run.jsonl'"
    text = (home / "cassettes/hero.run.jsonl").read_text()
    assert "a-key-of-the-tests-1234" not in text
    return home, seen


@pytest.fixture(scope="module")
def keyless(recorded):
    home, _ = recorded
    with start_kernel(home) as kernel:
        yield kernel


def test_a_cassette_replays_with_no_key(recorded, keyless):
    cell = keyless.run(CELL)
    assert cell.status == "ok", cell.errors
    assert cell.stdout == ""
    assert keyless.value(SHOWN) == recorded[1]
    assert keyless.value(SDKS) == "[]"
    assert (
        keyless.value("hero.settings['replayed'], files is hero.files")
        == "('cassettes/hero.run.jsonl', True)"
    )


def test_a_watched_replay_is_the_same_run(recorded, keyless):
    cell = keyless.run(CELL.replace("hero", "hero --pace 0.01"), stdin=True)
    assert cell.status == "ok", cell.errors
    assert keyless.value(SHOWN) == recorded[1]
    assert cell.updates


@pytest.mark.parametrize("line", ["hero", "hero -m anthropic:", "hero --replay", "hero --pace 0.01"])
def test_a_cassette_plays_if_no_model_is_named(keyless, line):
    cell = keyless.run(f"%%agent {line}\nA page for a bakery")
    assert cell.status == "ok", cell.errors
    assert keyless.value("hero.model, hero.text") == f"('{MODEL}', 'The page is ready.')"


def test_another_name_plays_by_its_path(keyless):
    for line in ("one -m replay:cassettes/hero.run.jsonl", "one --replay cassettes/hero.run.jsonl"):
        cell = keyless.run(f"%%agent {line}\nA page for a bakery")
        assert cell.status == "ok", cell.errors
        assert keyless.value("one.model, one.html") == repr((MODEL, PAGE))
        keyless.run("del one")


def test_naming_the_demo_ignores_a_mismatched_cassette(keyless):
    cell = keyless.run("%%agent hero -m demo: --pace 0\nA page for a butcher")
    assert cell.status == "ok", cell.errors
    assert keyless.value("hero.model, 'replayed' in hero.settings") == "('demo:', False)"


@pytest.mark.parametrize(
    ("line", "prompt", "says"),
    [
        ("hero", "A page for a butcher", "another prompt (“…page for a bakery” then, “…page for a butcher”"),
        ("hero", "A page for a butcher", "Use `--replay off` to ask the model, `--record` to record"),
        ("hero -m openai:gpt-6-sol", "A page for a bakery", "another model (`anthropic:claude-opus-5-5`, not `openai:"),
        ("hero --system Short.", "A page for a bakery", "another system text of yours"),
        (f"hero --replay off -m {MODEL}", "A page for a bakery", "`ANTHROPIC_API_KEY`"),
        ("none --replay", "A page", "There is no cassette 'cassettes/none.run.jsonl'. `--record` writes one."),
        ("none -m replay:no.jsonl", "A page", "There is no cassette 'no.jsonl'."),
        ("none -m replay:", "A page", "Name the cassette"),
        ("--record", "A page", "--record needs a name"),
        ("hero --record --replay", "A page", "one of --record and --replay"),
        ("hero --record -m demo:", "A form", "Delete it, or record to another path."),
        ("hero -m replay:cassettes/hero.run.jsonl --record", "A page", "Leave out --record"),
        ("hero --pace -1", "A page for a bakery", "--pace takes a number of at least 0"),
    ],
)  # fmt: skip
def test_what_cannot_play_is_an_error_of_one_line(recorded, keyless, line, prompt, says):
    tape = recorded[0] / "cassettes/hero.run.jsonl"
    before = tape.read_bytes()
    cell = keyless.run(f"%%agent {line}\n{prompt}")
    assert cell.status == "error"
    assert says in cell.errors
    assert cell.errors.strip().count("\n") == 0
    assert tape.read_bytes() == before


def test_a_cassette_runs_no_code(tmp_path):
    line = f"%%agent hero -m {MODEL} -t kernel"
    with WireServer.in_thread() as server, start_kernel(tmp_path, **keyed(server)) as kernel:
        server.plan(reply(Call("run_python", {"code": "ran = True"}, id="call_a")), reply(Say("Done.")))
        cell = kernel.run(f"{line} --approve auto --record\nSet ran")
        assert cell.status == "ok", cell.errors
        assert kernel.value("ran") == "True"
    with start_kernel(tmp_path) as kernel:
        for approve in ("", "--approve auto", "--approve deny"):
            assert kernel.run(f"{line} {approve}\nSet ran").status == "ok"
            assert kernel.value("hero.tool_uses[0].ok, hero.text") == "(True, 'Done.')"
        assert kernel.value("'ran' in globals()") == "False"


def test_a_damaged_cassette_is_not_overwritten(keyless, recorded):
    damaged = recorded[0] / "cassettes/damaged.run.jsonl"
    head = (recorded[0] / "cassettes/hero.run.jsonl").read_text().splitlines()[0]
    damaged.write_text(head + '\n{"you')
    for line, says in (("damaged", "is cut short"), ("damaged --record -m demo:", "Delete it, or record to")):
        assert says in keyless.run(f"%%agent {line}\nA form").errors
    assert damaged.read_text().endswith('{"you')


def test_cells_that_continue_have_their_own_cassettes(keyless, recorded):
    for line, prompt in (
        ("tour", "A landing page for a bakery"),
        ("tour -c", "Make it blue"),
        ("tour -c", "Call it Max"),
    ):
        assert keyless.run(f"%%agent {line} -m demo: --pace 0 --record\n{prompt}").status == "ok"
    found = sorted(path.name for path in (recorded[0] / "cassettes").glob("tour*"))
    assert found == ["tour-2.run.jsonl", "tour-3.run.jsonl", "tour.run.jsonl"]
    last = keyless.value("tour.html")
    keyless.run("%%agent tour\nA landing page for a bakery")
    for prompt in ("Make it blue", "Call it Max"):
        cell = keyless.run(f"%%agent tour -c\n{prompt}")
        assert cell.status == "ok", cell.errors
        assert "cassettes/tour-" in keyless.value("tour.settings['replayed']")
    assert keyless.value("tour.html") == last


def test_a_failure_is_kept_on_request(keyless, recorded):
    cell = f"%%agent gone -m {MODEL}\nA page"
    with WireServer.in_thread() as server:
        server.plan(problem(401, "No."))
        keyless.run(f"import os; os.environ.update({keyed(server)!r})")
        failed = keyless.run(cell.replace("gone", "gone --record"))
        keep = "gone.save('cassettes/gone.run.jsonl')"
        assert f"Not recorded: the run failed. `{keep}` keeps it all the same." in failed.stdout
        assert not (recorded[0] / "cassettes/gone.run.jsonl").exists()
        assert keyless.run(keep).status == "ok"
        keyless.run(f"for name in {list(keyed(server))!r}: del os.environ[name]")
    again = keyless.run(cell)
    assert (again.status, again.errors) == ("error", failed.errors)
    assert keyless.value("gone.reason, gone.settings['replayed']") == "('failed', 'cassettes/gone.run.jsonl')"


def test_a_dry_run_names_the_cassette(keyless):
    cell = keyless.run(CELL.replace("hero", "hero --dry-run"))
    assert "Cassette: cassettes/hero.run.jsonl, recorded with anthropic:" in cell.stdout


def test_the_environment_sets_the_mode(recorded):
    home, seen = recorded
    with (
        WireServer.in_thread() as server,
        start_kernel(home, AGENT_NB_MODE="replay", **keyed(server)) as kernel,
    ):
        assert kernel.run(CELL).status == "ok"
        assert kernel.value(SHOWN) == seen
        for line, says in (
            (
                f"other -m {MODEL}",
                "AGENT_NB_MODE=replay, and there is no cassette 'cassettes/other.run.jsonl'",
            ),
            ("other", "and there is no cassette"),
            (f"hero -m {MODEL} --replay off", "Leave out --replay off"),
            (f"hero -m {MODEL} --record", "Leave out --record"),
            (f"other -m {MODEL} -i https://example.com/a.png", "is not fetched"),
        ):
            cell = kernel.run(f"%%agent {line}\nA page for a bakery")
            assert says in cell.errors
            assert cell.errors.strip().count("\n") == 0
        assert kernel.run("%%agent demo -m demo: --pace 0\nA form").status == "ok"
        kernel.run("import os; os.environ['AGENT_NB_MODE'] = 'record'")
        assert kernel.run("%%agent noted -m demo: --pace 0\nA form").status == "ok"
        assert kernel.run("%%agent -m demo: --pace 0\nA form").status == "ok"
        assert (home / "cassettes/noted.run.jsonl").exists()
        assert not (home / "cassettes/run.run.jsonl").exists()
        kernel.run("os.environ['AGENT_NB_MODE'] = 'live'")
        plan(server)
        assert kernel.run(CELL).status == "ok"
        assert len(server.requests) == 2
        kernel.run("os.environ['AGENT_NB_MODE'] = 'dead'")
        assert "Set it to record, replay or live" in kernel.run(CELL).errors


def test_a_background_run_is_recorded_too(keyless, recorded):
    keyless.run("%%agent later -m demo: --record --background --pace 0\nA form")
    keyless.run("done = await later")
    assert (recorded[0] / "cassettes/later.run.jsonl").exists()
