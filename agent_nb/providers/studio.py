"""Selects the image maker of a run: its model's vendor, another vendor with a key, or the local placeholder."""

import os
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from agent_nb._base.constants import MODE_VARIABLE, vendor_of
from agent_nb.core.errors import AgentError, ConfigError, MissingKeyError
from agent_nb.images.cutout import BORDER, MakerCutter, local_cutter
from agent_nb.images.maker import ImageMaker, Studio
from agent_nb.images.placeholder import Placeholder
from agent_nb.providers.base import Provider
from agent_nb.providers.prices import has_image_price
from agent_nb.providers.registry import load
from agent_nb.providers.registry import model as make_model
from agent_nb.providers.requirements import outdated
from agent_nb.providers.settings import Settings, check_base_url, find_key
from agent_nb.providers.vendors import VENDORS

CHOICE = "AGENT_NB_IMAGES"
"""`local`, or the maker's `vendor:model`, which is then used without fallback."""
IMAGE_MAKERS = {
    "openai": "agent_nb.providers.image_maker:OpenAIImageMaker",
    "gemini": "agent_nb.providers.image_maker:GeminiImageMaker",
}
"""The image maker of each vendor, as `module:Class`."""
UNPRICED = "the run has a budget, and the price of {} is not known"


def local_studio() -> Studio:
    """A deterministic studio that needs no key, network or package."""
    return Studio(maker=Placeholder(), cutter=BORDER, online=False)


def studio_for_name(model: str) -> Studio:
    """The studio for a run of the model with this name, even if its key is missing."""
    try:
        return studio_for(make_model(model))
    except AgentError:
        return studio_for(SimpleNamespace(name=model, offline=False))


def studio_for(provider: Any, *, budget: bool = False) -> Studio:
    """The studio for a run of this provider. Connections are opened on first use."""
    mode = os.environ.get(MODE_VARIABLE, "").strip().lower()
    if provider.offline or mode == "replay":
        return local_studio()
    choice = os.environ.get(CHOICE, "").strip()
    if choice.lower() == "local":
        return Studio(maker=Placeholder(), cutter=local_cutter())
    candidates = image_makers(provider, choice)
    makers = [maker for maker in candidates if not budget or has_image_price(maker.name)]
    if candidates and not makers:
        return Studio(maker=Placeholder(UNPRICED.format(candidates[0].name)), cutter=local_cutter())
    model_cutter = next((MakerCutter(maker) for maker in makers if maker.transparent), None)
    maker = makers[0] if makers else Placeholder()
    return Studio(maker=maker, cutter=model_cutter or local_cutter(), makers=tuple(makers))


class Studios:
    """The studios of an agent. That of its own model is kept, with its connections, but not in a pickle."""

    def __init__(self, model: Provider, *, budget: bool) -> None:
        self.budget = budget
        self._model = model
        self._own: Studio | None = None

    def of(self, provider: Provider) -> Studio:
        if provider is not self._model:
            return studio_for(provider, budget=self.budget)
        self._own = self._own or studio_for(provider, budget=self.budget)
        return self._own

    async def close(self) -> None:
        if self._own:
            await self._own.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_own": None}


def image_makers(provider: Any, choice: str = "") -> list[ImageMaker]:
    """The maker named `choice`, or all makers with a key, the run's vendor first. Empty for a local model."""
    vendor = VENDORS.get(vendor_of(provider.name))
    if vendor is not None and vendor.local and not choice:
        return []
    usable = list(_usable_settings(getattr(provider, "settings", None)))
    fitting = (settings for settings in usable if not outdated(settings.vendor.api))
    selected = [_pick(usable, choice)] if choice else fitting
    return [load(IMAGE_MAKERS[settings.vendor.name])(settings) for settings in selected]


def _pick(usable: list[Settings], choice: str) -> Settings:
    name, _, model = choice.partition(":")
    vendor = VENDORS.get(name.lower())
    if vendor is None or vendor.name not in IMAGE_MAKERS:
        makers = [f"{name}:{VENDORS[name].image_model}" for name in IMAGE_MAKERS]
        raise ConfigError(f"{choice!r} makes no images. {CHOICE} can be local, {' or '.join(makers)}.")
    for settings in usable:
        if settings.vendor is vendor:
            return replace(settings, model=model or vendor.image_model)
    raise MissingKeyError(
        f"{CHOICE} is {choice!r}, which needs a key. Set `{vendor.keys[0]}`, or set it to local.",
        vendor=vendor.name,
    )


def _usable_settings(settings: Settings | None) -> Iterator[Settings]:
    run_vendor = settings.vendor.name if settings else ""
    if settings and settings.vendor.name in IMAGE_MAKERS and settings.api_key:
        # The address and headers set for the model apply to its vendor's image API too.
        yield replace(settings, model=settings.vendor.image_model, effort=None, max_tokens=None, options={})
    for vendor in VENDORS.values():
        if vendor.name in IMAGE_MAKERS and vendor.name != run_vendor and (entry := find_key(vendor.keys)):
            yield Settings(
                vendor=vendor,
                model=vendor.image_model,
                base_url=check_base_url(os.environ.get(vendor.base_url_variable) or vendor.base_url),
                key_variable=entry[0],
                api_key=entry[1],
            )
