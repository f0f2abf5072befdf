"""How a `%%agent` line is read, what the help says of its options, and the errors for one that cannot be read."""

from dataclasses import fields

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.core.options import OPTIONS, Options


def test_without_a_name_it_is_run(shell):
    assert [(each.name, each.is_named) for each in map(shell.options, ("", "run"))] == [
        ("run", False),
        ("run", True),
    ]


def test_repeated_options_are_collected(shell):
    options = shell.options("hero -m demo: -m openai:gpt-6-sol -w df -w town -t roll -i a.png")
    assert (options.models, options.value("variables")) == (("demo:", "openai:gpt-6-sol"), ("df", "town"))
    assert (options.tools, options.value("images")) == (("roll",), ("a.png",))


@pytest.mark.parametrize("quote", ["'", '"'])
def test_quotes_are_removed(shell, quote):
    options = shell.options(f"hero --system {quote}Speak French{quote} -i {quote}my photo.png{quote}")
    assert (options.value("system"), options.value("images")) == ("Speak French", ("my photo.png",))


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ("hero --check '<h1' in html", "'<h1' in html"),
        ("--check len(files) --1 > 0", "len(files) --1 > 0"),
        ("hero --check=len(files) == 1", "len(files) == 1"),
        ("hero --check text == '--check '", "text == '--check '"),
        ("hero --system 'Never --check twice' --check html", "html"),
        ("""hero --check '"<h1" in html'""", '"<h1" in html'),
        ("""hero --check "'<h1' in html" """, "'<h1' in html"),
        (r"""hero --check "\"<h1\" in html" """, '"<h1" in html'),
        ("""hero --check 'a' in html and 'b'""", "'a' in html and 'b'"),
    ],
)
def test_a_check_takes_the_rest_of_the_line(shell, line, check):
    assert shell.options(line).value("check") == check


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--modle demo:", "There is no option --modle. Did you mean --model?"),
        ("--xyzzy", "There is no option --xyzzy. `%%agent?` lists the options."),
        ("hero --check", "--check needs an expression"),
        ("hero --check '<h1'", "The check '<h1' is not a valid expression: "),
        ("hero --check '1 < 2'", "The check '1 < 2' is the same for every run."),
        ("hero --check True", "The check 'True' is the same for every run."),
        ("hero --steps", "--steps takes a whole number of at least 1, such as `--steps 8`."),
        ("hero --steps 0", "--steps takes a whole number of at least 1, such as `--steps 8`."),
        ("hero -n 0", "-n takes a whole number of at least 1, such as `-n 3`."),
        (f"hero --cells {10**20}", "--cells takes a whole number of at least 1, such as `--cells 2`."),
        ("hero --seconds 0", "--seconds takes a number above 0, such as `--seconds 90`."),
        ("hero --budget 0", "--budget takes US dollars above 0, such as `--budget 0.20`."),
        ("hero --budget inf", "--budget takes US dollars above 0, such as `--budget 0.20`."),
        ("hero --pace -1", "--pace takes a number of at least 0, such as `--pace 0.5`."),
        ("hero --pace nan", "--pace takes a number of at least 0, such as `--pace 0.5`."),
        ("hero --effort heroic", "--effort takes one of none, minimal, low, medium, high, xhigh, max."),
        ("hero -m", "-m needs a value. Model as vendor:model, such as openai:gpt-6.1-sol"),
        ("hero --plain=3", "--plain takes no value."),
        ("hero --from ''", "--from needs a value. Continue from this Run"),
        ("hero -i a.png -i ''", "-i needs a value. Image or PDF to send"),
        ('hero --save ""', "--save needs a value."),
        (
            "hero --background --check True",
            "--check needs the finished run, and --background does not wait for it.",
        ),
        ("hero -q", "There is no option -q. `%%agent?` lists the options."),
        ("hero --system 'Be kind", "A quotation mark on the %%agent line is not closed."),
    ],
)
def test_a_line_that_cannot_be_read_is_refused(shell, line, says):
    with pytest.raises(ConfigError) as caught:
        shell.options(line)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("A page for my shop", "'page for my shop'"),
        ("Can you make a page?", "'you make a page?'"),
        ("hero villain", "'villain'"),
        ("hero -m demo: A page for my shop", "'A page for my shop'"),
        ("'A page for my shop'", "'A page for my shop'"),
        ("A " + "very " * 20 + "long one", "'very very very very very very very very…'"),
    ],
)
def test_a_prompt_on_the_line_is_refused(shell, line, quoted):
    for cell in ("", "\nmore"):
        shown = shell.run(f"%%agent {line}{cell}").stderr
        assert shown == (
            "UsageError: Write the prompt below the %%agent line. "
            f"That line takes a name and options, not {quoted}.\n"
        )


def test_quoted_text_is_not_an_option(shell):
    assert (
        shell.options("hero --system 'Never write --important'").value("system") == "Never write --important"
    )
    assert shell.options("hero --system it's").value("system") == "it's"


def test_options_can_be_written_with_equals(shell):
    assert shell.options("hero --budget=0.5 --model=demo:").budget == 0.5


def test_every_option_is_in_the_help_in_order(shell):
    described = shell.run("%agent help").stdout.partition("positional arguments:")[2]
    places = [
        described.index(f"\n  {each.flags[0] if each.flags else each.metavar}") for each in OPTIONS.values()
    ]
    assert places == sorted(places)
    others = {each.name for each in fields(Options)} - set(OPTIONS)
    # read from the whole line, set by the rules of a plugin, and features' own
    assert others == {"is_named", "line", "prefers_replay", "of_features"}


def test_defaults_are_those_of_the_fields(shell):
    assert vars(shell.options("")) == vars(Options())
