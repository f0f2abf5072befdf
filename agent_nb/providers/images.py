"""Which vendors make pictures, and with whose key."""

import importlib
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agent_nb.providers.keys import find_key
from agent_nb.providers.settings import Settings, check_base_url
from agent_nb.providers.vendors import VENDORS, Vendor
from agent_nb.scrub import register
from agent_nb.studio import ImageMaker


def image_makers(provider: Any) -> list[ImageMaker]:
    """Those that can be asked: the vendor of the run's own model first, then every other with a key."""
    return [_made(settings) for settings in _usable(getattr(provider, "settings", None))]


def _usable(own: Settings | None) -> Iterator[Settings]:
    name = own.vendor.name if own else ""
    if own and own.vendor.image_target and own.api_key:
        # What the person set for the model's requests (its address, its headers) holds for its pictures too.
        yield replace(own, model=own.vendor.image_model, effort=None, max_tokens=None, options={})
    for vendor in VENDORS.values():
        if vendor.image_target and vendor.name != name and (found := find_key(vendor.keys)):
            yield _from_environment(vendor, *found)


def _from_environment(vendor: Vendor, variable: str, key: str) -> Settings:
    register(key)
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
