"""The command line, `agent-nb` or `python -m agent_nb`: show, replay and export saved runs; list models."""

import argparse
import asyncio
import io
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agent_nb._base.command import Command, Printed
from agent_nb._base.constants import MODEL_VARIABLE, VERSION
from agent_nb._base.table import Table
from agent_nb._base.text import printable_line
from agent_nb.core.errors import AgentError
from agent_nb.core.feature import features

FAILED, INTERRUPTED = 1, 130


class TerminalHost:
    """What features get of a terminal, which has no notebook."""

    def __init__(self) -> None:
        self.home = Path.cwd()
        self.memory: dict[str, Any] = {}
        self.namespace: dict[str, Any] = {}

    def command(self, text: str) -> str:
        return f"agent-nb {text}"

    def has_run(self, run: Any) -> bool:
        return False

    def say(self, text: str) -> None:
        print(printable_line(text), file=sys.stderr)

    def confirm(self, question: str) -> bool:
        from agent_nb.notebook.asking import confirm

        return sys.stdin is not None and sys.stdin.isatty() and confirm(question)


def show(arguments: argparse.Namespace) -> None:
    from agent_nb.render import TEXT
    from agent_nb.run import load

    print(TEXT.render(load(arguments.file)))


def replay(arguments: argparse.Namespace) -> None:
    asyncio.run(_replay(arguments.file, arguments.pace))


async def _replay(file: str, pace: float) -> None:
    from agent_nb.agent import Agent
    from agent_nb.cassette.player import ReplayProvider, read_cassette
    from agent_nb.core.events import ENDINGS
    from agent_nb.notebook.views.views import TerminalView

    provider = ReplayProvider(read_cassette(file), file, pace=pace, any_request=True)
    handle = Agent(provider).start_variants(provider.run.prompt)
    view = TerminalView(handle)
    view.start("")
    run = await handle
    if run.variants:  # variants stream all at once, so their texts are not printed while they arrive
        view.warn(run.text)
    view.warn(f"{ENDINGS[run.reason].words} in {run.seconds:.1f} s when it was recorded.")


def export(arguments: argparse.Namespace) -> None:
    from agent_nb.notebook.magic.run_commands import write_run
    from agent_nb.run import load

    size = write_run(load(arguments.file), arguments.out, Path())
    print(f"Wrote {arguments.out} ({size}).")


def models(arguments: argparse.Namespace) -> None:
    from agent_nb.notebook.magic.listings import MODEL_COLUMNS, model_rows
    from agent_nb.notebook.magic.model_choice import first_usable_model
    from agent_nb.providers import full_name

    named = os.environ.get(MODEL_VARIABLE)
    default, reason = (full_name(named), f"which {MODEL_VARIABLE} sets") if named else first_usable_model()
    note = f"Cells that name no model use {default}, {reason}."
    print(Table(MODEL_COLUMNS, model_rows(default), "No models.", note))


def make_parser() -> argparse.ArgumentParser:
    from agent_nb.plugins import plugins

    parser = argparse.ArgumentParser(prog="agent-nb", description=__doc__.partition(": ")[2])
    parser.add_argument("--version", action="version", version=f"agent-nb {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(
        run: Callable[[argparse.Namespace], int | None], help_text: str, *, file: bool = True
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(run.__name__, help=help_text, description=help_text)
        command.set_defaults(run=run)
        if file:
            command.add_argument("file", metavar="FILE", help="a saved run or a cassette, *.run.jsonl")
        return command

    add(show, "Print a saved run as text.")
    pace = add(replay, "Play a saved run in the terminal. Nothing is executed.")
    pace.add_argument(
        "--pace",
        type=float,
        default=1.0,
        help="1 for the recorded speed (default), 0.5 for twice as fast, 0 for no delays",
    )
    out = add(export, "Write a saved run as a replay (.html), Markdown (.md) or text (.txt).")
    out.add_argument("out", metavar="OUT", help="the file to write")
    add(models, "List the models and what each of them needs.", file=False)
    plugins()
    for command in (command for feature in features() for command in feature.commands):
        if command.terminal and command.name not in commands.choices:
            # Its function reads the words, also those that look like options.
            words = commands.add_parser(
                command.name, help=command.help, description=command.help, prefix_chars="\0", add_help=False
            )
            words.add_argument("words", nargs="*")
            words.set_defaults(run=partial(_run_of_feature, command))
    return parser


def read_words(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line. Plugins are not loaded for a built-in feature's command: a program may wait for it."""
    for command in (command for feature in features() for command in feature.commands):
        if command.terminal and [command.name] == [*words[:1]]:
            return argparse.Namespace(run=partial(_run_of_feature, command), words=[*words[1:]])
    return make_parser().parse_args(words)


def _run_of_feature(command: Command, arguments: argparse.Namespace) -> int:
    result = command.call_in_terminal(TerminalHost(), arguments.words)
    if result is not None:
        print(result.text if isinstance(result, Printed) else result)
    return result.status if isinstance(result, Printed) else 0


def main(argv: Sequence[str] | None = None) -> int:
    if sys.stdout is None:  # it is closed
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a file on Windows has no check mark
    arguments = read_words(sys.argv[1:] if argv is None else argv)
    try:
        status = arguments.run(arguments) or 0
        sys.stdout.flush()
    except AgentError as error:
        print(f"agent-nb: {printable_line(str(error))}", file=sys.stderr)
        return FAILED
    except OSError as error:
        if error.filename is None:  # the output, with text in its buffer that Python would write once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader, such as `head`, has seen enough
            return 0
        print(f"agent-nb: {error.filename or 'the output'}: {error.strerror or error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return int(status)
