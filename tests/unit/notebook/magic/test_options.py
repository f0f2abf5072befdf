"""The table of `%%agent` options: what each field becomes for argparse and in the help."""

from dataclasses import fields

from agent_nb.core.options import OPTIONS, Options


def test_every_option_is_in_the_help_in_order(shell):
    described = shell.run("%agent help").stdout.partition("positional arguments:")[2]
    places = [
        described.index(f"\n  {each.flags[0] if each.flags else each.metavar}") for each in OPTIONS.values()
    ]
    assert places == sorted(places)
    others = {each.name for each in fields(Options)} - set(OPTIONS)
    # read from the whole line, set by the rules of a plugin, and what follows from several options
    assert others == {"is_named", "line", "prefers_replay", "failure"}


def test_defaults_are_those_of_the_fields(shell):
    assert vars(shell.options("")) == vars(Options())
