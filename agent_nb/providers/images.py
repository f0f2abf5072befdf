"""Which vendors make pictures, and with whose key."""

import importlib
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agent_nb.errors import ConfigError, MissingKeyError
from agent_nb.images.maker import ImageMaker
from agent_nb.providers.keys import find_key
from agent_nb.providers.settings import Settings, check_base_url
from agent_nb.providers.vendors import VENDORS, Vendor


def image_makers(provider: Any, chosen: str = "") -> list[ImageMaker]:
    """Those that can be asked: the chosen one, or that of the run's own vendor and every other with a key.

    What is asked of a model on the person's own machine stays there: then only a chosen one is asked.
    """
    vendor = VENDORS.get(provider.name.partition(":")[0])
    if vendor is not None and vendor.local and not chosen:
        return []
    usable = list(_usable(getattr(provider, "settings", None)))
    return [_made(settings) for settings in ([_pick(usable, chosen)] if chosen else usable)]


def _pick(usable: list[Settings], chosen: str) -> Settings:
    name, _, model = chosen.partition(":")
    vendor = VENDORS.get(name.lower())
    if vendor is None or not vendor.image_target:
        makers = [f"{row.name}:{row.image_model}" for row in VENDORS.values() if row.image_target]
        raise ConfigError(
            f"{chosen!r} makes no pictures. AGENT_NB_IMAGES can be local, {' or '.join(makers)}."
        )
    for settings in usable:
        if settings.vendor is vendor:
            return replace(settings, model=model or vendor.image_model)
    raise MissingKeyError(
        f"AGENT_NB_IMAGES is {chosen!r}, which needs a key. Set `{vendor.keys[0]}`, or set it to local."
    )


def _usable(own: Settings | None) -> Iterator[Settings]:
    name = own.vendor.name if own else ""
    if own and own.vendor.image_target and own.api_key:
        # What the person set for the model's requests (its address, its headers) holds for its pictures too.
        yield replace(own, model=own.vendor.image_model, effort=None, max_tokens=None, options={})
    for vendor in VENDORS.values():
        if vendor.image_target and vendor.name != name and (found := find_key(vendor.keys)):
            yield _from_environment(vendor, *found)


def _from_environment(vendor: Vendor, variable: str, key: str) -> Settings:
    return Settings(
        vendor=vendor,
        model=vendor.image_model,
        base_url=check_base_url(os.environ.get(vendor.base_url_variable) or vendor.base_url),
        api_key=key,
        key_variable=variable,
    )


def _made(settings: Settings) -> ImageMaker:
    module_name, _, class_name = settings.vendor.image_target.partition(":")
    maker: ImageMaker = getattr(importlib.import_module(module_name), class_name)(settings)
    return maker
