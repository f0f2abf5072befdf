"""What the `genai-prices` tables know of a model: what its tokens cost, and how many a request can have.

What they do not list is None, no guess.
"""

import re
from functools import lru_cache
from typing import Any

from agent_nb.messages import Usage
from agent_nb.providers.vendors import FREE, NO_PRICE, VENDORS

_CORRECTIONS = (
    # Listed under the models they are derived from, which take 400,000.
    ("openai", r"^gpt-5[.\d]*-chat", 128_000),
    ("deepseek", r"^deepseek-(chat|reasoner)$", 131_072),
    # Not listed, or listed without a window.
    ("anthropic", r"^claude-(fable|mythos)-5", 1_000_000),
    ("gemini", r"^gemini-(4-|2\.5-pro|3\.1-pro|pro-latest)", 1_048_576),
)
"""Vendor, pattern of the model's name, tokens: where the tables are wrong or silent."""


def price_of(provider_name: str, usage: Usage) -> float | None:
    """US dollars for this usage, or None when the model's price is not known."""
    if not has_price(provider_name):
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
    """Whether the tables list the model. A run asks many times, and a model that they do not list is searched long."""
    return calculate(provider_name, {"input_tokens": 1, "output_tokens": 1}) is not None


def calculate(provider_name: str, counts: dict[str, int]) -> float | None:
    """Dollars for these counts, as the tables name them; None for a model they do not list."""
    vendor_name, _, model = provider_name.partition(":")
    vendor = VENDORS.get(vendor_name)
    if vendor is None or vendor.price_id == NO_PRICE:
        return None
    if vendor.price_id == FREE:
        return 0.0
    try:
        import genai_prices
    except ImportError:
        return None
    usage: Any = genai_prices.Usage(**{key: count for key, count in counts.items() if count})
    try:
        return float(genai_prices.calc_price(usage, model, provider_id=vendor.price_id).total_price)
    except (LookupError, ValueError):  # ValueError: counts that do not add up, such as more cached than sent
        return None


@lru_cache(maxsize=64)
def context_window(provider_name: str) -> int | None:
    """Tokens that the request and the answer of a model may have together; None if that is not known."""
    vendor_name, _, model = provider_name.partition(":")
    for corrected, pattern, tokens in _CORRECTIONS:
        if vendor_name == corrected and re.search(pattern, model):
            return tokens
    vendor = VENDORS.get(vendor_name)
    if vendor is None or vendor.price_id in (FREE, NO_PRICE):
        return None
    try:
        from genai_prices.data_snapshot import get_snapshot

        return get_snapshot().find_provider_model(model, None, vendor.price_id, None)[1].context_window
    except (ImportError, LookupError):
        return None
