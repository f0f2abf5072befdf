"""The table of outside agents: one row per name in `acp:NAME`."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_nb._base.constants import ACP, IN_BROWSER
from agent_nb._base.program import find_program
from agent_nb._base.secrets import register
from agent_nb._base.wire import parse_json
from agent_nb.core.errors import ConfigError, InstallError, UnknownModelError
from agent_nb.providers.vendors import VENDORS


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent:
    name: str
    title: str
    command: tuple[str, ...]
    package: str = ""
    """npm package; empty for the user's own commands."""
    needs: str = ""
    """What its installation needs, such as `Node 22`."""
    tested: str = ""
    """The version this entry was tested with."""
    keys: tuple[str, ...] | None = ()
    """Environment variables with API keys that the agent may receive; None for those of all vendors."""
    env: Mapping[str, str] = field(default_factory=dict)
    tools_env: Mapping[str, str] = field(default_factory=dict)
    """Additional environment variables for an agent that is offered our tools."""
    mode: str = ""
    """The mode in which the agent asks for approval; empty if it has no modes or starts in this one."""
    auto_modes: tuple[str, ...] = ()
    """Modes for runs that approve everything; the first available one is set."""
    login: str = ""
    """Command to log in."""
    has_effort: bool = True
    """Whether it may support an effort setting."""
    fails_as_text: bool = False
    """Whether the agent reports model errors as an answer without token usage."""
    our_calls: Mapping[str, str] = field(default_factory=dict)
    """Patterns of the fields, by path, that a call of one of our tools has; empty if such calls cannot be recognised.
    One of them must be set by the agent itself, because the model writes arguments and many titles."""
    is_own: bool = False
    """Whether the user configured its command, which must be allowed once."""
    unasked: str = "It was not tested with this notebook, and decides itself what to ask about."
    """What the agent does without asking, as shown to the user."""

    @property
    def program(self) -> str | None:
        """The path of its program; None if it is not installed."""
        return find_program(self.command[0])

    @property
    def version(self) -> str:
        """The version in its npm package; empty if unknown. Starts nothing."""
        for folder in Path(os.path.realpath(self.program or "/")).parents:
            try:
                package = parse_json((folder / "package.json").read_bytes())
            except OSError:
                continue
            if isinstance(package, dict) and package.get("version") and package.get("name"):
                return str(package["version"])
        return ""

    @property
    def install(self) -> str:
        return f"npm install -g {self.package}"

    @property
    def state(self) -> str:
        """Its status for `%agent models`."""
        if self.program is None:
            return f"install: {self.install}" if self.package else "its command was not found"
        older = self.older_than_tested(self.version)
        login = f"log in: {self.login}" if self.login else ""
        return "; ".join(filter(None, (f"installed {self.version}".strip(), older, login)))

    def older_than_tested(self, version: str) -> str:
        """Advice if the version is older than the tested one, else empty: npm installs an old one for an old Node."""
        if not self.tested or not version or _numbers(version) >= _numbers(self.tested):
            return ""
        return f"older than {self.tested}: update Node, then {self.install}"

    def check_installed(self) -> None:
        if IN_BROWSER or sys.platform == "win32":
            raise ConfigError(f"{self.title} runs only on macOS and Linux.")
        if self.program is None:
            remedy = f": `{self.install}`" if self.package else f". There is no command {self.command[0]!r}"
            raise InstallError(f"{self.title} is not installed{remedy}.")

    def environment(self, *, with_tools: bool) -> dict[str, str]:
        """The user's environment without other vendors' keys. Keys passed on are registered for masking."""
        all_keys = {key for vendor in VENDORS.values() for key in vendor.secret_variables}
        all_keys |= {key for agent in KNOWN_AGENTS for key in agent.keys or ()}
        for key in all_keys.intersection(os.environ) if self.keys is None else self.keys:
            register(os.environ.get(key, ""), f"`{key}`")
        hidden = all_keys.difference(self.keys) if self.keys is not None else ()
        inherited = {name: value for name, value in os.environ.items() if name not in hidden}
        return {**inherited, **self.env, **(self.tools_env if with_tools else {})}


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


KNOWN_AGENTS = (
    KnownAgent(
        name="claude",
        title="Claude Code",
        command=("claude-agent-acp",),
        package="@agentclientprotocol/claude-agent-acp",
        needs="Node 22",
        tested="0.99.1",
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        tools_env={"ENABLE_TOOL_SEARCH": "false"},  # otherwise the model must search for our tools first
        mode="default",
        our_calls={"_meta.claudeCode.toolName": "mcp__{server}__{tool}", "kind": "other"},
        login="claude /login",
        unasked="Claude Code reads files and runs commands that it knows to be harmless without asking.",
    ),
    KnownAgent(
        name="gemini",
        title="Gemini CLI",
        command=("gemini", "--acp"),
        package="@google/gemini-cli",
        tested="0.61.0",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        tools_env={"GEMINI_CLI_TRUST_WORKSPACE": "true"},  # otherwise it silently drops our tools
        mode="default",
        our_calls={
            "toolCallId": "mcp_{server}_{tool}[_-]*",
            "title": "{tool} ({server} MCP Server)",
            "kind": "other",
        },
        login="gemini",
        has_effort=False,
        unasked="Gemini CLI reads and searches files without asking.",
    ),
    KnownAgent(
        name="codex",
        title="Codex",
        command=("codex-acp",),
        package="@agentclientprotocol/codex-acp",
        tested="2.6.0",
        keys=("OPENAI_API_KEY", "CODEX_API_KEY"),
        env={"NO_BROWSER": "1"},
        mode="read-only",  # its default mode never asks
        auto_modes=("agent", "auto"),
        login="codex login",
        fails_as_text=True,
        our_calls={
            "_meta.is_mcp_tool_call": "True",
            "rawInput.server": "{server}",
            "rawInput.tool": "{tool}",
        },
        unasked="Codex runs commands without asking, in a sandbox in which they cannot change files.",
    ),
    KnownAgent(
        name="opencode",
        title="opencode",
        command=("opencode", "acp"),
        package="opencode-ai",
        tested="1.18.18",
        keys=None,
        env={
            "OPENCODE_CONFIG_CONTENT": '{"permission": {"edit": "ask", "bash": "ask"}}',
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
        },
        login="opencode auth login",
        unasked="opencode reads files and uses MCP tools without asking.",
    ),
)
_KNOWN: dict[str, KnownAgent] = {row.name: row for row in KNOWN_AGENTS}
AGENTS: dict[str, KnownAgent] = dict(_KNOWN)
"""All agents by name, including the user's own."""


def set_own(commands: Mapping[str, Sequence[str]]) -> None:
    """Set the user's own agents. A built-in name gets the user's command."""
    rows = {}
    for name, command in commands.items():
        words = command if isinstance(command, list | tuple) else ()
        if not name.isidentifier() or not words or not all(isinstance(word, str) and word for word in words):
            raise ConfigError(
                f"An agent is a name and a command as a list of words, such as {{'mine': ['my-agent', '--acp']}}; "
                f"{name!r} is not."
            )
        base = _KNOWN.get(name) or KnownAgent(name=name, title=name, command=(), keys=None)
        rows[name] = replace(base, command=tuple(command), is_own=True)
    AGENTS.clear()
    AGENTS.update({**_KNOWN, **rows})


def find(name: str) -> KnownAgent:
    """The agent with this name; raises `UnknownModelError` if there is none."""
    if name not in AGENTS:
        missing = f"There is no outside agent {name!r}. " if name else ""
        raise UnknownModelError(f"{missing}Name one of {', '.join(f'`{ACP}:{known}`' for known in AGENTS)}.")
    return AGENTS[name]


def states() -> dict[str, str]:
    """Status of each agent for `%agent models`: installed or not, with the command to install or log in."""
    return {name: agent.state for name, agent in AGENTS.items()}
