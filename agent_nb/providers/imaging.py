"""Chooses who makes the pictures of a run: its model's vendor, any other with a key, else nobody but us."""

import os
from types import SimpleNamespace
from typing import Any

from agent_nb.errors import AgentError
from agent_nb.images.cutout import AskingCutter, BorderCutter, local_cutter
from agent_nb.images.maker import Studio
from agent_nb.images.placeholder import Placeholder
from agent_nb.providers import model as make_model
from agent_nb.providers.image_prices import has_image_price
from agent_nb.providers.images import image_makers

MODE = "AGENT_NB_MODE"
CHOICE = "AGENT_NB_IMAGES"
"""`local`, or the maker's `vendor:model`; what the person names never falls back to another."""
OFFLINE_MODEL = "demo:"
UNPRICED = "the run has a budget, and the price of {} is not known"


def local_studio() -> Studio:
    """Needs no key, no network and no package, and draws the same every time."""
    return Studio(maker=Placeholder(), cutter=BorderCutter(), online=False)


def studio_for_name(model: str) -> Studio:
    """The studio that a run of a model of this name would have, also where the model itself lacks its key."""
    try:
        return studio_for(make_model(model))
    except AgentError:
        return studio_for(SimpleNamespace(name=model))


def studio_for(provider: Any, *, budget: bool = False) -> Studio:
    """The studio for a run of this model. Nothing is imported or opened that a run may not need."""
    if provider.name.startswith(OFFLINE_MODEL) or os.environ.get(MODE, "").strip().lower() == "replay":
        return local_studio()
    chosen = os.environ.get(CHOICE, "").strip()
    if chosen.lower() == "local":
        return Studio(maker=Placeholder(), cutter=local_cutter())
    found = image_makers(provider, chosen)
    makers = [maker for maker in found if not budget or has_image_price(maker.name)]
    if found and not makers:
        return Studio(maker=Placeholder(UNPRICED.format(found[0].name)), cutter=local_cutter())
    asking = next((AskingCutter(maker) for maker in makers if maker.transparent), None)
    maker = makers[0] if makers else Placeholder()
    return Studio(maker=maker, cutter=asking or local_cutter(), makers=tuple(makers))
