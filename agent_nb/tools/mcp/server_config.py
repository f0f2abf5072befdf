"""Configuration of a server: a command or a URL, its secrets, and the user's consent."""

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypedDict
from urllib.parse import urlsplit

from agent_nb._base.atomic import read_file
from agent_nb._base.secrets import is_secret_name, register, safe_text
from agent_nb._base.text import printable, sha256
from agent_nb._base.user_file import UserFile
from agent_nb._base.wire import WireError, from_wire
from agent_nb.core.errors import ConfigError

_VARIABLE = re.compile(r"\$\{(\w+)(?::-((?:(?!\$\{)[^}])*))?\}")
_ORDINARY = re.compile(r"HOME|PATH|PWD|USER|USERNAME|LOGNAME|SHELL|LANG|TERM|TMPDIR|TEMP|TZ")
"""Variables without secrets. Masking their values would mask every path in the notebook."""
_AUTHORISATION = {"authorization", "proxy-authorization", "cookie"}
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
"""Variables that make a program run other code, load other libraries, or download from elsewhere."""
FILE = ".mcp.json"
CONSENTS = UserFile("mcp.json", "allowed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """A server's unexpanded configuration; `${VAR}` is replaced only when the server starts."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: Path | None = None
    key: str = ""
    """Identifies an entry of the project's `.mcp.json`; empty for a server that the user added."""
    timeout: float = 60.0
    """Timeout of a call in seconds."""
    start_timeout: float = 60.0
    """Seconds within which a server must list its tools; the first start may download it."""

    @property
    def written(self) -> str:
        """The command or URL, with variables unexpanded."""
        return self.url or shlex.join(self.command)

    @property
    def shown(self) -> str:
        """The command or URL for display, with secrets masked."""
        return printable(safe_text(self.written), keep="")

    @property
    def variables(self) -> list[str]:
        texts = (*self.command, self.url, *self.env.values(), *self.headers.values())
        return list(dict.fromkeys(match[1] for text in texts for match in _VARIABLE.finditer(text)))

    def expanded(self) -> "ServerConfig":
        """Return a copy with variables expanded. Secret values are masked in all output from now on."""
        env = {name: _expand(value) for name, value in self.env.items()}
        headers = {name: _expand(value) for name, value in self.headers.items()}
        for name, value in (*env.items(), *headers.items()):
            if is_secret_name(name) or name.lower() in _AUTHORISATION:
                _mask(name, value)
                _mask(name, value.rpartition(" ")[2])  # the token of `Bearer <token>`
        command = tuple(_expand(part) for part in self.command)
        return replace(self, command=command, url=_expand(self.url), env=env, headers=headers)


def server_config(  # noqa: PLR0913 - one for each field
    command: tuple[str, ...],
    *,
    name: str | None = None,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    folder: Path | None = None,
    key: str = "",
) -> ServerConfig:
    if not command or not all(isinstance(part, str) and part for part in command):
        raise ConfigError("Name the command that starts the MCP server, or the URL of one that runs.")
    is_url = re.match(r"https?://", command[0]) is not None
    if is_url and len(command) > 1:
        raise ConfigError(f"{command[0]!r} is a URL, which takes no arguments. Leave out {command[1]!r}.")
    if env and is_url:
        raise ConfigError(
            "`env` is for a command. A server with a URL has its own environment; use `headers`."
        )
    if headers and not is_url:
        raise ConfigError("`headers` are for a URL. For a command, use `env`.")
    default = urlsplit(command[0]).hostname or Path(command[-1]).stem
    return ServerConfig(
        # `weather` for `python weather.py`, `api_example_com` for `https://api.example.com/mcp`.
        name=name or re.sub(r"[^\w-]+", "_", default).strip("_") or "server",
        command=() if is_url else command,
        url=command[0] if is_url else "",
        env=dict(env or {}),
        headers=dict(headers or {}),
        folder=folder,
        key=key,
    )


def _expand(text: str) -> str:
    def value(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        content = os.environ.get(name) or default
        if content is None:
            raise ConfigError(f"The variable {name} is not set, and the MCP server needs it.")
        if name in os.environ:
            _mask(name, content, f"`{name}`")
        return content

    return _VARIABLE.sub(value, text)


def _mask(name: str, value: str, place: str = "") -> None:
    """Mask a value. One that the file itself may contain has no place, because it may be code."""
    if not _ORDINARY.fullmatch(name) and not os.path.exists(value):
        register(value, place)


def description(config: ServerConfig) -> str:
    """Describe all that consent to a server covers, in printable lines; variables that change what runs come last.

    Nothing is masked here: a masked value could contain the code that runs. The user's own values appear as `${NAME}`.
    """
    lines = [config.written]
    lines += [f"gets your variables {', '.join(config.variables)}"] if config.variables else []
    lines += [f"sends {name}: {value}" for name, value in config.headers.items()]
    marks = {
        name: "  <- this changes what runs" if _CHANGES_WHAT_RUNS.fullmatch(name) else ""
        for name in config.env
    }
    lines += [f"sets {name}={config.env[name]}{marks[name]}" for name in sorted(marks, key=marks.__getitem__)]
    return "".join(f"\n  {printable(line, keep='')}" for line in lines)


def is_allowed(config: ServerConfig) -> bool:
    """Whether the user has allowed this server. A server added by the user needs no consent."""
    return not config.key or config.key in CONSENTS.entries()


def accepted_tools(config: ServerConfig) -> dict[str, str]:
    """Return the digests of the accepted tools by name."""
    tools = CONSENTS.entries().get(config.key, {}).get("tools", {})
    return {name: digest for name, digest in tools.items() if isinstance(digest, str)}


def remember(config: ServerConfig, tools: dict[str, str]) -> None:
    """Store the user's consent to this server and these tools, with a readable description."""
    CONSENTS.store(config.key, {"name": config.name, "folder": str(config.folder), "tools": tools})


class _Entry(TypedDict, total=False):
    """A server's entry. Other keys are for other clients and ignored."""

    type: Literal["stdio", "http", "streamable-http"]
    command: str
    url: str
    args: tuple[str, ...]
    env: dict[str, str]
    headers: dict[str, str]


def read_project(folder: Path) -> tuple[dict[str, ServerConfig], list[str]]:
    """Return the valid servers by name, and one sentence per invalid entry."""
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
        raise ConfigError("its name contains invisible characters.")
    fields: _Entry = from_wire(_Entry, entry)
    programs = [fields[key] for key in ("command", "url") if key in fields]
    if len(programs) != 1:
        raise ConfigError('it needs either "command" or "url".')
    return server_config(
        (*programs, *fields.get("args", ())),
        name=name,
        env=fields.get("env"),
        headers=fields.get("headers"),
        folder=folder,
        # The folder is part of the key: the same command means something else elsewhere.
        key=sha256(json.dumps([str(folder.resolve()), name, entry], sort_keys=True)),
    )
