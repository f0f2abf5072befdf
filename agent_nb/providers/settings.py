"""The settings of a provider: one value, validated before anything is sent."""

import importlib.util
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from agent_nb._base.constants import EFFORTS, IN_BROWSER
from agent_nb._base.secrets import register, register_credentials
from agent_nb.core.errors import ConfigError, InstallError, MissingKeyError
from agent_nb.providers.models import Family
from agent_nb.providers.vendors import VENDORS, YOUR_SERVER, Vendor

IN_MEMORY = "memory"
"""Used in place of a variable name for a key entered with `%agent key`."""

_colab_keys: dict[str, str] = {}
_entered_keys: dict[str, str] = {}


def remember_key(variable: str, key: str) -> None:
    """Store a key for the vendor with this variable until the process ends, and mask it from now on."""
    register(key, f"`{variable}`")
    _entered_keys[variable] = key


def forget_key(variable: str) -> bool:
    """Forget an entered key; return False if there was none. It stays masked."""
    return _entered_keys.pop(variable, None) is not None


def key_source(variables: Sequence[str]) -> str:
    """Where the key comes from, in a few words; empty if there is no key."""
    entry = find_key(variables)
    if entry is None:
        return ""
    name = entry[0]
    if name == IN_MEMORY:
        return "this kernel's memory"
    return f"variable {name}" if os.environ.get(name, "").strip() else f"Colab secret {name}"


def find_key(variables: Sequence[str]) -> tuple[str, str] | None:
    """The first variable that is set, and its key. An entered key has priority, as `IN_MEMORY`."""
    if variables and (value := _entered_keys.get(variables[0])):
        return IN_MEMORY, value
    for name in variables:
        if value := os.environ.get(name, "").strip():
            return name, value
    for name in variables:
        if value := _colab_secret(name):
            return name, value
    return None


def _colab_secret(name: str) -> str:
    """A secret of this Colab notebook; empty if it is missing or access was not granted."""
    if name in _colab_keys:
        return _colab_keys[name]
    try:
        from google.colab import userdata
    except ImportError:
        return ""
    try:
        value = str(userdata.get(name) or "").strip()
    except Exception:  # Colab raises its own classes for "no such secret", "no access" and "no answer"
        return ""
    if value:
        _colab_keys[name] = value
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A vendor, a model and its request settings. Secrets among them are registered for masking."""

    vendor: Vendor
    model: str
    base_url: str | None = field(default=None, repr=False)
    api_key: str = field(default="", repr=False)
    key_variable: str = ""
    """Source of the key; empty if it was an argument."""
    effort: str | None = None
    max_tokens: int | None = None
    silence: float | None = None
    """Read timeout in seconds; None for the default."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Extra fields of the request body, sent unchanged."""
    client_options: Mapping[str, str] = field(default_factory=dict)
    """Arguments of the vendor's client, by `ClientOption.name`."""

    def __post_init__(self) -> None:
        # A slash in a password should be `%2F`, but need not be.
        user_info = (self.base_url or "").partition("://")[2].rpartition("@")[0]
        user, colon, password = user_info.partition(":")
        # A password that is an ordinary word is masked only with its `@`, that is, in URLs.
        login = [password if colon else user, f":{password}@" if colon else f"//{user}@"]
        register_credentials((name, str(value)) for name, value in self.headers.items())
        register_credentials(parse_qsl(urlsplit(self.base_url or "").query))
        secrets = [(os.environ.get(name, ""), f"`{name}`") for name in self.vendor.secret_variables]
        secrets += [(self.api_key, f"the key for {self.vendor.title}")]
        secrets += [(text, f"the login of {self.vendor.title}") for text in login]
        for secret, place in secrets:
            register(secret, place)
            register(unquote(secret), place)

    def __reduce__(self) -> Any:
        """Pickle without the key, unless it was an argument: the loading process looks it up."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        values["vendor"] = self.vendor.name
        if self.key_variable:
            del values["api_key"]
        return _unpickled, (values,)

    @property
    def name(self) -> str:
        return f"{self.vendor.name}:{self.model}"

    @property
    def family(self) -> Family:
        return self.vendor.family(self.model)

    @property
    def title(self) -> str:
        """The vendor's title in a sentence, with the address of an unnamed server."""
        return f"{YOUR_SERVER} at {self.server}" if self.vendor.title == YOUR_SERVER else self.vendor.title

    @property
    def is_near(self) -> bool:
        """Whether it is a local server, on this machine or in its network, which may be slow."""
        host = urlsplit(self.base_url or self.vendor.base_url).hostname or ""
        try:
            return self.vendor.local and ip_address(host).is_private
        except ValueError:
            return self.vendor.local and ("." not in host or host.endswith((".local", ".localhost")))

    @property
    def server(self) -> str:
        url = self.base_url or self.vendor.base_url
        return _address(url) if url else f"{self.vendor.title}'s address"


def _unpickled(values: dict[str, Any]) -> Settings:
    vendor = VENDORS[values["vendor"]]
    if "api_key" not in values:
        entry = find_key(vendor.keys)
        if entry is None:
            raise MissingKeyError(
                f"`{vendor.name}:{values['model']}` needs a key in every process that uses it: set"
                f" `{vendor.key_variable}` where it starts.",
                vendor=vendor.name,
            )
        values = {**values, "key_variable": entry[0], "api_key": entry[1]}
    return Settings(**{**values, "vendor": vendor})


def _address(url: str) -> str:
    """The address without the user, the password and the query, which may hold a key."""
    start = url.find("://") + 3 if "://" in url else 0
    return url[:start] + re.split(r"[?#]", url[start:].rpartition("@")[2])[0]


def check_effort(effort: str | None) -> str | None:
    if effort is not None and effort not in EFFORTS:
        raise ConfigError(f"{effort!r} is not an effort. Use one of {', '.join(EFFORTS)}.")
    return effort


def check_base_url(base_url: str | None) -> str | None:
    if base_url and not base_url.startswith(("http://", "https://")):
        raise ConfigError(f"The base_url {_address(base_url)!r} must begin with http:// or https://.")
    return base_url.rstrip("/") if base_url else None


def check_pace(pace: Any) -> float:
    """Validate the pace of a demo or a replay: 1 as recorded, 0 without waiting."""
    if not isinstance(pace, int | float) or isinstance(pace, bool) or not 0 <= pace < math.inf:
        raise ConfigError(f"The pace must be 0 (at once) or more (1 as recorded), not {pace!r}.")
    return pace


def check_number(name: str, value: Any, expected: str, kind: Any = int | float) -> Any:
    if value is None:
        return None
    if not isinstance(value, kind) or isinstance(value, bool) or not 0 < value < math.inf:
        raise ConfigError(f"`{name}` is {expected}, not {value!r}.")
    return value


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def can_load(package: str) -> bool:
    """Whether Python runs in a browser page that can load the package."""
    if not IN_BROWSER:
        return False
    import pyodide_js

    return hasattr(pyodide_js.lockfile.packages, package)


async def load_package(package: str, module: str) -> None:
    """Load a package with its dependencies into Python in a browser; no-op if installed or not loadable."""
    if not can_load(package) or is_installed(module):
        return
    import pyodide_js

    failures: list[str] = []
    await pyodide_js.loadPackage(package, messageCallback=lambda _: None, errorCallback=failures.append)
    if not is_installed(module):
        reason = f" ({failures[-1]})" if failures else ""
        raise InstallError(
            f"The browser could not load the {package!r} package{reason}. Check the network, then run the cell again."
        )
