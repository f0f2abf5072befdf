"""The words and phrases of `avoid`: matched as whole words in any case, also within names such as `useRecursion`."""

import re
import unicodedata
from collections.abc import Sequence

_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[\W_]+")


class AvoidList:
    def __init__(self, phrases: Sequence[str]) -> None:
        self._phrases = {reading for phrase in phrases for reading in _readings(phrase) if reading.strip()}

    def matches(self, text: str) -> bool:
        if not self._phrases:
            return False
        return any(_contains(each, phrase) for each in _readings(text) for phrase in self._phrases)


def _readings(text: str) -> tuple[str, str]:
    """The words in lower case with a space around each, with `maxDepth` as one word and as two."""
    visible = "".join(char for char in text if unicodedata.category(char) != "Cf")
    simple = unicodedata.normalize("NFKC", visible)
    one, two = (_NO_WORD.sub(" ", f" {each} ").casefold() for each in (simple, _CAMEL.sub(" ", simple)))
    return one, two


def _contains(text: str, phrase: str) -> bool:
    if any(unicodedata.east_asian_width(char) in "WF" for char in phrase):
        return phrase.strip() in text  # Chinese and Japanese put no spaces between words
    return phrase in text
