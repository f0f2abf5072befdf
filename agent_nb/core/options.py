"""The options of `%%agent`. Each field of `Options` is one option with its spelling and help.

`%load_ext` imports this module to build the help; `notebook/parsing.py` reads a line into `Options`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from agent_nb._base.constants import EFFORTS, STACKS

Approve = Literal["ask", "auto", "deny"]
APPROVE: tuple[Approve, ...] = get_args(Approve)
CassetteMode = Literal["auto", "record", "replay", "live"]
Value = TypeVar("Value")
OPTIONS_HEAD = "\n\nOptions:\n"
"""Heading of the options in the magic's docstring."""


class Number(NamedTuple):
    kind: type[int] | type[float]
    accepts: Callable[[float], bool]
    description: str
    example: str


class Option(NamedTuple):
    flags: tuple[str, ...]
    """Empty for the positional NAME."""
    metavar: str | None
    help: str
    number: Number | None = None
    choices: tuple[str, ...] = ()
    is_switch: bool = False
    repeats: bool = False
    is_optional: bool = False
    """Whether its value is optional. It is then a path or one of `choices`."""
    label: Callable[[Any], str] | None = None
    """Formats a value for the page, if a cell that continues the run repeats the option."""
    grants: bool = False
    """Whether it gives the model more to see or to do. It is not repeated from someone else's run, only offered."""

    def read(self, word: str) -> Any:
        """Parse a word of the line; raises `ValueError` if it is not a valid value."""
        if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'":
            word = word[1:-1]
        if self.number is None:
            value: Any = word
            accepted = self.takes(word) or not word if self.is_optional else bool(word) or not self.flags
        else:
            value = self.number.kind(word)
            accepted = self.number.accepts(value)
        if not accepted:
            raise ValueError(word)
        return value

    def takes(self, word: str) -> bool:
        """Whether the word after this option is its optional value. In `--replay hero`, it is the name of the run."""
        return word in self.choices or "/" in word or word.strip("\"'").endswith(".jsonl")


def option(  # noqa: PLR0913 - everything about an option
    default: Value,
    spelling: str,
    text: str,
    *,
    number: Number | None = None,
    choices: tuple[str, ...] = (),
    label: Callable[[Any], str] | None = None,
    grants: bool = False,
) -> Value:
    """Define a field of `Options`: its default, its spelling such as `-m --model MODEL`, and its help.

    A default of False makes it a switch; a default of () makes it repeatable.
    """
    parts = spelling.split()
    definition = Option(
        flags=tuple(part for part in parts if part.startswith("-")),
        metavar=next((part for part in parts if not part.startswith("-")), None),
        help=text,
        number=number,
        choices=choices,
        is_switch=default is False,
        repeats=default == (),
        is_optional="[" in spelling,
        label=label,
        grants=grants,
    )
    return field(default=default, metadata={"option": definition})


def count(example: int) -> Number:
    return Number(int, lambda value: 1 <= value < 10**9, "a whole number of at least 1", str(example))


def above_zero(example: str, unit: str = "a number") -> Number:
    return Number(float, lambda value: 0 < value < float("inf"), f"{unit} above 0", example)


PACE = Number(float, lambda value: 0 <= value < float("inf"), "a number of at least 0", "0.5")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)  # each generated method makes `%load_ext` slower
class Options:
    """The parsed options of a `%%agent` line. To add an option, add a field here and use it."""

    name: str = option("run", "NAME", "Variable that receives the Run (default: run).")
    models: tuple[str, ...] = option(
        (),
        "-m --model MODEL",
        "Model as vendor:model, such as openai:gpt-6.1-sol, ollama:qwen3 or demo:. Several run side by side.",
        grants=True,
    )
    variants: int = option(
        1, "-n --variants VARIANTS", "Number of variants to make at once, on each model.", number=count(3)
    )
    base: str | None = option(
        None,
        "--from NAME",
        "Continue from this Run, from NAME.at(N), after its change N, or from NAME.N, its variant N.",
    )
    continues: bool = option(False, "-c --continue", "Continue from the Run in NAME.")
    compact: bool = option(
        False,
        "--compact",
        "Leave earlier file contents out of the conversation that is continued. The model can read the files again.",
    )
    images: tuple[str, ...] = option(
        (), "-i --image IMAGE", "Image or PDF to send: a variable (also a list), a path or an https URL."
    )
    variables: tuple[str, ...] = option((), "-w --with VARIABLE", "Variable to describe to the model.")
    bind: str | None = option(
        None,
        "--bind NAMES",
        "Variables and functions that the page may use, separated by commas. The page fills those that are not"
        " defined.",
        label="bind {}".format,
        grants=True,
    )
    branch: bool = option(
        False,
        "--branch",
        "Let the kernel tools work in a copy of the kernel, so that your variables stay unchanged.",
    )
    cells: int | None = option(
        None, "--cells N", "Send the source and text output of the last N cells.", number=count(2)
    )
    tools: tuple[str, ...] = option(
        (),
        "-t --tool TOOL",
        "Your own tool, by variable name, in addition to the file tools; `ask_user` for questions to you, `kernel` for"
        " those that read the notebook's variables, `notebook` for those that read its cells and offer changes,"
        " `mcp:NAME` or `mcp:NAME/TOOL` for those of an MCP server.",
        label=str,
        grants=True,
    )
    answer: str | None = option(
        None,
        "--as TYPE",
        'Type of the answer, NAME.answer: fields such as "slope: float, p: float", or a variable that holds a type.',
    )
    stack: str | None = option(
        None,
        "--stack NAME",
        f"Stack to build the page with: {', '.join(STACKS)}. The result is one page that runs in the preview.",
        label=str,
    )
    lean: bool = option(
        False,
        "--lean",
        "Send as few instructions and tools as possible: the default for your own server.",
    )
    effort: str | None = option(
        None, "--effort", "How hard the model thinks.", choices=EFFORTS, label="effort {}".format
    )
    system: str | None = option(
        None,
        "--system NAME",
        "Design system or other instructions, appended to the system text: a variable, a file (NAME, NAME.md or"
        " design/NAME.md), or the text itself.",
        label="system {}".format,
        grants=True,
    )
    agents_md: str | None = option(
        None,
        "--agents-md",
        "Whether the `AGENTS.md` of the notebook's folder joins the instructions, which you have to allow once.",
        choices=("on", "off"),
        label="AGENTS.md {}".format,
    )
    budget: float | None = option(
        None,
        "--budget USD",
        "End the run when it has cost this much.",
        number=above_zero("0.20", "US dollars"),
        label=lambda usd: f"${usd:.2f}" if usd >= 0.01 else f"${usd:g}",
    )
    steps: int | None = option(
        None, "--steps N", "End the run after this many turns.", number=count(8), label="{} turns".format
    )
    seconds: float | None = option(
        None,
        "--seconds S",
        "End the run after this many seconds.",
        number=above_zero("90"),
        label="{:g} s".format,
    )
    approve: tuple[str, ...] = option(
        (),
        "--approve RULE",
        "Tools that need approval: ask, auto (always run) or deny. NAME=ask is a rule for one tool, and can be given"
        " several times; NAME may be a pattern such as get_* or mcp:*. run_python=run runs code without asking until"
        " you revoke this.",
        label="approve {}".format,
        grants=True,
    )
    data: str | None = option(
        None,
        "--data",
        "What the model sees of your data: all, or schema for names, types and shapes without values.",
        choices=("all", "schema"),
        label=str,
        grants=True,
    )
    network: bool = option(
        False,
        "--network",
        "Let the live preview load from and send to any https address. Saved pages stay restricted.",
        grants=True,
    )
    record: str | None = option(
        None,
        "--record [PATH]",
        "Write the run to a cassette, so that it can be replayed (default: cassettes/NAME.run.jsonl).",
    )
    replay: str | None = option(
        None,
        "--replay [PATH|off]",
        "Play the cassette, or any saved run, and fail if it does not match; off asks the model even if one does.",
        choices=("off",),
    )
    pace: float | None = option(
        None,
        "--pace X",
        "Time factor of a demo or replay: 1 is the original time, 0 is instant.",
        number=PACE,
    )
    background: bool = option(False, "--background", "Do not wait: NAME is a RunHandle until the run ends.")
    save: str | None = option(
        None,
        "--save DIR",
        "Also write the files to this folder; asks before it replaces yours or adds code, settings or unused files.",
    )
    no_save: bool = option(False, "--no-save", "Do not save this run under .agent_nb/runs/.")
    no_raise: bool = option(False, "--no-raise", "Do not raise an error if the run fails or is stopped.")
    dry_run: bool = option(False, "--dry-run", "Show what would be sent, without sending it.")
    plain: bool = option(False, "--plain", "Plain text output, the same every time.")
    check: str | None = option(
        None,
        "--check EXPRESSION",
        "Expression that must be true, with the names run, files, html and text; takes the rest of the line.",
    )
    is_named: bool = False
    line: str = ""
    prefers_replay: bool = False
    """Whether a matching cassette is replayed even with `--replay off`, and any other is ignored."""
    failure: Any = None
    """The failed cell for `%agent fix`, from which the prompt is built."""


OPTIONS: dict[str, Option] = {
    item.name: item.metadata["option"] for item in fields(Options) if "option" in item.metadata
}
