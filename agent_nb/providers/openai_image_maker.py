"""OpenAI's images, one per request: made from a prompt (JSON), or from a prompt and images (multipart)."""

import base64
import binascii
from typing import TYPE_CHECKING, Any

from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.images.charge import Charge
from agent_nb.images.convert import fit_image
from agent_nb.images.maker import Order
from agent_nb.messages import Image
from agent_nb.providers import failure
from agent_nb.providers.image_maker import VendorImageMaker
from agent_nb.providers.prices import ImageTokens, count, price_of_image
from agent_nb.providers.responses import make_client

if TYPE_CHECKING:
    import httpx2

IMAGE_LIMITS = (3072, 20_000_000)
_SIZES = {
    "1:1": "1024x1024",
    "4:3": "1408x1056",
    "3:4": "1056x1408",
    "3:2": "1536x1024",
    "2:3": "1024x1536",
    "16:9": "1536x864",
    "9:16": "864x1536",
    "21:9": "1680x720",
}
"""Both sides are multiples of 16, as the models require."""


class OpenAIImageMaker(VendorImageMaker):
    transparent = True
    typical_tokens = 1_500

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        return make_client(self.settings, http).images

    async def made(self, order: Order, charge: Charge) -> Image:
        images = await self.client()
        if order.images:
            uploads = await off_loop(_uploads, order)
            answer = await images.edit(**_body(self.settings.model, order), image=uploads)
        else:
            answer = await images.generate(**_body(self.settings.model, order))
        # The SDK returns a web page in place of JSON as text.
        if isinstance(answer, str):
            raise failure.not_an_api(self.settings, answer)
        charge.pay(self._cost(answer.usage))
        return _image(answer)

    def _cost(self, usage: Any) -> float | None:
        if not usage:
            return None
        inputs, outputs = usage.input_tokens_details, usage.output_tokens_details
        output = count(usage.output_tokens)
        tokens = ImageTokens(
            input_tokens=count(usage.input_tokens),
            input_image_tokens=count(inputs.image_tokens) if inputs else 0,
            output_tokens=output,
            output_image_tokens=count(outputs.image_tokens) if outputs else output,
        )
        return price_of_image(self.name, tokens)


def _image(answer: Any) -> Image:
    found = [one.b64_json for one in answer.data or () if one.b64_json]
    if not found:
        raise failure.error("OpenAI answered without an image. Try again, or ask for something else.")
    try:
        data = base64.b64decode(found[0], validate=True)
    except binascii.Error:
        raise failure.error("OpenAI sent an image that is not valid base64. Try again.") from None
    return Image(data, f"image/{answer.output_format or 'png'}")


def _body(model: str, order: Order) -> Json:
    body: Json = {"model": model, "prompt": order.prompt, "n": 1, "output_format": "png"}
    if order.aspect:
        body["size"] = _SIZES[order.aspect]
    if order.transparent:
        body["background"] = "transparent"
    return body


def _uploads(order: Order) -> list[tuple[str, bytes, str]]:
    fitted = [fit_image(image, *IMAGE_LIMITS) for image in order.images]
    return [
        (f"image-{number}.{image.media_type.rpartition('/')[2]}", image.data, image.media_type)
        for number, image in enumerate(fitted, 1)
    ]
