"""The `%%agent` line: how its options are read, and how the magic is loaded, renamed and unloaded."""

import pytest
from IPython.core.error import UsageError

from agent_nb.notebook.loop import CellRewriter


def test_options_have_their_defaults(shell):
    options = shell.options("")
    assert (options.name, options.named, options.model, options.check) == ("run", False, None, None)
    assert (options.background, options.plain, options.dry_run, options.no_raise) == (False,) * 4
    assert (shell.options("run").name, shell.options("run").named) == ("run", True)


def test_repeated_options_are_gathered(shell):
    options = shell.options("hero -m demo: -m openai:gpt-6-sol -w df -w town -t roll -i a.png")
    assert (options.model, options.variables) == (["demo:", "openai:gpt-6-sol"], ["df", "town"])
    assert (options.tool, options.image) == (["roll"], ["a.png"])


@pytest.mark.parametrize("quote", ["'", '"'])
def test_quotes_are_taken_off(shell, quote):
    options = shell.options(f"hero --system {quote}Speak French{quote} -i {quote}my photo.png{quote}")
    assert (options.system, options.image) == ("Speak French", ["my photo.png"])


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ("hero --check '<h1' in html", "'<h1' in html"),
        ("--check len(files) --1 > 0", "len(files) --1 > 0"),
        ("hero --check text == '--check '", "text == '--check '"),
    ],
)
def test_a_check_takes_the_rest_of_the_line(shell, line, check):
    assert shell.options(line).check == check


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--modle demo:", "There is no option --modle. Did you mean --model?"),
        ("--bugdet=3", "There is no option --bugdet. Did you mean --budget?"),
        ("--xyzzy", "There is no option --xyzzy. `%%agent?` lists the options."),
        ("hero --check", "--check needs an expression"),
        ("hero --steps many", "invalid int value"),
        ("hero --effort heroic", "invalid choice"),
        ("hero villain", "unrecognized arguments"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused(shell, line, says):
    with pytest.raises(UsageError) as told:
        shell.options(line)
    assert says in str(told.value)


def test_quoted_words_are_no_options(shell):
    assert shell.options("hero --system 'Never write --important'").system == "Never write --important"
    assert shell.options("hero --system it's").system == "it's"


def test_options_may_be_written_with_equals(shell):
    assert shell.options("hero --budget=0.5 --model=demo:").budget == 0.5


def rewriters(shell) -> list[CellRewriter]:
    transforms = shell.ipython.input_transformer_manager.line_transforms
    return [transform for transform in transforms if isinstance(transform, CellRewriter)]


def registered(shell) -> set[str]:
    return {name for table in shell.ipython.magics_manager.magics.values() for name in table}


def test_loading_again_leaves_one_magic(shell):
    first = shell.magics
    shell.ipython.run_line_magic("reload_ext", "agent_nb")
    assert shell.magics is not first
    assert rewriters(shell) == [shell.magics.rewriter]
    assert [each for each in shell.ipython.configurables if type(each).__name__ == "AgentMagics"] == [
        shell.magics
    ]


def test_unloading_takes_everything_away(shell):
    shell.ipython.run_line_magic("unload_ext", "agent_nb")
    try:
        assert not rewriters(shell)
        assert "agent" not in registered(shell)
        assert "AgentMagics" not in shell.ipython.magics_manager.registry
        assert not shell.run("%%agent hero\nA form").ok
    finally:
        shell.ipython.run_line_magic("load_ext", "agent_nb")


def test_the_magic_may_have_another_name(shell):
    shell.run("%config AgentMagics.magic_name = 'robot'")
    assert shell.run("%%robot hero -m demo: --pace 0\nA form").ok
    assert shell.names["hero"].reason == "end_turn"
    assert "agent" not in registered(shell)


@pytest.mark.parametrize("name", ["", "two words", "1st"])
def test_a_name_that_cannot_be_is_refused(shell, name):
    shell.run(f"%config AgentMagics.magic_name = {name!r}")
    assert shell.run("%%agent hero -m demo: --pace 0\nA form").ok
    assert shell.names["hero"].reason == "end_turn"


@pytest.mark.parametrize("autoawait", [True, False], ids=["awaited", "plain"])
def test_what_dollars_and_braces_hold_is_left_alone(shell, autoawait):
    """IPython would put variables into the line of a magic."""
    shell.names["price"] = 3
    shell.ipython.autoawait = autoawait
    line = "hero -m demo: --pace 0 --system 'Pay $price {price}'"
    assert shell.run(f"%%agent {line}\nA page of {{price}} $price").ok
    assert shell.names["hero"].prompt == "A page of {price} $price"
    assert shell.names["hero"].system.endswith("Pay $price {price}")
