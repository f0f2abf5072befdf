"""Commands of features: `%agent NAME` and `agent-nb NAME`."""

import pytest

from agent_nb._base.command import Printed
from agent_nb.notebook.command_line import main
from agent_nb.plugins import Command, Feature
from tests.support.plugins import plugin_of

GREET = Feature(
    "greet",
    commands=(
        Command(
            "greet NAME",
            "Greet somebody.",
            f"{__name__}:greet",
            f"{__name__}:names",
            f"{__name__}:in_terminal",
        ),
    ),
)


def greet(host, words):
    return f"Hello, {words}, in {host.home.name}."


def names(host, before):
    return [("Ada", "a person")]


def in_terminal(host, words):
    if words == ["fail"]:
        return Printed("It failed.", 2)
    return f"Hello, {'|'.join(words)}."


@pytest.fixture
def greeting():
    with plugin_of(GREET):
        yield


def test_it_is_called_with_the_host_and_is_in_help_and_completion(greeting, shell):
    assert shell.run("%agent greet Ada").stdout == f"Hello, Ada, in {shell.session.home.name}.\n"
    assert "  %agent greet NAME\n                        Greet somebody." in shell.run("%agent help").stdout
    assert "greet" in {each.text for each in shell.complete("%agent gr")}
    assert "Ada" in {each.text for each in shell.complete("%agent greet A")}
    assert "command greet" in repr(shell.run("%agent plugins").displays)


def test_it_is_a_command_of_the_terminal_with_all_its_words(greeting, capsys):
    assert main(["greet", "--loud", "Ada", "-x"]) == 0
    assert capsys.readouterr().out == "Hello, --loud|Ada|-x.\n"
    assert main(["greet", "fail"]) == 2
    assert capsys.readouterr().out == "It failed.\n"
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "Greet somebody." in capsys.readouterr().out


def test_it_is_gone_with_its_plugin(shell, capsys):
    assert "There is no command 'greet'" in str(shell.run("%agent greet Ada").error)
    with pytest.raises(SystemExit):
        main(["greet", "Ada"])


def test_a_taken_name_is_refused_by_both(shell):
    from agent_nb import ConfigError

    with (
        pytest.raises(ConfigError, match="Both agent_nb and adds add the command `runs`"),
        plugin_of(Feature("greet", commands=(Command("runs", "Runs.", f"{__name__}:greet"),))),
    ):
        pass
