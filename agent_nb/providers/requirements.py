"""What a vendor requires before it can be used. Reads the environment and files only: no network, no program."""

import functools
import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from agent_nb.core.errors import ConfigError, InstallError, check_type
from agent_nb.providers.settings import find_key, is_installed
from agent_nb.providers.vendors import Api, ClientOption, Identity, Vendor

_version = functools.cache(version)
"""Cached, because it parses all of the package's metadata. An upgrade is only loaded after a restart anyway."""


def take_options(vendor: Vendor, name: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The client options from the arguments or the environment; raises `ConfigError` for the first that is missing."""
    values: dict[str, str] = {}
    for option in vendor.client_options:
        check_type(option.name, arguments.get(option.name), str | None, "text")
        value = arguments.get(option.name) or _from_environment(option)
        if not value:
            raise ConfigError(
                f"{name!r} needs {option.meaning}: set `{option.variables[0]}` or pass `{option.name}`."
            )
        values[option.name] = value
    values.pop("base_url", None)  # a setting of every vendor
    return values


def missing(vendor: Vendor) -> str:
    """What the user must set or run before the vendor can be used, in a few words; empty if nothing is missing."""
    if old := outdated(vendor.api):
        return f"{_upgrade(vendor.api)}: {old} is too old"
    for option in vendor.client_options:
        if not _from_environment(option):
            return f"set {option.variables[0]}: {option.meaning}"
    if vendor.local or vendor.offline or find_key(vendor.keys):
        return ""
    key = f"set {vendor.key_variable}" if vendor.keys else ""
    if vendor.identity is None:
        return key
    if vendor.identity.extra and not is_installed(vendor.identity.module):
        return f"{key}, or pip install 'agent-nb[{vendor.identity.extra}]'"
    if has_credentials(vendor.identity):
        return ""
    return f"{f'{key}, or ' if key else ''}run {vendor.identity.remedy}, unless this machine has an identity"


def outdated(api: Api) -> str:
    """The version of the installed SDK if it is too old; else empty. Nothing is imported."""
    try:
        installed = _version(api.package) if api.package else ""
    except PackageNotFoundError:
        return ""
    major = installed.partition(".")[0]
    return installed if major.isdigit() and int(major) < api.lowest else ""


def check_version(vendor: Vendor) -> None:
    """Raise `InstallError` if the vendor's SDK is too old."""
    if old := outdated(vendor.api):
        raise InstallError(
            f"{vendor.title} needs version {vendor.api.lowest} or newer of the {vendor.api.package!r} package, and"
            f" {old} is installed: `%{_upgrade(vendor.api)}`, then restart the kernel."
        )


def _upgrade(api: Api) -> str:
    return f'pip install -U "{api.package}>={api.lowest}"'


def has_credentials(identity: Identity) -> bool:
    """Whether variables or files hold credentials. Those that a cloud gives to its own machines are not detected."""
    return any(map(os.environ.get, identity.variables)) or any(
        os.path.isfile(os.path.expanduser(os.path.expandvars(file))) for file in identity.files
    )


def _from_environment(option: ClientOption) -> str:
    return next((value for name in option.variables if (value := os.environ.get(name, "").strip())), "")
