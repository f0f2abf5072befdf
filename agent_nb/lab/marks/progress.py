"""A progress bar of one line, where somebody is there to see it."""

from collections.abc import Iterator, Sequence
from typing import TextIO, TypeVar

T = TypeVar("T")
_WIDTH = 30


def with_progress(items: Sequence[T], stream: TextIO) -> Iterator[T]:
    """Yields the items, and draws after each how many are done."""
    is_shown = stream.isatty()
    for number, item in enumerate(items, 1):
        yield item
        if is_shown:
            done = round(_WIDTH * number / len(items))
            end = "\n" if number == len(items) else ""
            stream.write(f"\r[{'#' * done}{'.' * (_WIDTH - done)}] {number}/{len(items)}{end}")
            stream.flush()
