"""Costs come from the price tables or not at all."""

import pytest

from agent_nb.core.messages import Usage
from agent_nb.providers.prices import has_price, price_of


@pytest.mark.parametrize("name", ["openai:gpt-nobody-knows", "ollama:qwen3", "chat:x", "nonsense", "openai:"])
def test_an_unknown_price_is_none(name: str):
    assert price_of(name, Usage(input=1000, output=1000)) is None
    assert not has_price(name)


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
