"""Texts as the filter compares them, and the words and phrases of `avoid`."""

import html
import re
import unicodedata
from collections.abc import Sequence

_LOOKALIKES = str.maketrans(
    "аԁеһіјӏорԛѕсуѵԝхАВЕНІЈКМОРЅСТУХαβικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡʟᴏ",
    "adehijlopqscyvwxABEHIJKMOPSCTYXabikvoptuxABEZHIKMNOPTYXiagLo",
)
"""Cyrillic, Greek and other letters that look like Latin ones."""
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
"""A character that Markdown escapes."""
_SPACED_LETTERS = re.compile(r"(?<!\w)(?:\w[ .*·_-]){3,}\w(?!\w)")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[\W_]+")


def plain(text: str) -> str:
    """The text as a reader sees it, in its simplest characters and without invisible ones."""
    text = html.unescape(_ESCAPE.sub(r"\1", text))
    if text.isascii():
        return text
    visible = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", visible).translate(_LOOKALIKES)


class AvoidList:
    """Finds words and phrases in a text that arrives in units, also where a phrase begins in the unit before."""

    def __init__(self, phrases: Sequence[str]) -> None:
        given = [phrase for phrase in phrases if split_words(phrase)]
        self._phrases = {" ".join(words) for phrase in given for words in _readings(split_words(phrase))}
        self._reach = max((phrase.count(" ") for phrase in self._phrases), default=0)

    def matches(self, text: str, before: Sequence[str] = ()) -> bool:
        """Whether the text contains a phrase, or ends one that the words `before` begin."""
        if not self._phrases:
            return False
        texts = [" ".join(words) for words in _readings([*before, *split_words(text)])]
        return any(_contains(each, phrase) for each in texts for phrase in self._phrases)

    def tail(self, text: str, before: Sequence[str] = ()) -> tuple[str, ...]:
        """The last words so far, as many as a phrase needs to begin with."""
        return tuple((*before, *split_words(text))[-self._reach :]) if self._reach else ()


def split_words(text: str) -> list[str]:
    """The words of a text and of the identifiers in it, such as `max` and `depth` of `max_depth`."""
    joined = _SPACED_LETTERS.sub(lambda found: _NO_WORD.sub("", found[0]), plain(text))
    return _NO_WORD.sub(" ", joined).split()


def _readings(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words in lower case, with `maxDepth` as one word and as two."""
    split = _CAMEL.sub(" ", " ".join(words)).casefold().split()
    return [word.casefold() for word in words], split


def _contains(text: str, phrase: str) -> bool:
    if any(unicodedata.east_asian_width(char) in "WF" for char in phrase):
        return phrase in text  # Chinese and Japanese put no spaces between words
    return f" {phrase} " in f" {text} "
