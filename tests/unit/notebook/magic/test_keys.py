"""`%agent key`, and what a cell says whose model has no key."""

import getpass
import os
import warnings

import pytest

from agent_nb import model
from agent_nb._base.secrets import MASK, mask
from agent_nb.core.errors import MissingKeyError
from agent_nb.providers import settings
from tests.support.wire import Say, WireServer, problem, reply

KEY = "in-memory-7Q2x-9fLk"
"""Has no vendor's shape, so that only the registered value can mask it."""
CELL = "%%agent hero -m anthropic:claude-opus-5-5\nA page"


@pytest.fixture(autouse=True)
def _fresh_keys(monkeypatch):
    monkeypatch.setattr(settings, "_entered_keys", {})


@pytest.fixture
def typed(monkeypatch):
    """The user's answer to the prompt."""
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        return f" {KEY} "

    monkeypatch.setattr(getpass, "getpass", answer)
    return prompts


def test_an_entered_key_is_used_and_kept_in_memory_alone(shell, typed, tmp_path, monkeypatch):
    with WireServer.in_thread() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url("anthropic_messages"))
        entered = shell.run("%agent key anthropic")
        assert entered.ok
        assert "until the kernel ends or `%agent key anthropic --forget`" in entered.stdout
        server.plan(reply(Say(f"Your key is {KEY}.")), problem(401, f"wrong key {KEY}"))
        shown = [shell.run(CELL.replace("hero", "hero --record")), shell.run(CELL.replace("hero", "other"))]
    assert typed == ["Key for Anthropic (not shown, not saved): "]
    assert [KEY in str(request.headers) for request in server.requests] == [True, True]
    assert [cell.ok for cell in shown] == [True, False]
    assert "Enter another with `%agent key anthropic`." in str(shown[1].error)
    assert KEY not in str(dict(os.environ))
    history = shell.ipython.history_manager
    outputs = [repr(cell) for cell in (entered, *shown)] + [
        repr(shell.names["hero"]),
        repr(model("anthropic:")),
    ]
    files = [path.read_text() for path in tmp_path.rglob("*.json*")]
    assert len(files) >= 2
    assert KEY not in "".join([*outputs, *files, *history.input_hist_raw])
    assert mask(KEY) == MASK


def test_a_key_is_forgotten_and_stays_masked(shell, typed):
    shell.run("%agent key openai")
    assert "Forgot the key for OpenAI." in shell.run("%agent key openai --forget").stdout
    assert "There was no key in memory for OpenAI." in shell.run("%agent key openai --forget").stdout
    with pytest.raises(MissingKeyError):
        model("openai:")
    assert mask(KEY) == MASK


def test_the_list_says_where_keys_are_and_not_what_they_are(shell, typed, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment-1x")
    shell.run("%agent key anthropic")
    (table,) = shell.run("%agent key").displays
    rows = {line.split()[0]: line for line in table["text/plain"].splitlines() if line.strip()}
    assert "this kernel's memory" in rows["anthropic"]
    assert "variable OPENAI_API_KEY" in rows["openai"]
    assert "none" in rows["deepseek"]
    assert "https://platform.deepseek.com/api_keys" in rows["deepseek"]
    assert "demo" not in rows
    assert KEY not in str(table)
    assert "from-the-environment" not in str(table)


def test_a_key_is_not_taken_from_a_cell(shell, typed):
    cell = shell.run(f"%agent key anthropic {KEY}")
    assert "Do not write a key into a cell" in str(cell.error)
    assert KEY not in repr(cell)
    assert not typed
    assert "needs no key" not in str(shell.run("%agent key nobody").error)
    assert "takes anthropic, openai, gemini" in str(shell.run("%agent key demo").error)


def test_nothing_is_asked_where_the_answer_would_be_seen(shell, monkeypatch):
    def echo(prompt):
        warnings.warn("Can not control echo on the terminal.", getpass.GetPassWarning, stacklevel=2)
        return KEY

    monkeypatch.setattr(getpass, "getpass", echo)
    assert "cannot ask here" in str(shell.run("%agent key openai").error)
    monkeypatch.setattr(getpass, "getpass", lambda prompt: "")
    assert "No key was entered" in str(shell.run("%agent key openai").error)


def test_a_cell_without_a_key_names_the_remedies_in_one_line(shell, capsys):
    cell = shell.run(CELL)
    assert str(cell.error) == (
        "Anthropic needs a key: run `%agent key anthropic`, which asks for it, or set `ANTHROPIC_API_KEY`. Without a"
        " key, `-m demo:` answers offline. Get a key at https://platform.claude.com/settings/keys"
    )
    with pytest.raises(MissingKeyError) as caught:
        model("anthropic:")
    assert str(caught.value).endswith("Get a key at https://platform.claude.com/settings/keys.")


def test_in_a_browser_a_key_is_kept_in_the_tab(shell, monkeypatch):
    monkeypatch.setattr("agent_nb.notebook.magic.key_command.IN_BROWSER", True)
    error = str(shell.run(CELL).error)
    assert "run `%agent key anthropic`, which asks for it, and keeps it in this tab alone." in error
