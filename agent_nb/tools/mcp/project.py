"""The servers of `.mcp.json` beside the notebook. Consent is stored elsewhere: no project allows itself."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Literal, TypedDict

from agent_nb._base.atomic import locked, read_file, write_atomically
from agent_nb._base.text import printable, sha256
from agent_nb._base.wire import WireError, from_wire
from agent_nb.errors import ConfigError
from agent_nb.tools.mcp.server_config import ServerConfig, server_config

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
    """All that a user allows with a server, in printable lines; variables that change what runs come last.

    Nothing is masked: a masked value could hold the code that runs. The user's own values are shown as `${NAME}`.
    """
    lines = [f"gets your variables {', '.join(config.variables)}"] if config.variables else []
    lines += [f"sends {_setting(name, value, ': ')}" for name, value in config.headers.items()]
    lines += [f"sets {_setting(name, value, '=')}" for name, value in config.env.items() if not _steers(name)]
    steering = [(name, value) for name, value in config.env.items() if _steers(name)]
    lines += [f"sets {_setting(name, value, '=')}  <- this changes what runs" for name, value in steering]
    return "".join(f"\n  {line}" for line in (printable(config.written, keep=""), *lines))


def _setting(name: str, value: str, mark: str) -> str:
    return printable(f"{name}{mark}{value}", keep="")


def _steers(name: str) -> bool:
    return _CHANGES_WHAT_RUNS.fullmatch(name) is not None


def consent_path() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming"
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "agent_nb" / "mcp.json"


def is_allowed(config: ServerConfig) -> bool:
    """Whether the user has allowed this server. One that they added themselves needs no consent."""
    return not config.key or config.key in _allowed()


def accepted_tools(config: ServerConfig) -> dict[str, str]:
    """The digests of the tools that the user has seen, by name."""
    tools = _allowed().get(config.key, {}).get("tools", {})
    return {name: digest for name, digest in tools.items() if isinstance(digest, str)}


def remember(config: ServerConfig, tools: dict[str, str]) -> None:
    """Stores that the user has allowed this server, with these tools. The entry says what, for those who read it."""
    path = consent_path()
    entry = {"name": config.name, "folder": str(config.folder), "tools": tools}
    with locked(path.with_suffix(".lock"), within=path.parent):
        content = json.dumps({"allowed": {**_allowed(), config.key: entry}}, indent=1)
        write_atomically(path, content.encode(), within=path.parent)


def _allowed() -> dict[str, Any]:
    """What is stored, by key; nothing if the file is damaged, so that the user is asked again."""
    try:
        entries = json.loads(consent_path().read_text(encoding="utf-8"))["allowed"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    is_valid = isinstance(entries, dict) and all(isinstance(entry, dict) for entry in entries.values())
    return entries if is_valid else {}


FILE = ".mcp.json"


class _Entry(TypedDict, total=False):
    """A server. What else its entry has is for other clients."""

    type: Literal["stdio", "http", "streamable-http"]
    command: str
    url: str
    args: tuple[str, ...]
    env: dict[str, str]
    headers: dict[str, str]


def read_project(folder: Path) -> tuple[dict[str, ServerConfig], list[str]]:
    """The servers by name, and what is wrong with the others, in a sentence each."""
    path = folder / FILE
    try:
        if not path.is_file():
            return {}, []
        content = json.loads(read_file(path, 1_000_000).decode())
    except json.JSONDecodeError as error:
        return {}, [f"{FILE} is not valid JSON: {error.msg} in line {error.lineno}."]
    except (OSError, ValueError, RecursionError) as error:
        return {}, [f"{FILE} cannot be read: {error}."]
    entries = content.get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(entries, dict):
        return {}, [f'{FILE} has no object "mcpServers".']
    configs: dict[str, ServerConfig] = {}
    problems = []
    for name, entry in entries.items():
        try:
            configs[name] = _config(folder, name, entry)
        except (ConfigError, WireError) as error:
            problems.append(f"`{printable(name[:40], keep='')}` in {FILE}: {str(error).rstrip('.')}.")
    return configs, problems


def _config(folder: Path, name: str, entry: Any) -> ServerConfig:
    if not name.strip() or "/" in name or len(name) > 40:
        raise ConfigError("its name must have 1 to 40 characters, and no '/'.")
    if printable(name, keep="") != name:
        raise ConfigError("its name has characters that cannot be seen.")
    read: _Entry = from_wire(_Entry, entry)
    programs = [read[key] for key in ("command", "url") if key in read]
    if len(programs) != 1:
        raise ConfigError('it needs either "command" or "url".')
    return server_config(
        (*programs, *read.get("args", ())),
        name=name,
        env=read.get("env"),
        headers=read.get("headers"),
        folder=folder,
        # The folder counts, too: the same words mean another thing elsewhere.
        key=sha256(json.dumps([str(folder.resolve()), name, entry], sort_keys=True)),
    )
