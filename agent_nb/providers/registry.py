"""Creates the provider for a model's name. SDKs are imported only when a model is created."""

import importlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agent_nb._base.constants import ACP, DEMO, IN_BROWSER, REPLAY
from agent_nb._base.text import did_you_mean
from agent_nb.core.errors import ConfigError, InstallError, MissingKeyError, UnknownModelError, check_type
from agent_nb.core.run_settings import DERIVED, SETTINGS, TYPED
from agent_nb.providers.requirements import check_version, outdated, take_options
from agent_nb.providers.settings import (
    Settings,
    can_load,
    check_base_url,
    check_effort,
    check_number,
    find_key,
    is_installed,
)
from agent_nb.providers.vendors import APIS, VENDORS, Api, Vendor

if TYPE_CHECKING:
    from agent_nb.providers.base import Provider

PROVIDERS = {
    "anthropic_messages": "agent_nb.providers.anthropic_messages:AnthropicMessagesProvider",
    "responses": "agent_nb.providers.responses:ResponsesProvider",
    "interactions": "agent_nb.providers.interactions:InteractionsProvider",
    "generate_content": "agent_nb.providers.generate_content:GenerateContentProvider",
    "chat": "agent_nb.providers.chat:ChatProvider",
}
"""The provider of each wire protocol, as `module:Class`."""
CLOUD_PROVIDERS = {
    "azure": "agent_nb.providers.azure:AzureProvider",
    "vertex": "agent_nb.providers.vertex:VertexProvider",
    "bedrock": "agent_nb.providers.bedrock:BedrockProvider",
}
"""The same by vendor, for clouds: another client, the same protocol."""
MAKERS: dict[str, str] = {}
"""The same for models that need no server. `agent.py` registers them."""
VENDOR_SOURCES: list[Callable[[], object]] = []
"""Called for an unknown vendor, to add it to `VENDORS`. `plugins.py` registers here."""


def model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    effort: str | None = None,
    silence: float | None = None,
    **options: Any,
) -> "Provider":
    """The provider for `vendor:model`; `options` such as `max_tokens` go into the request.

    `silence` is the number of seconds without data after which the request is retried: by default 300, and 900 at
    effort `high` and above.
    """
    vendor, model_name = _parse(name)
    protocol = _protocol(vendor, "" if vendor.offline else options.pop("api", ""))
    options = _accepted(vendor, protocol, {**options, "effort": check_effort(effort)})
    check_number("silence", silence, "a number of seconds above 0")
    if vendor.offline:
        options |= {"silence": silence} if "silence" in vendor.api.options else {}
        _check_offline(vendor, {**options, "base_url": base_url, "api_key": api_key})
        return load(MAKERS[protocol])(model_name, **options)  # type: ignore[no-any-return]
    check_type("base_url", base_url, str | None, "text")
    check_type("api_key", api_key, str | None, "text")
    _check_installed(vendor, APIS[protocol])
    client_options = take_options(vendor, name, {**options, "base_url": base_url})
    options = {option: value for option, value in options.items() if option not in client_options}
    key_variable, key = _key(vendor, name, api_key)
    headers, max_tokens = options.pop("headers", None) or {}, options.pop("max_tokens", None)
    check_type("headers", headers, Mapping, "a dict of names and values")
    settings = Settings(
        vendor=vendor,
        model=model_name,
        base_url=_base_url(vendor, base_url),
        api_key=key,
        key_variable=key_variable,
        effort=options.pop("effort", None),
        max_tokens=check_number("max_tokens", max_tokens, "a whole number above 0", int),
        silence=silence,
        headers={**vendor.headers, **headers},
        options=options,
        client_options=client_options,
    )
    return load(CLOUD_PROVIDERS.get(vendor.name, PROVIDERS[protocol]))(settings)  # type: ignore[no-any-return]


def load(target: str) -> Any:
    module_name, _, class_name = target.partition(":")
    return getattr(importlib.import_module(module_name), class_name)


def full_name(name: str) -> str:
    """`vendor:model` with the vendor's spelling and the recommended model filled in; needs no key."""
    vendor, model_name = _parse(name)
    return f"{vendor.name}:{model_name}"


def default_model_name(besides: str = "") -> str | None:
    """The recommended model of the first preferred vendor with a key, except the vendor `besides`; or None. A vendor
    whose SDK is too old comes last."""
    rows = [row for row in VENDORS.values() if row.preferred and row.name != besides and find_key(row.keys)]
    vendor = min(rows, key=lambda row: bool(outdated(row.api)), default=None)
    return f"{vendor.name}:{vendor.recommended}" if vendor else None


def _parse(name: str) -> tuple[Vendor, str]:
    if not isinstance(name, str):
        raise ConfigError(
            f"A model is a name such as 'anthropic:claude-opus-5-5', not a value of type {type(name).__name__}."
        )
    vendor_name, colon, model_name = name.strip().partition(":")
    if vendor_name.lower() not in VENDORS:
        for source in VENDOR_SOURCES:
            source()
    vendor = VENDORS.get(vendor_name.lower())
    if vendor is None:
        raise UnknownModelError(_unknown_vendor_message(name.strip(), vendor_name, bool(colon)))
    model_name = model_name.strip() or vendor.recommended
    if not model_name and vendor.name == REPLAY:
        raise ConfigError("Name the cassette to play: `replay:cassettes/hero.run.jsonl`.")
    if not model_name and vendor.name not in (DEMO, ACP):
        raise ConfigError(f"Name the model that {vendor.title} serves: `{vendor.name}:<model>`.")
    return vendor, model_name


def _unknown_vendor_message(name: str, vendor_name: str, has_colon: bool) -> str:
    vendor = next((row for row in VENDORS.values() if name.lower().startswith(row.name_prefixes)), None)
    if vendor and not has_colon:
        return f"{name!r} names no vendor. Write `{vendor.name}:{name}`."
    known = [f"{vendor}:" for vendor in VENDORS]
    hint = did_you_mean(f"{vendor_name.lower()}:", known) or f"Known vendors: {', '.join(VENDORS)}."
    return f"No vendor {vendor_name!r} in {name!r}. {hint}"


def _accepted(vendor: Vendor, protocol: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without the settings that this protocol ignores; raises `ConfigError` for those that it refuses."""
    accepted = {option: value for option, value in options.items() if option not in SETTINGS}
    for name in options.keys() & SETTINGS.keys():
        value, uses = options[name], SETTINGS[name].accepted_by
        if uses.get(protocol) == "accepts":
            accepted[name] = value
        elif protocol not in uses and value is not None:
            agent_has_it = not uses and name in TYPED - DERIVED
            remedy = f" It is a setting of the agent: `agent.replace({name}=...)`." if agent_has_it else ""
            raise ConfigError(f"`{vendor.name}:` does not accept `{name}`.{remedy}")
    return accepted


def _check_offline(vendor: Vendor, options: Mapping[str, Any]) -> None:
    for option, value in options.items():
        if option in (*vendor.api.options, *SETTINGS) or (
            option in ("base_url", "api_key") and value is None
        ):
            continue
        accepted = " and ".join(f"`{name}`" for name in vendor.api.options if name != "folder")
        raise ConfigError(f"`{vendor.name}:` uses no server: it accepts {accepted}, not `{option}`.")


def _protocol(vendor: Vendor, name: str) -> str:
    if name and name not in vendor.apis:
        raise ConfigError(f"{vendor.name!r} has no api {name!r}. Use {' or '.join(vendor.apis)}.")
    return name or vendor.apis[0]


def _check_installed(vendor: Vendor, api: Api) -> None:
    check_version(vendor)
    if is_installed(api.sdk) or can_load(api.package):
        return
    if IN_BROWSER and api.package == "google-genai":
        raise InstallError(
            f"{vendor.title} is not available in a browser, where the {api.package!r} package cannot be installed. "
            "Use another vendor here."
        )
    raise InstallError(f"{vendor.title} needs the {api.package!r} package: `%pip install {api.package}`.")


def _key(vendor: Vendor, name: str, api_key: str | None) -> tuple[str, str]:
    variable, key = "", (api_key or "").strip()
    if not key and (entry := find_key(vendor.keys)):
        variable, key = entry
    identity = vendor.identity
    if not key and not vendor.local and not (identity and is_installed(identity.module)):
        page = f" Get a key at {vendor.key_page}." if vendor.key_page else ""
        page = f" Or sign in: `%pip install 'agent-nb[{identity.extra}]'`." if identity else page
        raise MissingKeyError(
            f"{name!r} needs a key. Set `{vendor.key_variable}` or pass `api_key`; the model `{DEMO}:` needs none."
            f"{page}",
            vendor=vendor.name,
        )
    return variable, key


def _base_url(vendor: Vendor, base_url: str | None) -> str | None:
    from_variable = os.environ.get(vendor.base_url_variable, "") if vendor.base_url_variable else ""
    if from_variable:
        from_variable = from_variable.rstrip("/") + vendor.base_url_path
    url = check_base_url(base_url or from_variable or vendor.base_url)
    if url is None and vendor.api is APIS["chat"]:
        raise ConfigError(
            f"`{vendor.name}:` needs the server's address: set `{vendor.base_url_variable}` or pass `base_url`, "
            "such as http://localhost:8000/v1."
        )
    return url
