"""Chooses who makes the images of a run: its model's vendor, another vendor with a key, or the local placeholder."""

import os
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from agent_nb._base.constants import MODE_VARIABLE, vendor_of
from agent_nb.errors import AgentError, ConfigError, MissingKeyError
from agent_nb.images.cutout import BorderCutter, MakerCutter, local_cutter
from agent_nb.images.maker import ImageMaker, Studio
from agent_nb.images.placeholder import Placeholder
from agent_nb.providers.prices import has_image_price
from agent_nb.providers.registry import load
from agent_nb.providers.registry import model as make_model
from agent_nb.providers.settings import Settings, check_base_url, find_key
from agent_nb.providers.vendors import VENDORS

CHOICE = "AGENT_NB_IMAGES"
"""`local`, or the maker's `vendor:model`. A maker that is named here is never replaced by another."""
IMAGE_MAKERS = {
    "openai": "agent_nb.providers.image_maker:OpenAIImageMaker",
    "gemini": "agent_nb.providers.image_maker:GeminiImageMaker",
}
"""What makes images at each vendor, as `module:Class`."""
UNPRICED = "the run has a budget, and the price of {} is not known"


def local_studio() -> Studio:
    """Needs no key, no network and no package, and draws the same images every time."""
    return Studio(maker=Placeholder(), cutter=BorderCutter(), online=False)


def studio_for_name(model: str) -> Studio:
    """The studio for a run of the model with this name, even if its key is missing."""
    try:
        return studio_for(make_model(model))
    except AgentError:
        return studio_for(SimpleNamespace(name=model, offline=False))


def studio_for(provider: Any, *, budget: bool = False) -> Studio:
    """The studio for a run of this model. Connections are opened on first use."""
    mode = os.environ.get(MODE_VARIABLE, "").strip().lower()
    if provider.offline or mode == "replay":
        return local_studio()
    chosen = os.environ.get(CHOICE, "").strip()
    if chosen.lower() == "local":
        return Studio(maker=Placeholder(), cutter=local_cutter())
    found = image_makers(provider, chosen)
    makers = [maker for maker in found if not budget or has_image_price(maker.name)]
    if found and not makers:
        return Studio(maker=Placeholder(UNPRICED.format(found[0].name)), cutter=local_cutter())
    model_cutter = next((MakerCutter(maker) for maker in makers if maker.transparent), None)
    maker = makers[0] if makers else Placeholder()
    return Studio(maker=maker, cutter=model_cutter or local_cutter(), makers=tuple(makers))


def image_makers(provider: Any, chosen: str = "") -> list[ImageMaker]:
    """The chosen maker; else those of vendors with a key, the run's own first, but none for a local model."""
    vendor = VENDORS.get(vendor_of(provider.name))
    if vendor is not None and vendor.local and not chosen:
        return []
    usable = list(_usable(getattr(provider, "settings", None)))
    wanted = [_pick(usable, chosen)] if chosen else usable
    return [load(IMAGE_MAKERS[settings.vendor.name])(settings) for settings in wanted]


def _pick(usable: list[Settings], chosen: str) -> Settings:
    name, _, model = chosen.partition(":")
    vendor = VENDORS.get(name.lower())
    if vendor is None or vendor.name not in IMAGE_MAKERS:
        makers = [f"{name}:{VENDORS[name].image_model}" for name in IMAGE_MAKERS]
        raise ConfigError(f"{chosen!r} makes no images. {CHOICE} can be local, {' or '.join(makers)}.")
    for settings in usable:
        if settings.vendor is vendor:
            return replace(settings, model=model or vendor.image_model)
    raise MissingKeyError(
        f"{CHOICE} is {chosen!r}, which needs a key. Set `{vendor.keys[0]}`, or set it to local.",
        vendor=vendor.name,
    )


def _usable(own: Settings | None) -> Iterator[Settings]:
    own_vendor = own.vendor.name if own else ""
    if own and own.vendor.name in IMAGE_MAKERS and own.api_key:
        # The address and headers set for the model apply to its vendor's image API too.
        yield replace(own, model=own.vendor.image_model, effort=None, max_tokens=None, options={})
    for vendor in VENDORS.values():
        if vendor.name in IMAGE_MAKERS and vendor.name != own_vendor and (found := find_key(vendor.keys)):
            yield Settings(
                vendor=vendor,
                model=vendor.image_model,
                base_url=check_base_url(os.environ.get(vendor.base_url_variable) or vendor.base_url),
                key_variable=found[0],
                api_key=found[1],
            )
