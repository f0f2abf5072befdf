"""Tab completion in `%%agent` cells and on `%agent` lines, through IPython's own completer."""

from dataclasses import replace

import PIL.Image
import pytest

from agent_nb import tool
from agent_nb.core.options import OPTIONS
from agent_nb.notebook.magic.commands import COMMANDS
from agent_nb.notebook.magic.names import set_variables
from agent_nb.run.store import RunStore
from tests.support.shells import quick_run, start_shell

FLAGS = {flag for option in OPTIONS.values() for flag in option.flags}


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    home = tmp_path_factory.mktemp("shell")
    with start_shell(home) as shell:
        run = quick_run()
        shell.run("import hashlib, os\ndef heave(weight: int) -> str:\n    return ''")
        shell.names.update(hero=run, heroic=3, _hidden=run, heat=tool(lambda: "warm"), brand="Warm colours.")
        shell.names.update(photo=PIL.Image.new("RGB", (2, 2)), shots=[PIL.Image.new("RGB", (2, 2))])
        shell.names["duo"] = replace(run, variants=(run, run))
        (home / "cassettes").mkdir()
        (home / "pictures of mine").mkdir()
        for path in ("cassettes/hero.jsonl", "cassettes/villain.jsonl", "cassettes/notes.txt", "red.PNG"):
            (home / path).touch()
        (home / "pictures of mine" / "blue.jpg").touch()
        for name in ("villain", "villain", "city"):
            RunStore(home).save(replace(run, name=name))
        set_variables(shell.session, replace(run, name="hero"))
        yield shell


def texts(shell, code, cursor=None):
    return [completion.text for completion in shell.complete(code, cursor)]


def helps(shell, code):
    return {each.text: each.type.replace("\N{NO-BREAK SPACE}", " ") for each in shell.complete(code)}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%%agent he", ["hero"]),
        ("%%agent -c he", ["hero"]),
        ("%%agent --bud", ["--budget"]),
        ("%%agent hero --re", ["--record", "--replay"]),
        ("%%agent hero --budget ", ["0.20"]),
        ("%%agent hero --from he", ["hero"]),
        ("%%agent hero --from duo", ["duo", "duo.1", "duo.2"]),
        ("%%agent next\nLike {{duo.", ["duo.1", "duo.2"]),
        ("%%agent hero -t he", ["heave", "heat"]),
        ("%%agent hero -w he", ["hero", "heroic", "heat"]),
        ("%%agent hero --effort m", ["minimal", "medium", "max"]),
        ("%%agent hero --stack=ta", ["tailwind"]),
        ("%%agent hero --approve a", ["ask", "auto"]),
        ("%%agent hero --replay ", ["off", "cassettes/hero.jsonl", "cassettes/villain.jsonl"]),
        ("%%agent hero --record cassettes/v", ["cassettes/villain.jsonl"]),
        ("%%agent hero -m de", ["deepseek:deepseek-v4-pro", "demo:"]),
        (
            "%%agent hero -m opus",
            [
                "anthropic:claude-opus-5-5",
                "openrouter:anthropic/claude-opus-5.5",
                "bedrock:anthropic.claude-opus-5-5",
            ],
        ),
        ("%%agent hero -i ", ["photo", "shots", "cassettes/", '"pictures of mine/', "red.PNG"]),
        ('%%agent hero -i "pictures of mine/', ['"pictures of mine/blue.jpg"']),
        ("%%agent hero --save ca", ["cassettes/"]),
        ("%%agent hero --system ", ["brand"]),
        ("%agent co", ["console", "cost", "config"]),
        ("%agent load vi", ["villain"]),
        ("%agent undo he", ["hero"]),
        ("%agent console he", ["hero"]),
        ("%agent log ", ["on", "debug", "off"]),
        ("%%time\n%%agent hero --bud", ["--budget"]),
        ("x = 1\n%agent co", ["console", "cost", "config"]),
        ("%%agent next\nLike {{h", ["hero", "heroic", "heat"]),
        ("%%agent next\nLike {{hero.h", []),
        ("%%agent hero --save x", []),
        ("%%agent villai", []),
        ("%%agent hero villain", []),
        ("%agent load villain h", []),
        ("%%agent hero\nA page about ha", []),
    ],
)
def test_tab_offers_matching_values_and_nothing_of_pythons(shell, line, offered):
    assert texts(shell, line) == offered


def test_every_command_is_offered(shell):
    assert texts(shell, "%agent ")[: len(COMMANDS)] == list(COMMANDS)


def test_every_option_is_offered_and_nothing_else(shell):
    assert set(texts(shell, "%%agent hero -")) == FLAGS
    assert set(texts(shell, "%%agent hero --")) == {flag for flag in FLAGS if flag.startswith("--")}
    assert set(texts(shell, "%%agent hero ")) == FLAGS


def test_an_option_is_offered_once_unless_it_repeats(shell):
    offered = texts(shell, "%%agent hero -c -m demo: -w heroic -")
    assert "--continue" not in offered
    assert {"--model", "--with", "--budget"} <= set(offered)


def test_each_completion_has_a_few_words_of_help(shell):
    options = helps(shell, "%%agent hero -")
    assert options["--from"] == "Continue from this Run"
    assert options["--check"] == "Expression that must be true"
    assert all(0 < len(text) <= 44 for text in options.values())
    assert not any(" " in each.type for each in shell.complete("%%agent hero -")), "it cannot wrap"
    first = {command: text.split()[0] for command, text in helps(shell, "%agent ").items()}
    assert [first[command] for command in ("key", "load", "log")] == ["Enter", "Load", "Print"]
    assert helps(shell, "%%agent hero --from ")["duo.2"] == "Run, demo, 1 file"
    models = helps(shell, "%%agent hero -m ")
    assert models["openai:gpt-6.1-sol"] == "needs a key"
    assert (models["ollama:qwen3"], models["demo:"]) == ("no key needed", "ready")


def test_the_text_after_the_cursor_does_not_matter(shell):
    code = "%%agent next --sta react\nLike {{her}} but green"
    assert texts(shell, code, len("%%agent next --sta")) == ["--stack"]
    assert texts(shell, code, code.index("}}")) == ["hero", "heroic"]


def test_a_completion_replaces_what_was_typed(shell):
    (model,) = shell.complete("%%agent hero -m openai:g")
    assert (model.start, model.end) == (len("%%agent hero -m "), len("%%agent hero -m openai:g"))


def test_an_expression_of_a_check_is_left_to_ipython(shell):
    assert "heroic" in texts(shell, "%%agent hero --check run.cost < hero")


def test_a_folder_that_is_gone_offers_nothing(shell, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setattr(shell.session, "home", gone)
    gone.rmdir()
    for option in ("--save", "--record", "--system"):
        assert set(texts(shell, f"%%agent hero {option} ")) <= {"brand"}
    assert texts(shell, "%%agent hero -i ") == ["photo", "shots"]
    assert texts(shell, "%agent load ") == []


def test_completion_follows_the_configured_name(shell):
    shell.run("%config AgentMagics.magic_name = 'robot'")
    try:
        assert texts(shell, "%%robot hero --bud") == ["--budget"]
        assert texts(shell, "%robot co") == ["console", "cost", "config"]
        assert "--budget" not in texts(shell, "%%agent hero --bud")
    finally:
        shell.run("%config AgentMagics.magic_name = 'agent'")


def test_python_and_other_magics_are_left_alone(shell):
    assert "%%timeit" in texts(shell, "%%timei")
    assert "%%agent" in texts(shell, "%%age")
    assert "--budget" not in texts(shell, "%%timeit --bud")
    assert "hashlib" in texts(shell, "x = 1\nhash")
    assert "\N{GREEK SMALL LETTER ALPHA}" in texts(shell, "%%agent hero\nThe \\alpha")


def test_unloading_leaves_no_completion(tmp_path):
    with start_shell(tmp_path) as shell:
        before = len(shell.ipython.Completer.custom_matchers)
        shell.run("%reload_ext agent_nb")
        assert len(shell.ipython.Completer.custom_matchers) == before
        shell.run("%unload_ext agent_nb")
        assert "--budget" not in texts(shell, "%%agent hero --bud")
        shell.run("%load_ext agent_nb")
