"""`make try` shows one run with the person's own key, and keeps nothing."""

import json
import sys
from pathlib import Path

import pytest

from agent_nb.providers.vendors import VENDORS
from docs.scripts.try_model import main
from tests.support.wire import Call, Say, Think, WireServer, reply
from tests.support.wire.cases import KEY
from tests.support.wire.steps import Reply, problem

NAMES = {
    "anthropic_messages": "anthropic:claude-opus-5-5",
    "responses": "openai:gpt-6.1-sol",
    "interactions": "gemini:gemini-4-argon",
    "chat": "chat:m",
}
CREATES = reply(
    Think("Hm."), Say(f"The key is {KEY}."), Call("create_file", {"path": "hello.txt", "content": "Hello\n"})
)


@pytest.fixture
def try_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Runs the script against the wire server, which gives these answers."""

    def run(protocol: str, *replies: Reply) -> str:
        vendor = VENDORS[NAMES[protocol].partition(":")[0]]
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["try_model", NAMES[protocol]])
        for variable in vendor.keys[:1]:
            monkeypatch.setenv(variable, KEY)
        with WireServer.in_thread() as server:
            monkeypatch.setenv(vendor.base_url_variable, server.base_url(protocol))
            server.plan(*replies)
            main()
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("protocol", NAMES)
def test_a_run_is_shown_as_it_was_sent(try_with, protocol: str, tmp_path: Path):
    shown = try_with(protocol, CREATES, reply(Say("Done.")))
    body = json.JSONDecoder().raw_decode(shown, shown.index("{"))[0]
    assert body["model"] == NAMES[protocol].partition(":")[2]
    assert "create_file" in json.dumps(body["tools"])
    assert shown.count("Status 200; headers after") == 2
    assert "1 CallStarted" in shown
    assert "100 input" in shown
    assert "ended with end_turn. Files: hello.txt. Cost:" in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("protocol", ["anthropic_messages", "responses", "interactions"])
def test_the_key_is_not_shown(try_with, protocol: str):
    shown = try_with(protocol, CREATES, reply(Say("Done.")))
    assert "The key is •••" in shown
    assert KEY not in shown


def test_a_refused_request_is_shown_with_the_words_of_the_vendor(
    try_with, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        try_with("anthropic_messages", problem(404, "model: claude-opus-5-5 was not found"))
    assert ended.value.code == 1
    shown = capsys.readouterr().out
    assert "Status 404; headers after" in shown
    assert "was not found" in shown


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["try_model", "gemini:gemini-4-argon"])
    with pytest.raises(SystemExit, match=r"needs a key\. Set `GOOGLE_API_KEY`"):
        main()
