"""Notices that a model repeats itself, as small ones do until their token limit."""

REPEATED = "the model repeated itself, so its answer was ended. It is shown once."
_LONGEST = 200
_SPAN = 2000
"""Characters at the end of a text that consist of repetitions: at least ten."""
_STEP = 250
"""Characters between two looks, so that all take linear time."""


class Repetition:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._end = ""
        self._new = self._unit = 0

    def add(self, text: str) -> bool:
        """Whether the text now ends with many repetitions of something short."""
        self._pieces.append(text)
        self._end = (self._end + text)[-_SPAN:]
        self._new += len(text)
        if self._new < _STEP or len(self._end) < _SPAN:
            return False
        self._new = 0
        # What repeats after so many characters is found that many characters earlier.
        found = self._end.rfind(self._end[_LONGEST:], 0, _SPAN - 1)
        self._unit = _LONGEST - found
        return found >= 0

    def kept(self) -> str:
        text = "".join(self._pieces)
        last = len(text) - self._unit
        while last and text[last - 1] == text[last - 1 + self._unit]:
            last -= 1
        return text[: last + self._unit].rstrip()
