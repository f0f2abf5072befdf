"""`%agent doctor`: what its lines say, that it ends in time, and which errors name it."""

import json
import socket
import threading

import pytest

from agent_nb._base import secrets
from agent_nb.core import errors
from agent_nb.core.feature import features
from agent_nb.features.doctor import command
from agent_nb.notebook.command_line import main
from agent_nb.providers import requirements
from tests.support.older_sdks import older_sdks
from tests.support.processes import hold_port
from tests.support.wire import WireServer

KEY = "sk-proj-" + "k3Vw9" * 6


@pytest.fixture
def lines(shell):
    """Returns the lines by name."""

    def read():
        done = shell.run("%agent doctor --json")
        assert done.ok, done.error
        return {line["name"]: line for line in json.loads(done.stdout)}

    return read


def test_it_says_what_works_and_a_remedy_for_the_rest_alone(lines):
    by_name = lines()
    assert {"Versions", "openai", "Front end", "Branches", "Chromium", "Disk"} <= by_name.keys()
    assert by_name["Working folder"] == {
        "name": "Working folder",
        "ok": True,
        "state": "can be written",
        "remedy": "",
    }
    assert "IPython without a kernel" in by_name["Front end"]["state"]
    assert "Comm" not in by_name
    assert all(line["ok"] != bool(line["remedy"]) for line in by_name.values())


def test_it_is_a_table_in_the_notebook(shell):
    (shown,) = shell.run("%agent doctor").displays
    assert "<td" in shown["text/html"]
    assert "✓  Versions" in shown["text/plain"]


def test_in_a_terminal_it_leaves_out_what_needs_a_notebook(capsys):
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "Versions" in text
    assert "Front end" not in text
    assert main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "Versions"


def test_an_unknown_word_is_refused(shell):
    assert "takes `--json` alone, not '--yaml'" in str(shell.run("%agent doctor --yaml").error)


def test_keys_are_named_and_their_values_never_shown(lines, monkeypatch):
    assert "`%agent key VENDOR`" in lines()["Keys"]["remedy"]
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    keys = lines()["Keys"]
    assert (keys["ok"], keys["state"]) == (True, "Anthropic (variable ANTHROPIC_API_KEY)")


def test_an_old_sdk_is_too_old_and_a_missing_one_is_named(lines, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(older_sdks(tmp_path, ("google-genai",)))
    monkeypatch.setattr(requirements, "_version", requirements._version.__wrapped__)
    package = lines()["google-genai"]
    assert (package["ok"], package["state"]) == (False, "2.9.1 is too old")
    assert package["remedy"] == 'pip install -U "google-genai>=3", then restart the kernel.'


def test_a_server_that_answers_is_listed_without_its_login(lines, monkeypatch):
    with WireServer.in_thread() as server:
        server.facts["/v1/models"] = {"data": []}
        monkeypatch.setenv("OLLAMA_BASE_URL", f"http://me:s3cret-word@127.0.0.1:{server.port}/v1/")
        line = lines()["Ollama"]
    assert (line["ok"], line["state"]) == (
        True,
        f"answers with status 200 at http://127.0.0.1:{server.port}/v1",
    )
    assert server.told == ["/v1/models"]


@pytest.mark.parametrize("listens", [True, False], ids=["hangs", "is not there"])
def test_a_server_whose_address_is_set_and_that_does_not_answer_has_its_remedy(lines, monkeypatch, listens):
    monkeypatch.setattr(command, "ANSWER_SECONDS", 0.2)
    with hold_port() as port, socket.socket() as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        silent.bind(("127.0.0.1", port))
        if listens:
            silent.listen()
        monkeypatch.setenv("VLLM_BASE_URL", f"http://127.0.0.1:{port}/v1")
        line = lines()["vLLM"]
    assert (line["ok"], line["state"]) == (False, f"does not answer at http://127.0.0.1:{port}/v1")
    assert line["remedy"] == "Start the server, or correct `VLLM_BASE_URL`."


def test_a_look_that_hangs_hides_no_other(lines, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr(command, "SECONDS", 0.2)
    monkeypatch.setitem(command.LOOKS, "Keys", lambda host: go_on.wait())
    by_name = lines()
    go_on.set()
    assert (by_name["Keys"]["ok"], by_name["Keys"]["state"]) == (False, "no result within 0.2 s")
    assert "Disk" in by_name


def test_a_look_that_fails_hides_no_other_and_shows_no_secret(lines, monkeypatch):
    def fail(host):
        raise ValueError(f"no access with {KEY}")

    secrets.register(KEY)
    monkeypatch.setitem(command.LOOKS, "Keys", fail)
    by_name = lines()
    assert by_name["Keys"]["state"].startswith("unknown (ValueError: no access with •••")
    assert "Disk" in by_name


def test_a_folder_that_is_gone_cannot_be_written(shell, lines, tmp_path):
    shell.session.home = tmp_path / "gone"
    line = lines()["Working folder"]
    assert (line["ok"], line["state"]) == (False, "cannot be written (No such file or directory)")


def test_an_error_that_a_line_explains_names_it(shell, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(older_sdks(tmp_path, ("anthropic",)))
    monkeypatch.setattr(requirements, "_version", requirements._version.__wrapped__)
    old = str(shell.run("%%agent hero -m anthropic:\nA form").error)
    assert "then restart the kernel. `%agent doctor` says more." in old
    assert "doctor" not in str(shell.run("%%agent hero -m nobody:x\nA form").error)
    shell.run("%config AgentMagics.magic_name = 'robot'")
    assert "`%robot doctor` says more." in str(shell.run("%%robot hero -m anthropic:\nA form").error)


def test_the_errors_that_commands_explain_exist():
    explained = {name for each in features() for row in each.commands for name in row.explains}
    assert explained == {"InstallError"}
    assert all(issubclass(getattr(errors, name), errors.AgentError) for name in explained)
