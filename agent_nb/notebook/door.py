"""The door to a page: the widgets whose messages it gets."""

from typing import Any

import anywidget

from agent_nb._base.secrets import MaskedJson, for_page
from agent_nb._base.wire import Json


class Door(anywidget.AnyWidget):  # type: ignore[misc]  # it is untyped
    def send(self, content: MaskedJson, buffers: Any = None) -> None:
        super().send(content, buffers)

    def tell(self, message: Json) -> None:
        """Send a message, masked."""
        self.send(for_page(message))
