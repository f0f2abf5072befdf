"""Text that arrives in fragments."""

_SLICE = 64 * 1024


class TextBuffer:
    """Collects text as UTF-8: a list of short strings would take several times as much memory."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, text: str) -> None:
        self._data += text.encode("utf-8", "surrogatepass")

    def clear(self) -> None:
        self._data.clear()

    def __len__(self) -> int:
        """In bytes."""
        return len(self._data)

    def equals(self, text: str) -> bool:
        """Compares in slices: the text may be a whole page."""
        end = 0
        for start in range(0, len(text), _SLICE):
            data = text[start : start + _SLICE].encode("utf-8", "surrogatepass")
            if not self._data.startswith(data, end):
                return False
            end += len(data)
        return end == len(self._data)

    def __str__(self) -> str:
        return self._data.decode("utf-8", "surrogatepass")
