"""`vendor:model`, and the names that need no server."""

import pytest

from agent_nb._base.constants import is_demo, is_replay, vendor_of


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("anthropic:claude-opus-5-5", "anthropic"),
        ("ollama:qwen3:8b", "ollama"),
        ("demo:", "demo"),
        ("x", "x"),
    ],
)
def test_the_vendor_stands_before_the_first_colon(name: str, vendor: str):
    assert vendor_of(name) == vendor


def test_the_demo_and_replays_are_told_by_their_vendor():
    assert is_demo("demo:")
    assert is_demo("demo:other")
    assert is_replay("replay:cassettes/hero.jsonl")
    assert not is_demo("demolition:x")
    assert not is_demo("ollama:demo:")
    assert not is_replay("replay")
