"""How many tokens a model can take in one request, from the `genai-prices` tables and a few rows of our own."""

import re
from functools import lru_cache

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


@lru_cache(maxsize=64)
def context_window(name: str) -> int | None:
    """Tokens that the request and the answer of a model may have together; None if that is not known."""
    vendor_name, _, model = name.partition(":")
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
