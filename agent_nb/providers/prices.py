"""Prices and context windows of models, from the `genai-prices` tables."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from agent_nb.core.messages import Usage
from agent_nb.providers.vendors import FREE, NO_PRICE, VENDORS, Vendor

_CORRECTIONS = (
    # Listed under the models they are derived from, which have 400,000.
    ("openai", r"^gpt-5[.\d]*-chat", 128_000),
    ("deepseek", r"^deepseek-(chat|reasoner)$", 131_072),
    # Not listed, or listed without a window.
    ("anthropic", r"^claude-(fable|mythos)-5", 1_000_000),
    ("google", r"^gemini-(4-|2\.5-pro|3\.1-pro|pro-latest)", 1_048_576),
)
"""`price_id`, pattern of the model's name, window in tokens: overrides of wrong or missing entries."""
CHARS_PER_TOKEN = 4
TOKENS_PER_INPUT_IMAGE = 1_200
_NOT_TEXT = re.compile(
    r"image|banana|audio|tts|whisper|transcribe|realtime|live|embedding|moderation|robotics|omni"
)
_LISTED = {
    "service_tier": ("auto", "default", "standard", "standard_only"),
    "speed": ("standard",),
    "inference_geo": ("global",),
}
"""Fields of a request that change the price, and their values at the listed price.
https://platform.claude.com/docs/en/build-with-claude/fast-mode"""
_GPT_IMAGE_2_6 = (5.0, 8.0, 0.0, 30.0)
_PRICE_LIST = {
    "openai:gpt-image-2.6-sunburst": _GPT_IMAGE_2_6,
    "openai:gpt-image-2.6-flare": _GPT_IMAGE_2_6,
}
"""Dollars per million tokens of input text, input images, output text and output images, as of 15 November 2026, for
models newer than the tables."""


def price_of(
    provider_name: str,
    usage: Usage,
    run_settings: Mapping[str, Any] = MappingProxyType({}),
    answered_by: str = "",
) -> float | None:
    """The price in US dollars of this usage with these run settings; None if unknown.

    `answered_by` is the model that the answer names: the name of a deployment does not say which model it serves.
    """
    vendor = VENDORS.get(provider_name.partition(":")[0])
    if vendor and vendor.deployment_of:
        if usage == Usage():
            return 0.0
        provider_name = f"{vendor.deployment_of}:{answered_by}"
    sampling = run_settings.get("sampling", {})
    is_listed = all(sampling.get(name, values[0]) in values for name, values in _LISTED.items())
    if not is_listed or not has_price(provider_name):
        return None
    counts = {
        "input_tokens": usage.input,
        "cache_read_tokens": usage.cached_read,
        "cache_write_tokens": usage.cached_write,
        "output_tokens": usage.output,
    }
    return calculate(provider_name, counts)


@lru_cache(maxsize=64)
def has_price(provider_name: str) -> bool:
    """Whether the tables list the model. Cached: looking up an unlisted model is slow."""
    return calculate(provider_name, {"input_tokens": 1, "output_tokens": 1}) is not None


def is_free(provider_name: str) -> bool:
    return calculate(provider_name, {"input_tokens": 1_000_000, "output_tokens": 1_000_000}) == 0


def calculate(provider_name: str, counts: dict[str, int]) -> float | None:
    """Dollars for these counts, keyed as in the tables; None for an unlisted model."""
    vendor_name, _, model = provider_name.partition(":")
    vendor = VENDORS.get(vendor_name)
    if vendor is None or vendor.price_id == NO_PRICE:
        return None
    if vendor.price_id == FREE:
        return 0.0
    import genai_prices

    usage: Any = genai_prices.Usage(**{key: count for key, count in counts.items() if count})
    try:
        return float(genai_prices.calc_price(usage, model, provider_id=vendor.price_id).total_price)
    except (LookupError, ValueError):  # ValueError: inconsistent counts, such as more cached than input
        return None


@lru_cache(maxsize=64)
def context_window(provider_name: str) -> int | None:
    """Maximum tokens of a request and its answer; None if unknown."""
    vendor_name, _, model = provider_name.partition(":")
    vendor = VENDORS.get(vendor_name)
    if vendor is None or vendor.price_id in (FREE, NO_PRICE):
        return None
    for corrected, pattern, tokens in _CORRECTIONS:
        if vendor.price_id == corrected and re.search(pattern, model):
            return tokens
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, vendor.price_id, None)[1].context_window
    except LookupError:
        return None


def listed_models(vendor: Vendor) -> list[str]:
    from genai_prices.data_snapshot import get_snapshot

    return [
        model.id
        for provider in get_snapshot().providers
        if provider.id == vendor.price_id
        for model in provider.models
        # The tables also list models of other vendors and mere prefixes of model names.
        if model.id.startswith(vendor.name_prefixes or "") and model.id[-1].isalnum()
        if not model.deprecated and not _NOT_TEXT.search(model.id)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageTokens:
    """Token counts of one image request, named as in the tables. The totals include the image tokens."""

    input_tokens: int = 0
    input_image_tokens: int = 0
    output_tokens: int = 0
    output_image_tokens: int = 0


def price_of_image(maker_name: str, tokens: ImageTokens) -> float | None:
    total = calculate(maker_name, asdict(tokens))
    if total is None and maker_name in _PRICE_LIST:
        counts = (
            tokens.input_tokens - tokens.input_image_tokens,
            tokens.input_image_tokens,
            tokens.output_tokens - tokens.output_image_tokens,
            tokens.output_image_tokens,
        )
        prices = zip(_PRICE_LIST[maker_name], counts, strict=True)
        return sum(price * count for price, count in prices) / 1_000_000
    return total


@lru_cache(maxsize=64)
def has_image_price(maker_name: str) -> bool:
    tokens = ImageTokens(input_tokens=1, output_tokens=1, output_image_tokens=1)
    return price_of_image(maker_name, tokens) is not None


def likely_price(maker_name: str, tokens: int, prompt: str, inputs: int) -> float | None:
    """Estimated price of an image with `tokens` output tokens, from this prompt and `inputs` images."""
    input_images = inputs * TOKENS_PER_INPUT_IMAGE
    prompt_tokens = len(prompt) // CHARS_PER_TOKEN
    return price_of_image(
        maker_name,
        ImageTokens(
            input_tokens=prompt_tokens + input_images,
            input_image_tokens=input_images,
            output_tokens=tokens,
            output_image_tokens=tokens,
        ),
    )


def count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
