"""Text that arrives in fragments."""


class TextBuffer:
    """Collects text as UTF-8: a list of short strings would take several times as much memory."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, text: str) -> None:
        self._data += text.encode("utf-8", "surrogatepass")

    def clear(self) -> None:
        self._data.clear()

    def __str__(self) -> str:
        return self._data.decode("utf-8", "surrogatepass")
