"""Cassettes in a real kernel: recorded over a real socket, replayed without a key or a network."""

import pytest

from tests.support.kernels import start_kernel
from tests.support.wire import Call, Say, Think, Tokens, WireServer, problem, reply

MODEL = "openai:gpt-6.1-sol"
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
    return server.as_openai("a-key-of-the-tests-1234")


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


def test_a_failure_is_kept_on_request(keyless, recorded):
    cell = f"%%agent gone -m {MODEL}\nA page"
    with WireServer.in_thread() as server:
        server.plan(problem(401, "No."))
        keyless.run(f"import os; os.environ.update({keyed(server)!r})")
        failed = keyless.run(cell.replace("gone", "gone --record"))
        keep = "gone.save('cassettes/gone.run.jsonl')"
        assert f"Not recorded: the run failed. `{keep}` saves it anyway." in failed.stdout
        assert not (recorded[0] / "cassettes/gone.run.jsonl").exists()
        assert keyless.run(keep).status == "ok"
        keyless.run(f"for name in {list(keyed(server))!r}: del os.environ[name]")
    again = keyless.run(cell)
    assert (again.status, again.errors) == ("error", failed.errors)
    assert keyless.value("gone.reason, gone.settings['replayed']") == "('failed', 'cassettes/gone.run.jsonl')"


def test_a_background_run_is_recorded_too(keyless, recorded):
    keyless.run("%%agent later -m demo: --record --background --pace 0\nA form")
    keyless.run("done = await later")
    assert (recorded[0] / "cassettes/later.run.jsonl").exists()
