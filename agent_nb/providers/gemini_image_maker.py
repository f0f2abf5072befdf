"""Gemini's images, made by `generate_content`. They cannot have a transparent background."""

import base64
import json
from typing import TYPE_CHECKING, Any

from agent_nb._base.threads import off_loop
from agent_nb._base.wire import Json
from agent_nb.errors import ProviderError
from agent_nb.images.charge import Charge
from agent_nb.images.maker import Order
from agent_nb.messages import Image
from agent_nb.providers import failure
from agent_nb.providers.generate_content import REFUSALS, inline_data, post
from agent_nb.providers.http import silence_of
from agent_nb.providers.image_maker import VendorImageMaker
from agent_nb.providers.image_prices import ImageTokens, count, price_of_image
from agent_nb.providers.streaming import SILENCE_SECONDS

if TYPE_CHECKING:
    import httpx2


class GeminiImageMaker(VendorImageMaker):
    transparent = False
    typical_tokens = 1_120

    def connect(self, http: "httpx2.AsyncClient") -> Any:
        return http

    async def made(self, order: Order, charge: Charge) -> Image:
        http, body = await self.client(), await off_loop(_body, order)
        with silence_of(SILENCE_SECONDS):
            async with post(self.settings, http, "generateContent", body) as response:
                text = (await response.aread()).decode("utf-8", "replace")
        try:
            answer = json.loads(text)
        except ValueError:
            raise failure.not_an_api(self.settings, text) from None
        charge.pay(self._cost(answer.get("usageMetadata") or {}))
        return _image(answer)

    def _cost(self, usage: Json) -> float | None:
        output = count(usage.get("candidatesTokenCount"))
        if not (output or usage.get("promptTokenCount")):
            return None
        output_images = _image_tokens(usage.get("candidatesTokensDetails"))
        tokens = ImageTokens(
            input_tokens=count(usage.get("promptTokenCount")),
            input_image_tokens=_image_tokens(usage.get("promptTokensDetails")) or 0,
            output_tokens=output + count(usage.get("thoughtsTokenCount")),
            # Without details, the whole answer counts as the image.
            output_image_tokens=output if output_images is None else output_images,
        )
        return price_of_image(self.name, tokens)


def _body(order: Order) -> Json:
    config: Json = {"responseModalities": ["TEXT", "IMAGE"]}
    if order.aspect:
        config["imageConfig"] = {"aspectRatio": order.aspect}
    parts = [{"text": order.prompt}, *map(inline_data, order.images)]
    return {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}


def _image(answer: Json) -> Image:
    feedback = answer.get("promptFeedback") or {}
    if blocked := feedback.get("blockReason"):
        raise _declined(feedback.get("blockReasonMessage") or blocked)
    text = ""
    for candidate in (answer.get("candidates") or [])[:1]:
        for part in (candidate.get("content") or {}).get("parts") or ():
            data = part.get("inlineData") or {}
            if data.get("data") and not part.get("thought"):
                return Image(base64.b64decode(data["data"]), data.get("mimeType") or "image/png")
            text += part.get("text") or ""
        if (reason := candidate.get("finishReason")) in REFUSALS:
            raise _declined(candidate.get("finishMessage") or reason)
    answered = f": {failure.as_sentence(text)}" if text.strip() else "."
    raise failure.error(f"Gemini answered without an image{answered} Ask for something else.")


def _image_tokens(details: Any) -> int | None:
    """The image tokens among the counts per modality; None if there are no such counts."""
    if not details:
        return None
    return sum(count(one.get("tokenCount")) for one in details if one.get("modality") == "IMAGE")


def _declined(reason: Any) -> ProviderError:
    return failure.error(f"Gemini declined to make this image: {failure.as_sentence(str(reason))}")
