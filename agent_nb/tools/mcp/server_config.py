"""How a server is reached: a command to start, or a URL; and the values that must not be shown."""

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from agent_nb._base.secret_names import is_secret_name
from agent_nb._base.secrets import register, safe_text
from agent_nb._base.text import printable
from agent_nb.errors import ConfigError

_VARIABLE = re.compile(r"\$\{(\w+)(?::-((?:(?!\$\{)[^}])*))?\}")
_LAUNCHER = re.compile(r"uvx|npx|uv|node|python3?|docker|run|bunx|deno|tool|exec")
_ORDINARY = re.compile(r"HOME|PATH|PWD|USER|USERNAME|LOGNAME|SHELL|LANG|TERM|TMPDIR|TEMP|TZ")
"""Variables that hold no secrets. Masking their values would mask every path in the notebook."""
_AUTHORISATION = {"authorization", "proxy-authorization", "cookie"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """A server as it was written; `${VAR}` is replaced only when it starts."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: Path | None = None
    key: str = ""
    """Identifies an entry of a project's file; empty for a server that the user added."""
    timeout: float = 60.0
    """Seconds that a call may take."""
    start_timeout: float = 60.0
    """Seconds until a started server must have listed its tools; the first start may download it."""

    @property
    def written(self) -> str:
        """The command or the URL, without values of variables."""
        return self.url or shlex.join(self.command)

    @property
    def shown(self) -> str:
        """The command or the URL in lists, with secrets masked."""
        return printable(safe_text(self.written), keep="")

    @property
    def variables(self) -> list[str]:
        texts = (*self.command, self.url, *self.env.values(), *self.headers.values())
        return list(dict.fromkeys(found[1] for text in texts for found in _VARIABLE.finditer(text)))

    def expanded(self) -> "ServerConfig":
        """With the values of variables. Those that are secrets are masked from now on wherever they would be shown."""
        env = {name: _expand(value) for name, value in self.env.items()}
        headers = {name: _expand(value) for name, value in self.headers.items()}
        for name, value in (*env.items(), *headers.items()):
            if is_secret_name(name) or name.lower() in _AUTHORISATION:
                _hide(name, value)
                _hide(name, value.rpartition(" ")[2])  # the token of `Bearer <token>`
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
    return ServerConfig(
        name=name or _default_name(command),
        command=() if is_url else command,
        url=command[0] if is_url else "",
        env=dict(env or {}),
        headers=dict(headers or {}),
        folder=folder,
        key=key,
    )


def _default_name(command: tuple[str, ...]) -> str:
    """`fetch` for `uvx mcp-server-fetch`, `api_example_com` for `https://api.example.com/mcp`."""
    if host := urlsplit(command[0]).hostname:
        return re.sub(r"\W+", "_", host)
    words = [
        word for word in command if not word.startswith("-") and not _LAUNCHER.fullmatch(Path(word).stem)
    ]
    word = (words or command)[0]
    stem = Path(word[:1] + word[1:].partition("@")[0]).stem  # without a version, but with the scope of npm
    stem = re.sub(r"^(mcp[-_])?server[-_]|^mcp[-_]|[-_]mcp$", "", stem)
    return re.sub(r"[^\w-]+", "_", stem).strip("_") or "server"


def _expand(text: str) -> str:

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        given = os.environ.get(name) or default
        if given is None:
            raise ConfigError(f"The variable {name} is not set, and the MCP server needs it.")
        if name in os.environ:
            _hide(name, given)
        return given

    return _VARIABLE.sub(value, text)


def _hide(name: str, value: str) -> None:
    if not _ORDINARY.fullmatch(name) and not os.path.exists(value):
        register(value)
