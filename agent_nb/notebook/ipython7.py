"""Completion for IPython 7, Colab's version, whose matchers receive neither the cell nor the cursor."""

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

from IPython.core import completer

Matcher = Callable[[Any], dict[str, Any]]

_IS_OLD = not hasattr(completer, "completion_matcher")
SimpleCompletion: Any = SimpleNamespace if _IS_OLD else completer.SimpleCompletion
completion_matcher: Any = (lambda **_: lambda matcher: matcher) if _IS_OLD else completer.completion_matcher


def add_matcher(shell: Any, matcher: Matcher) -> Callable[[], None]:
    """Add a matcher (API version 2) to the shell's completer; return a function that removes it."""
    target = shell.Completer
    if _IS_OLD:
        target.completions = partial(_completions, matcher, target.completions)
        return partial(delattr, target, "completions")
    target.custom_matchers.append(matcher)
    return partial(target.custom_matchers.remove, matcher)


def _completions(
    matcher: Matcher, fallback: Callable[..., Iterator[Any]], text: str, offset: int
) -> Iterator[Any]:
    """The matcher's completions if it suppresses others, else IPython's."""
    line, column = completer.position_to_cursor(text, offset)
    result = matcher(SimpleNamespace(full_text=text, cursor_line=line, cursor_position=column))
    if not result["suppress"]:
        yield from fallback(text, offset)
        return
    start = offset - len(result["matched_fragment"])
    for completion in result["completions"]:
        yield completer.Completion(start, offset, completion.text, type=completion.type)
