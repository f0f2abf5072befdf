"""The `%%agent` line as options. What cannot be read is told in our own words, with the remedy."""

import contextlib
import difflib
import math
from argparse import Action, ArgumentError, ArgumentParser
from collections.abc import Sequence
from typing import Any

from IPython.core.error import UsageError
from IPython.utils.process import arg_split

CHECK = "--check"
_NUMBERS = {
    "variants": (1, "a whole number from 1 on, such as `{} 3`"),
    "cells": (1, "a whole number from 1 on, such as `{} 2`"),
    "steps": (1, "a whole number from 1 on, such as `{} 8`"),
    "seconds": (math.ulp(0.0), "a number above 0, such as `{} 90`"),
    "budget": (math.ulp(0.0), "US dollars above 0, such as `{} 0.20`"),
    "pace": (0, "a number from 0 on, such as `{} 0.5`"),
}
"""The least that each takes, and that in words."""


def read_options(parser: ArgumentParser, line: str, magic: str) -> Any:
    """The options of a line; one that cannot be is a `UsageError`."""
    line, check = _cut_check(f" {line} ")
    if check is not None and not check.strip():
        raise UsageError(f"{CHECK} needs an expression, such as `{CHECK} '<h1' in html`.")
    words = _words(line, magic)
    _check_long_options(parser, words, magic)
    parser.exit_on_error = False  # else it tells what is wrong in its own words
    try:
        options, others = parser.parse_known_args(words)
    except ArgumentError as error:
        (action,) = (each for each in parser._actions if _argparse_name(each) == error.argument_name)
        raise UsageError(_wanted(action, words)) from None
    for key, value in vars(options).items():
        setattr(options, key, _unquoted(value))
    if options.name and len(options.name.split()) > 1:
        others = [options.name]
    if others:
        raise UsageError(_superfluous(others, magic))
    for action in parser._actions:
        if action.option_strings and not _is_usable(action.dest, getattr(options, action.dest)):
            raise UsageError(_wanted(action, words))
    options.check = check and check.strip()
    if options.check and options.background:
        raise UsageError(
            f"{CHECK} waits for the run to end, and --background does not: leave one of them out."
        )
    options.named = options.name is not None
    options.name = options.name or "run"
    return options


def _cut_check(line: str) -> tuple[str, str | None]:
    """The line before `--check`, and the expression behind it; in quotes it is a word like any other."""
    start = 0
    while (place := line.find(f" {CHECK} ", start)) >= 0:
        with contextlib.suppress(ValueError):
            arg_split(line[:place])
            return line[:place], line[place + len(CHECK) + 2 :]
        start = place + 1
    return line, None


def _is_usable(name: str, value: Any) -> bool:
    if name in _NUMBERS:
        return value is None or bool(_NUMBERS[name][0] <= value < math.inf)
    return "" not in (value if isinstance(value, list) else [value])


def _words(line: str, magic: str) -> list[str]:
    try:
        return list(arg_split(line))
    except ValueError:
        raise UsageError(
            f"A quotation mark on the %%{magic} line is not closed. Close it; the prompt goes below that line."
        ) from None


def _check_long_options(parser: ArgumentParser, words: Sequence[str], magic: str) -> None:
    """Abbreviations are refused too; in quotes, -- is a word like any other."""
    known = [option for action in parser._actions for option in action.option_strings]
    for word in words:
        option = word.partition("=")[0]
        if option.startswith("--") and len(option) > 2 and option not in known:
            near = difflib.get_close_matches(option, known, 1, 0.5)
            hint = f"Did you mean {near[0]}?" if near else f"`%%{magic}?` lists the options."
            raise UsageError(f"There is no option {option}. {hint}")


def _superfluous(words: Sequence[str], magic: str) -> str:
    if words[0].startswith("-"):
        return f"There is no option {words[0]}. `%%{magic}?` lists the options."
    told = " ".join(words)
    told = told if len(told) <= 40 else f"{told[:40]}…"
    return f"Write the prompt below the %%{magic} line. That line takes a name and options, not {told!r}."


def _argparse_name(action: Action) -> str:
    return "/".join(action.option_strings)


def _wanted(action: Action, words: Sequence[str]) -> str:
    """What an option takes, said of the form in which it was typed."""
    typed = [option for option in action.option_strings if any(word.startswith(option) for word in words)]
    option = (typed or action.option_strings)[-1]
    if action.nargs == 0:
        return f"{option} takes no value."
    if action.choices:
        return f"{option} takes one of {', '.join(action.choices)}."
    if action.dest in _NUMBERS:
        return f"{option} takes {_NUMBERS[action.dest][1].format(option)}."
    return f"{option} needs a value. {action.help}"


def _unquoted(value: Any) -> Any:
    if isinstance(value, list):
        return [_unquoted(item) for item in value]
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
