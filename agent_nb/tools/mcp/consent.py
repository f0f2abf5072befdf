"""What the person has allowed: servers of project files, and their tools as they were then."""

import re

from agent_nb._base.consent import allow, allowed
from agent_nb._base.secrets import MASK, safe_text
from agent_nb._base.text import printable
from agent_nb.tools.mcp.config import ServerConfig, holds_secret

KIND = "mcp"
_CHANGES_WHAT_RUNS = re.compile(
    r"PATH|PATHEXT|COMSPEC|SHELL(OPTS)?|BASH(OPTS|_\w+)|ENV|IFS|PS4|PROMPT_COMMAND|ZDOTDIR|HOME|USERPROFILE"  # shells
    r"|LD_\w+|DYLD_\w+|GLIBC_TUNABLES|GCONV_PATH|\w*PRELOAD\w*|OPENSSL_CONF"  # the loader
    r"|(PYTHON|NODE_|NPM_|YARN_|BUN_|DENO_|PERL|RUBY|GEM_|BUNDLE_|LUA_|PHP|R_|JULIA_)\w*"  # languages
    r"|(_?JAVA_|JDK_|CLASSPATH|MAVEN_|GRADLE_|GO|CARGO|RUST|DOTNET_|CORECLR_|COR_)\w*"
    r"|(PIP|PIPX|UV|POETRY|PDM|CONDA|MAMBA|DOCKER|GIT|SSH|CURL|XDG)_\w+|\w*(INDEX_URL|REGISTRY|PROXY)"  # downloads
    r"|\w*(CERT_FILE|CERT_DIR|CA_BUNDLE|CA_CERTS)|\w+_(OPTIONS|OPTS|FLAGS)|MAKEFLAGS"
    r"|EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN|APPDATA|LOCALAPPDATA",
    re.IGNORECASE,
)
"""Variables that make a program run other code, load other libraries, or get either from somewhere else."""


def description(config: ServerConfig) -> str:
    """All that a person allows with a server, in printable lines; variables that change what runs come last."""
    lines = [f"gets your variables {', '.join(config.variables)}"] if config.variables else []
    lines += [f"sends {_setting(name, value, ': ')}" for name, value in config.headers.items()]
    lines += [f"sets {_setting(name, value, '=')}" for name, value in config.env.items() if not _steers(name)]
    steering = [(name, value) for name, value in config.env.items() if _steers(name)]
    lines += [f"sets {_setting(name, value, '=')}  <- this changes what runs" for name, value in steering]
    return "".join(f"\n  {line}" for line in (config.shown, *lines))


def _setting(name: str, value: str, mark: str) -> str:
    is_masked = holds_secret(name) and "${" not in value and not _steers(name)
    return printable(f"{name}{mark}{MASK if is_masked else safe_text(value)}", keep="")


def _steers(name: str) -> bool:
    return _CHANGES_WHAT_RUNS.fullmatch(name) is not None


def is_allowed(config: ServerConfig) -> bool:
    """Whether the person has allowed this server. One that they added themselves needs no consent."""
    return not config.key or config.key in allowed(KIND)


def accepted_tools(config: ServerConfig) -> dict[str, str]:
    """The digests of the tools that the person has seen, by name."""
    tools = allowed(KIND).get(config.key, {}).get("tools", {})
    return {name: digest for name, digest in tools.items() if isinstance(digest, str)}


def remember(config: ServerConfig, tools: dict[str, str]) -> None:
    """Stores that the person has allowed this server, with these tools."""
    allow(KIND, config.key, {"name": config.name, "folder": str(config.folder), "tools": tools})
