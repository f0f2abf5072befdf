"""`vendor:model`, and the names that need no server."""

from agent_nb._base.constants import is_demo, is_replay


def test_the_demo_and_replays_are_told_by_their_vendor():
    assert is_demo("demo:")
    assert is_demo("demo:other")
    assert is_replay("replay:cassettes/hero.jsonl")
    assert not is_demo("demolition:x")
    assert not is_demo("ollama:demo:")
    assert not is_replay("replay")
