"""Costs of texts and images, and context windows, come from the price tables or not at all."""

import pytest

from agent_nb.core.messages import Usage
from agent_nb.providers.prices import (
    ImageTokens,
    context_window,
    has_image_price,
    has_price,
    likely_price,
    price_of,
    price_of_image,
)
from agent_nb.providers.vendors import VENDORS


@pytest.mark.parametrize("name", ["openai:gpt-nobody-knows", "ollama:qwen3", "chat:x", "nonsense", "openai:"])
def test_an_unknown_price_is_none(name: str):
    assert price_of(name, Usage(input=1000, output=1000)) is None
    assert not has_price(name)


@pytest.mark.parametrize(
    "field", [{"speed": "fast"}, {"inference_geo": "us"}, {"service_tier": "priority"}], ids=str
)
def test_a_field_that_changes_the_price_makes_it_unknown(field: dict[str, str]):
    name, usage = "anthropic:claude-opus-5-5", Usage(input=1000)
    assert price_of(name, usage, {"sampling": {"speed": "standard", "inference_geo": "global"}})
    assert price_of(name, usage, {"sampling": field}) is None


def test_cached_tokens_cost_less():
    name = "anthropic:claude-opus-5-5"
    fresh = price_of(name, Usage(input=1_000_000, output=1000))
    cached = price_of(name, Usage(input=1_000_000, cached_read=900_000, output=1000))
    assert fresh is not None
    assert cached is not None
    assert 0 < cached < fresh


def test_written_cache_costs_more():
    name = "anthropic:claude-opus-5-5"
    written = price_of(name, Usage(input=1_000_000, cached_write=900_000))
    assert written is not None
    assert written > price_of(name, Usage(input=1_000_000))


def test_cost_adds_up_over_turns():
    name = "openai:gpt-6.1-sol"
    one, two = Usage(input=1000, output=50), Usage(input=3000, cached_read=500, output=70)
    assert price_of(name, one + two) == pytest.approx(price_of(name, one) + price_of(name, two))


def test_the_demo_costs_nothing():
    assert price_of("demo:", Usage(input=1000, output=1000)) == 0.0


def test_nothing_used_costs_nothing():
    assert price_of("openai:gpt-6.1-sol", Usage()) == 0.0


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("anthropic:claude-opus-5-5", 1_000_000),
        ("openai:gpt-6.1-sol", 1_050_000),
        ("gemini:gemini-4-argon", 1_048_576),
        ("openrouter:anthropic/claude-opus-5.5", 1_000_000),
        # What the tables have wrong or lack.
        ("openai:gpt-5-chat-latest", 128_000),
        ("openai:gpt-5.2-chat-latest", 128_000),
        ("anthropic:claude-fable-5-2", 1_000_000),
        ("anthropic:claude-mythos-5", 1_000_000),
        ("gemini:gemini-4-carbon", 1_048_576),
        ("gemini:gemini-2.5-pro", 1_048_576),
        ("deepseek:deepseek-chat", 131_072),
    ],
)
def test_a_window_is_that_of_the_tables_or_its_correction(name: str, tokens: int):
    assert context_window(name) == tokens


@pytest.mark.parametrize(
    "name", ["openai:gpt-nobody-knows", "ollama:qwen3", "chat:x", "demo:", "nonsense", "replay:a.jsonl"]
)
def test_an_unknown_window_is_none(name: str):
    assert context_window(name) is None


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


def test_images_to_start_from_cost_too():
    name = "openai:gpt-image-2.6-sunburst"
    new, edited = (likely_price(name, 1500, "A bakery", inputs) for inputs in (0, 2))
    assert new is not None
    assert edited is not None
    assert 0.045 <= new < edited < 0.1
