"""What is kept of costly things: the newest, up to a number of bytes."""

from dataclasses import dataclass

from agent_nb.images.cache import OVERHEAD, Cache


@dataclass(frozen=True)
class Thing:
    data: bytes


def thing(size: int = 1000) -> Thing:
    return Thing(b"x" * size)


def test_a_kept_value_is_made_once() -> None:
    kept, first = Cache(10_000), thing()
    assert kept.get("a", lambda: first) is first
    assert kept.get("a", thing) is first


def test_the_bytes_kept_are_bounded() -> None:
    kept = Cache(5 * (1000 + OVERHEAD))
    for number in range(100):
        kept.get(number, thing)
        assert kept.bytes <= 5 * (1000 + OVERHEAD)
    newest = thing()
    assert kept.get(99, lambda: newest) is not newest
    assert kept.get(94, lambda: newest) is newest


def test_what_is_used_is_kept_longest() -> None:
    kept, first = Cache(3 * (1000 + OVERHEAD)), thing()
    for number in range(10):
        assert kept.get("used", lambda: first) is first
        kept.get(number, thing)
    assert kept.get("used", thing) is first


def test_what_is_too_large_is_not_kept() -> None:
    kept = Cache(1000)
    assert len(kept.get("a", thing).data) == 1000
    assert kept.bytes == 0
