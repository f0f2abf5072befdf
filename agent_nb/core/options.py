"""The options of `%%agent`. Each field of `Options` is one option with its spelling and help.

`notebook/parsing.py` reads a line into `Options`. `%load_ext` does not import this module.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from agent_nb._base.constants import EFFORTS, STACKS
from agent_nb.core.feature import follow
from agent_nb.core.option import Number, Option, above_zero, count, option

CassetteMode = Literal["auto", "record", "replay", "live"]
PACE = Number(float, lambda value: 0 <= value < float("inf"), "a number of at least 0", "0.5")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Options:
    """The parsed options of a `%%agent` line. To add an option, add a field here and use it."""

    name: str = option("run", "NAME", "Variable that receives the Run (default: run).")
    models: tuple[str, ...] = option(
        (),
        "-m --model MODEL",
        "Model as vendor:model, such as openai:gpt-6.1-sol, ollama:qwen3 or demo:. Several run side by side.",
        grants=True,
        completes="model",
    )
    variants: int = option(
        1, "-n --variants VARIANTS", "Number of variants to make at once, on each model.", number=count(3)
    )
    base: str | None = option(
        None,
        "--from NAME",
        "Continue from this Run, from NAME.at(N), after its change N, or from NAME.N, its variant N.",
        completes="run",
    )
    continues: bool = option(False, "-c --continue", "Continue from the Run in NAME.")
    compact: bool = option(
        False,
        "--compact",
        "Leave earlier file contents out of the conversation that is continued. The model can read the files again.",
    )
    bind: str | None = option(
        None,
        "--bind NAMES",
        "Variables and functions that the page may use, separated by commas. The page fills those that are not"
        " defined.",
        label="bind {}".format,
        grants=True,
    )
    tools: tuple[str, ...] = option(
        (),
        "-t --tool TOOL",
        "Your own tool, by variable name, in addition to the file tools; `ask_user` for questions to you, `kernel` for"
        " those that read the notebook's variables, `notebook` for those that read its cells and offer changes,"
        " `mcp:NAME` or `mcp:NAME/TOOL` for those of an MCP server.",
        label=str,
        grants=True,
        completes="tool",
    )
    stack: str | None = option(
        None,
        "--stack NAME",
        f"Stack to build the page with: {', '.join(STACKS)}. The result is one page that runs in the preview.",
        label=str,
        completes="stack",
    )
    lean: bool = option(
        False,
        "--lean",
        "Send as few instructions and tools as possible: the default for your own server.",
    )
    effort: str | None = option(
        None, "--effort", "How hard the model thinks.", choices=EFFORTS, label="effort {}".format
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
        completes="approval",
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
        completes="cassette",
    )
    replay: str | None = option(
        None,
        "--replay [PATH|off]",
        "Play the cassette, or any saved run, and fail if it does not match; off asks the model even if one does.",
        choices=("off",),
        completes="cassette",
    )
    pace: float | None = option(
        None,
        "--pace X",
        "Time factor of a demo or replay: 1 is the original time, 0 is instant.",
        number=PACE,
    )
    background: bool = option(False, "--background", "Do not wait: NAME is a RunHandle until the run ends.")
    dry_run: bool = option(False, "--dry-run", "Show what would be sent, without sending it.")
    plain: bool = option(False, "--plain", "Plain text output, the same every time.")
    is_named: bool = False
    line: str = ""
    prefers_replay: bool = False
    """Whether a matching cassette is replayed even with `--replay off`, and any other is ignored."""
    of_features: Mapping[str, Any] = field(default_factory=dict)
    """The options of features, by name. `value` reads them."""

    def value(self, name: str) -> Any:
        """The value of any option in `OPTIONS`; None for a feature's option that the line does not have."""
        return getattr(self, name) if name in _FIELDS else self.of_features.get(name)

    @property
    def expression(self) -> str:
        """The expression about the run that has ended, which takes the rest of the line; empty if there is none."""
        values = (self.value(name) for name, option in OPTIONS.items() if option.is_expression)
        return next(filter(None, values), "")

    @classmethod
    def of(cls, values: Mapping[str, Any], **others: Any) -> "Options":
        """Options from the parsed values by name."""
        more = {name: value for name, value in values.items() if name not in _FIELDS}
        return cls(
            **{name: value for name, value in values.items() if name in _FIELDS}, of_features=more, **others
        )


_FIELDS = frozenset(item.name for item in fields(Options))
OPTIONS: dict[str, Option] = {
    item.name: item.metadata["option"] for item in fields(Options) if "option" in item.metadata
}
follow(OPTIONS, "option")
