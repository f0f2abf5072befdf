"""Reads a `%%agent` line into `Options`. Errors are worded here, not by argparse, and name the remedy."""

import contextlib
import difflib
import re
import unicodedata
from argparse import SUPPRESS, ArgumentError
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from IPython.core.magic_arguments import MagicArgumentParser
from IPython.utils.process import arg_split

from agent_nb._base.secrets import shortened
from agent_nb.core.errors import ConfigError
from agent_nb.core.option import Option
from agent_nb.core.options import OPTIONS, Options


def parse_line(line: str, magic: str) -> Options:
    original = line.strip()
    line, flag, expression = cut_expression(f" {line} ")
    if flag and not expression.strip():
        raise ConfigError(f"{flag} needs an expression, such as `{flag} '<h1' in html`.")
    try:
        words = list(arg_split(line))
    except ValueError:
        raise ConfigError(
            f"A quotation mark on the %%{magic} line is not closed. A prompt goes below that line."
        ) from None
    values = _values(list(_with_values(words)), magic)
    if flag and "background" in values:
        raise ConfigError(
            f"{flag} needs the finished run, and --background does not wait for it. Leave one of them out."
        )
    if name := values.pop("name", None):
        values["name"] = unicodedata.normalize("NFKC", name)  # as Python does with names
    if flag:
        from agent_nb.run.compare import read_check

        values[option_of(flag)] = read_check(expression)
    return Options.of(values, is_named="name" in values, line=original)


def parser() -> MagicArgumentParser:
    """Parse a line without an expression. Plugins may have added options since the last call."""
    return _parser(tuple(OPTIONS))


@cache
def _parser(names: tuple[str, ...]) -> MagicArgumentParser:
    parser = MagicArgumentParser(usage=SUPPRESS, argument_default=SUPPRESS)
    parser.exit_on_error = False  # raise instead of printing argparse's own message
    parser.allow_abbrev = False
    for name in names:
        option = OPTIONS[name]
        if not option.flags:
            parser.add_argument(name, nargs="?", type=option.read, metavar=option.metavar, help=option.help)
        elif option.is_switch:
            action = "store_false" if option.turns_off else "store_true"
            parser.add_argument(*option.flags, dest=name, action=action, help=option.help)
        else:
            parser.add_argument(
                *option.flags,
                dest=name,
                action="append" if option.repeats else "store",
                type=option.read,
                choices=(option.choices or None) if not option.is_optional else None,
                metavar=option.metavar,
                help=option.help,
            )
    return parser


def _values(arguments: list[str], magic: str) -> dict[str, Any]:
    try:
        namespace, extras = parser().parse_known_args(arguments)
    except ArgumentError as error:
        (option,) = (option for option in OPTIONS.values() if "/".join(option.flags) == error.argument_name)
        raise ConfigError(_expected(option, arguments)) from None
    values: dict[str, Any] = vars(namespace)
    values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    if len(values.get("name", "").split()) > 1:
        extras = [values["name"]]
    if extras:
        raise ConfigError(_unexpected(extras, magic))
    return values


def _with_values(words: Sequence[str]) -> Iterator[str]:
    """Join options that have an optional value with it (`--flag=value`): argparse would consume any next word."""
    optional = {flag: option for option in OPTIONS.values() if option.is_optional for flag in option.flags}
    remaining = deque(words)
    while remaining:
        word = remaining.popleft()
        if word not in optional:
            yield word
        else:
            yield f"{word}={remaining.popleft() if remaining and optional[word].takes(remaining[0]) else ''}"


def cut_expression(line: str) -> tuple[str, str, str]:
    """The line before an expression, the option of the expression, and the expression; quoted, it is not the option."""
    flags = {flag for option in OPTIONS.values() if option.is_expression for flag in option.flags}
    for match in re.finditer(r" (--[\w-]+)(?=[ =])", line):
        if match[1] not in flags:
            continue
        with contextlib.suppress(ValueError):  # an open quotation mark
            arg_split(line[: match.start()])
            return line[: match.start()], match[1], line[match.end() + 1 :]
    return line, "", ""


def option_of(flag: str) -> str:
    return next((name for name, option in OPTIONS.items() if flag in option.flags), "")


def _unexpected(arguments: Sequence[str], magic: str) -> str:
    flag = arguments[0].partition("=")[0]
    if not flag.startswith("-"):
        text = shortened(" ".join(arguments), 40)
        return f"Write the prompt below the %%{magic} line. That line takes a name and options, not {text!r}."
    flags = [known_flag for option in OPTIONS.values() for known_flag in option.flags]
    near = difflib.get_close_matches(flag, flags, 1, 0.5) if flag.startswith("--") else []
    return f"There is no option {flag}. " + (
        f"Did you mean {near[0]}?" if near else f"`%%{magic}?` lists the options."
    )


def _expected(option: Option, arguments: Sequence[str]) -> str:
    typed_flags = [flag for flag in option.flags if any(argument.startswith(flag) for argument in arguments)]
    flag = (typed_flags or option.flags)[-1]
    if option.is_switch:
        return f"{flag} takes no value."
    if option.is_optional:
        alternatives = "".join(f", or `{choice}`" for choice in option.choices)
        return f"{flag} takes a path, such as `{flag} cassettes/hero.run.jsonl`{alternatives}."
    if option.choices:
        return f"{flag} takes one of {', '.join(option.choices)}."
    if option.number:
        return f"{flag} takes {option.number.description}, such as `{flag} {option.number.example}`."
    return f"{flag} needs a value. {option.help}"
