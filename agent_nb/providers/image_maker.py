"""What the image makers of the vendors share."""

import abc

from agent_nb.errors import AgentError, ProviderError
from agent_nb.images.charge import Charge
from agent_nb.images.maker import Order
from agent_nb.messages import Image
from agent_nb.providers.prices import likely_price
from agent_nb.providers.streaming import VendorClient


class VendorImageMaker(VendorClient):
    note = ""
    edits = True
    transparent: bool
    typical_tokens: int
    """Output tokens of an image in the default size and quality."""

    def price(self, order: Order) -> float | None:
        return likely_price(self.name, self.typical_tokens, order.prompt, len(order.images))

    async def make(self, order: Order, charge: Charge) -> Image:
        failed: ProviderError | None = None
        try:
            return await self.made(order, charge)
        except AgentError:
            raise
        except Exception as exc:  # every failure of the SDK becomes a ProviderError here
            failed = self.error(exc)
        # Raised outside the handler: the SDK's exception holds headers and must not become the context.
        raise failed

    @abc.abstractmethod
    async def made(self, order: Order, charge: Charge) -> Image:
        """Asks for the image, with the exceptions of the SDK."""
