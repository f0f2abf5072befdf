"""What tokens cost, from the `genai-prices` tables. The price of a model they do not list is None, no guess."""

from functools import lru_cache
from typing import Any

from agent_nb.messages import Usage
from agent_nb.providers.vendors import FREE, NO_PRICE, VENDORS


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
