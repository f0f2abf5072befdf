"""Who decides about a tool call: one rule for all tools that ask, and rules for tools by name."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

from agent_nb._base.wire import Json
from agent_nb.errors import ConfigError
from agent_nb.messages import ToolCall
from agent_nb.tools import Tool, Toolbox
from agent_nb.tools.base import no_hosts

Mode = Literal["ask", "run", "auto", "deny"]
Rule = Mode | Callable[[ToolCall, Json], Any]
"""Ask the user, run it, deny it, or a function that returns True, False or an `Answer`. `run` is for tools that run
code (`Tool.lets_run`): they run without asking until the user takes that back."""
MODES: tuple[Mode, ...] = get_args(Mode)
STRICTNESS: tuple[Mode, ...] = ("auto", "run", "ask", "deny")
MCP = "mcp:"


@dataclass(frozen=True, slots=True)
class Rules:
    """A rule for tools that ask, and rules by name, which hold for any tool. Names are patterns such as `get_*`."""

    default: Rule = "ask"
    by_name: Mapping[str, Rule] = field(default_factory=dict)
    floor: Mode = "auto"
    """No rule is looser, and neither is an answer of the user."""

    def named(self, tool: Tool) -> Rule | None:
        """The rule with the most specific name that fits this tool, if there is one."""
        fitting = [name for name in self.by_name if _fits(name, tool)]
        return self.by_name[max(fitting, key=_specificity)] if fitting else None

    def covers(self, tool: Tool) -> bool:
        return tool.approval == "ask" or self.named(tool) is not None

    def rule(self, tool: Tool) -> Rule:
        return self.named(tool) or self.default

    def lets_run(self, tool: Tool) -> bool:
        """Whether all calls of the tool in a run may be allowed at once, unless the floor is stricter."""
        return tool.lets_run and STRICTNESS.index(self.floor) <= STRICTNESS.index("run")

    def repeats(self, tool: Tool) -> bool:
        """Whether a call in `messages=` may be run again: the tool is repeatable, and nobody is ever asked about it."""
        asks = (
            tool.approval == "ask" or tool.fetches is not no_hosts or self.named(tool) not in (None, "auto")
        )
        return tool.repeatable and not asks

    def at_least(self, mode: Mode) -> "Rules":
        """These rules, each at least as strict as this mode. A function could be looser than `ask`."""

        def stricter(rule: Rule) -> Rule:
            return max(rule if isinstance(rule, str) else "ask", mode, key=STRICTNESS.index)

        by_name = {name: stricter(rule) for name, rule in self.by_name.items()}
        return Rules(stricter(self.default), by_name, max(self.floor, mode, key=STRICTNESS.index))

    def __str__(self) -> str:
        named = [f"{name}={_label(rule)}" for name, rule in self.by_name.items()]
        return ", ".join([*([] if named and self.default == "ask" else [_label(self.default)]), *named])


Policy = Rule | Mapping[str, Rule] | Rules


def read_policy(policy: Any, toolbox: Toolbox) -> Rules:
    if isinstance(policy, Rules):
        rules = policy
    elif isinstance(policy, Mapping):
        rules = Rules(by_name=dict(policy))
    else:
        rules = Rules(policy)
    named = {"": rules.default, **rules.by_name}
    for name, rule in named.items():
        if not callable(rule) and rule not in MODES:
            place = f"`approve[{name!r}]`" if name else "`approve`"
            raise ConfigError(f"{place} is 'ask', 'auto', 'deny' or a function, not {rule!r}.")
    for name in rules.by_name:
        if not isinstance(name, str) or not (
            name.startswith(MCP) or any(_fits(name, tool) for tool in toolbox)
        ):
            tools = ", ".join(tool.name for tool in toolbox) or "none"
            raise ConfigError(
                f"`approve` names {name!r}, which fits no tool of this agent. Its tools: {tools}."
            )
    code_tools = [tool.name for tool in toolbox if tool.lets_run]
    if any(rule == "run" and name not in code_tools for name, rule in named.items()):
        remedy = " or ".join([*(f"`{name}=run`" for name in code_tools), "'auto'"])
        raise ConfigError(f"'run' is only for tools that run code. Use {remedy}.")
    return rules


def _label(rule: Rule) -> str:
    return rule if isinstance(rule, str) else "function"


def _fits(name: str, tool: Tool) -> bool:
    """Whether a name fits the tool: by its own name, or by its server as in `mcp:weather` or `mcp:weather/get_*`."""
    if not name.startswith(MCP):
        return fnmatchcase(tool.name, name)
    return fnmatchcase(tool.origin, name) or fnmatchcase(tool.origin, f"{name}/*")


def _specificity(name: str) -> tuple[bool, int]:
    """Exact names before patterns, then the longer ones without their wildcards."""
    literal = re.sub(r"\[[^\[\]]*\]|[*?]", "", name)
    return literal == name, len(literal)
