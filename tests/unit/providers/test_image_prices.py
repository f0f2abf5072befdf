"""What images cost comes from published prices or not at all."""

import pytest

from agent_nb.providers.prices import (
    ImageTokens,
    has_image_price,
    likely_price,
    price_of_image,
)
from agent_nb.providers.vendors import VENDORS


@pytest.mark.parametrize("vendor", [vendor for vendor in VENDORS.values() if vendor.image_model])
def test_the_makers_own_models_have_prices(vendor):
    assert has_image_price(f"{vendor.name}:{vendor.image_model}")


@pytest.mark.parametrize("name", ["openai:gpt-image-99", "gemini:nobody-knows", "ollama:x", "nonsense"])
def test_an_unknown_model_has_no_price(name):
    assert price_of_image(name, ImageTokens(input_tokens=10, output_tokens=1000)) is None
    assert not has_image_price(name)
    assert likely_price(name, 1000, "A bakery", 0) is None


@pytest.mark.parametrize(
    ("name", "dollars"),
    [
        ("openai:gpt-image-2.6-sunburst", 5 + 8 + 30),
        ("openai:gpt-image-2.6-flare", 5 + 8 + 30),
        ("openai:gpt-image-2.5-sunburst", 5 + 8 + 30),
        ("openai:gpt-image-1.5", 5 + 8 + 32),
        ("gemini:gemini-nano-banana-2.1", 1.5 + 1.5 + 30),
    ],
)
def test_text_and_images_have_own_prices(name, dollars):
    million = 1_000_000
    tokens = ImageTokens(
        input_tokens=2 * million,
        input_image_tokens=million,
        output_tokens=million,
        output_image_tokens=million,
    )
    assert price_of_image(name, tokens) == pytest.approx(dollars)


def test_text_costs_less_than_an_image():
    name = "gemini:gemini-nano-banana-2.1"
    image = price_of_image(name, ImageTokens(output_tokens=1000, output_image_tokens=1000))
    text = price_of_image(name, ImageTokens(output_tokens=1000))
    assert image is not None
    assert text is not None
    assert 0 < text < image


def test_images_to_start_from_cost_too():
    name = "openai:gpt-image-2.6-sunburst"
    new, edited = (likely_price(name, 1500, "A bakery", inputs) for inputs in (0, 2))
    assert new is not None
    assert edited is not None
    assert 0.045 <= new < edited < 0.1
