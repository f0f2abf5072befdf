"""Text that arrives in fragments."""

FRAGMENTS = 1000
"""Fragments that are encoded at once."""


class TextBuffer:
    """Collects text, most of it as UTF-8: a list of short strings would take several times as much memory."""

    __slots__ = ("_data", "_newest")

    def __init__(self) -> None:
        self._data = bytearray()
        self._newest: list[str] = []

    def add(self, text: str) -> None:
        self._newest.append(text)
        if len(self._newest) > FRAGMENTS:
            self._data += _encoded(self._newest)
            self._newest.clear()

    def clear(self) -> None:
        self._data.clear()
        self._newest.clear()

    def __bool__(self) -> bool:
        return bool(self._data) or any(self._newest)

    def __str__(self) -> str:
        return (self._data + _encoded(self._newest)).decode("utf-8", "surrogatepass")


def _encoded(texts: list[str]) -> bytes:
    return "".join(texts).encode("utf-8", "surrogatepass")
