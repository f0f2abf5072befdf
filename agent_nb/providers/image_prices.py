"""What images cost, by the tokens that the vendors count for text and for images.

Prices come from the `genai-prices` tables; models newer than these are listed here, with published prices.
"""

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from agent_nb.providers.prices import calculate

CHARS_PER_TOKEN = 4
TOKENS_PER_INPUT_IMAGE = 1_200


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageTokens:
    """Tokens of one request for an image, as the tables name them. The image tokens are among the others."""

    input_tokens: int = 0
    input_image_tokens: int = 0
    output_tokens: int = 0
    output_image_tokens: int = 0


_GPT_IMAGE_2_6 = (5.0, 8.0, 0.0, 30.0)
_PUBLISHED = {
    "openai:gpt-image-2.6-sunburst": _GPT_IMAGE_2_6,
    "openai:gpt-image-2.6-flare": _GPT_IMAGE_2_6,
}
"""Dollars per million tokens of input text, input images, output text, output images, on 15 November 2026."""


def price_of_image(maker_name: str, tokens: ImageTokens) -> float | None:
    """US dollars for these tokens, or None when the model's price is not known."""
    total = calculate(maker_name, asdict(tokens))
    if total is None and maker_name in _PUBLISHED:
        return _published(_PUBLISHED[maker_name], tokens)
    return total


@lru_cache(maxsize=64)
def has_image_price(maker_name: str) -> bool:
    return (
        price_of_image(maker_name, ImageTokens(input_tokens=1, output_tokens=1, output_image_tokens=1))
        is not None
    )


def likely_price(maker_name: str, tokens: int, prompt: str, inputs: int) -> float | None:
    """An estimate for an image of that many output tokens, made from this prompt and that many images."""
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


def _published(prices: tuple[float, ...], tokens: ImageTokens) -> float:
    counts = (
        tokens.input_tokens - tokens.input_image_tokens,
        tokens.input_image_tokens,
        tokens.output_tokens - tokens.output_image_tokens,
        tokens.output_image_tokens,
    )
    return sum(price * count for price, count in zip(prices, counts, strict=True)) / 1_000_000


def count(value: Any) -> int:
    """A vendor's count, which may be missing."""
    return value if isinstance(value, int) and value > 0 else 0
